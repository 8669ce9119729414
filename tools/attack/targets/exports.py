"""Labels exported beside rows of odd text: each row with its own label, each text as it was."""

import csv
import json
import random
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from attack.mutate import TEXTS
from attack.targets import Case
from dynmeans import Run
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.analysis.label_view import LabelView
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.export.export_labels import export_labels
from dynmeans.runs.input import Input
from dynmeans.runs.reading.window import WindowOptions

_NAMES = ("note", "a b", "step", "cluster_id", "distance", 'q"q', "=1+1", "note;", "Größe")
_CELLS = (*(text for text in TEXTS if "\x00" not in text), None, "a,b", "x\r\ny", "'", '""', "-5")


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """A folder for the files of a case."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None

    def attack(rng: random.Random) -> int:
        with tempfile.TemporaryDirectory(dir=memory) as folder:
            return _attack(rng, Path(folder))

    yield attack


def _attack(rng: random.Random, folder: Path) -> int:
    n, name = rng.randint(1, 12), rng.choice(_NAMES)
    x = [rng.choice([0.0, 9.0, None]) if i else 0.0 for i in range(n)]
    cells = [rng.choice(_CELLS) for _ in range(n)]
    times = rng.sample(range(100), n)
    rows = folder / "rows.parquet"
    pq.write_table(pa.table({"t": times, "x": pa.array(x, pa.float64()), name: cells}), rows)
    cut = rng.choice([{"rows_per_window": 3}, {"time": "t", "every": "20"}])
    options = WindowOptions(("x",), on_missing="drop", **cut)
    job = ClusterJob(
        Input(rows), options, ModelConfig(new_penalty=1.0, random_state=0), folder / "run"
    )
    job.start()
    expected = [None] * n
    with Run.open(folder / "run") as run:
        labels = run.labels(frame="arrow").to_pydict()
        for row, label in zip(labels["row_id"], labels["cluster_id"], strict=True):
            expected[row] = label
        if named := rng.random() < 0.3:
            run.name_cluster(0, rng.choice([text for text in TEXTS if "\x00" not in text])[:200])
        view = LabelView(None, None, run.edits)
        added = "cluster_id" if name != "cluster_id" else "dynmeans_cluster_id"
        for ending in (".parquet", ".csv", ".jsonl"):
            path = folder / f"labels{ending}"
            export_labels(run, path, view=view)
            found = _read(path, name if ending != ".csv" else _plain_cell(name), added)
            shown = cells
            if ending == ".csv":
                shown = [None if cell in (None, "") else _plain_cell(cell) for cell in cells]
            assert found == [*zip(shown, expected, strict=True)], f"{ending}: {found}, {named}"
    return 3


def _plain_cell(text: str) -> str:
    """What a spreadsheet would run as a formula gets an apostrophe."""
    return f"'{text}" if re.match(r"(?s)[=@\t\r]|[+-].*[(|!]", text) else text


def _read(path: Path, name: str, added: str) -> list[tuple[Any, int | None]]:
    rows: list[dict[str, Any]]
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
    elif path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    else:
        with open(path, newline="", encoding="utf-8") as file:
            rows = [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]
    return [(row[name], None if row[added] is None else int(row[added])) for row in rows]


def _plain_cell(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would run."""
    return f"'{text}" if re.match(r"(?s)[=@\t\r]|[+-].*[(|!]", text) else text
