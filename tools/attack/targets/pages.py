"""Hostile names, texts and numbers on the report's page: its elements and scripts stay as they are.

Each page is parsed and compared with that of the same stream with harmless words.
"""

import base64
import gzip
import json
import random
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from attack.held import refused
from attack.mutate import FLOATS, INTEGERS, TEXTS
from attack.targets import Case
from dynmeans import DynamicMeans, Run
from dynmeans.follow.model_config import ModelConfig
from dynmeans.records.history import History
from dynmeans.report import render_report, report_data
from dynmeans.report.from_run import run_report
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.input import Input
from dynmeans.runs.reading.window import WindowOptions

_HOSTILE = (
    *(text for text in TEXTS if "\x00" not in text),
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "<!--", "<!--<script>",
    "-->", "]]>", "</title><b>", "</style>", '"><svg onload=alert(1)>', "' onclick='x", "</SCRIPT ",
    "&lt;b&gt;", "&#60;b&#62;", "{{ script }}", "{{ data }}", "\\u003c/script>", "\u2028", "\u202e",
    "\ufdd0", "javascript:x",
)  # fmt: skip
_PLAIN_TITLE = "plain"


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Make a short history; a case is a page of it, and some are of a run."""
    rows = np.random.default_rng(0).normal(size=(3, 12, 3))
    batches = [*rows, *(rows + 9.0)]
    _, history = DynamicMeans(4.0, random_state=0).fit_sequence(batches)
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None

    def attack(rng: random.Random) -> int:
        if rng.random() < 0.9:
            _attack_history(rng, history, batches)
            return 1
        with tempfile.TemporaryDirectory(dir=memory) as folder:
            _attack_run(rng, Path(folder))
        return 1

    yield attack


def _attack_history(rng: random.Random, history: History, batches: list[Any]) -> None:
    """Names, times, parameters and scores as a caller gives them."""
    title, names = _text(rng), [f"{_text(rng)}{k * rng.choice(('', ' '))}" for k in range(3)]
    given = {_text(rng): rng.choice([_text(rng), *INTEGERS, *FLOATS]) for _ in range(3)}
    scores = {_text(rng): rng.choice([*FLOATS, 0.5, 3]) for _ in range(2)}
    dated = {"times": [_text(rng) for _ in history]} if rng.random() < 0.5 else {}
    points = {"points": batches} if rng.random() < 0.8 else {}
    is_refused, found = refused(
        lambda: render_report(
            report_data(
                history,
                feature_names=names,
                parameters=given,
                scores=scores,
                title=title,
                **dated,
                **points,
            )
        )
    )
    if is_refused:
        return
    plain_dates = {"times": [f"t{k}" for k in range(len(history))]} if dated else {}
    plain = report_data(history, title=_PLAIN_TITLE, **plain_dates, **points)
    shown = _compare(found, render_report(plain))
    assert shown["title"] == title, "the title is another"
    kept = [axis["name"] for axis in shown["axes"]]
    assert kept[: len(names)] == names, f"features are named {kept}"


def _attack_run(rng: random.Random, folder: Path) -> None:
    """Columns and cells of a file, names of windows and of clusters, and the same without harm."""
    n = rng.randint(3, 12)
    names = [*dict.fromkeys(_cell(rng) or "empty" for _ in range(3))]
    cells = [[rng.choice([None, _cell(rng)]) for _ in range(n)] for _ in names]
    windows = [_cell(rng) for _ in range(rng.randint(1, 3))]
    table = {"x": [rng.choice([0.0, 9.0]) for _ in range(n)]}
    cut = [min(k, len(windows) - 1) for k in range(n)]
    hostile = _run_page(
        folder / "hostile",
        table | {"window": [f"{windows[k]}{k}" for k in cut]},
        dict(zip(names, cells, strict=True)),
        (_cell(rng), _text(rng)),
    )
    if hostile is None:
        return
    plain_cells = [[cell and f"word {k}" for k, cell in enumerate(values)] for values in cells]
    plain = _run_page(
        folder / "plain",
        table | {"window": [f"w{k}" for k in cut]},
        {f"c{k}": values for k, values in enumerate(plain_cells)},
        ("name", _PLAIN_TITLE),
    )
    assert plain is not None, "plain words are taken"
    _compare(hostile, plain)


def _run_page(
    folder: Path, table: dict[str, Any], texts: dict[str, Any], words: tuple[str, str]
) -> str | None:
    """Return the page of a run over a file of these columns; None if something was refused."""
    folder.mkdir()
    names, (name, title) = [*texts], words
    columns = {key: pa.array(values, pa.string()) for key, values in texts.items()}
    pq.write_table(pa.table(table | columns), folder / "rows.parquet")
    options = WindowOptions(("x",), window_column="window", truth=names[0], id=names[-1])
    model = ModelConfig(new_penalty=1.0, random_state=0)
    job = ClusterJob(Input(folder / "rows.parquet"), options, model, folder / "run")
    is_refused, _ = refused(job.start)
    if is_refused:
        return None
    with Run.open(folder / "run") as run:
        refused(lambda: run.name_cluster(0, name))
        is_refused, page = refused(
            lambda: render_report(run_report(run, title=title, describe=names[1:2]))
        )
    return None if is_refused else page


class _Skeleton(HTMLParser):
    """Every element with its attributes, and what scripts hold, in their order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, Any]] = []
        self.scripts: dict[str, str] = {}
        self._script: str | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(attrs)))
        if tag == "script":
            self._script = dict(attrs).get("id") or f"script {len(self.scripts)}"
            self.scripts[self._script] = ""

    def handle_endtag(self, tag: str) -> None:
        self.elements.append((f"/{tag}", None))
        self._script = None if tag == "script" else self._script

    def handle_comment(self, data: str) -> None:
        self.elements.append(("comment", data))

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts[self._script] += data


def _compare(page: str, plain_page: str) -> dict[str, Any]:
    """Refuse an element, attribute or script that the plain page does not have; return the data."""
    page.encode()
    found, plain = _Skeleton(page), _Skeleton(plain_page)
    assert found.elements == plain.elements, "words of the input became elements"
    assert found.scripts.keys() == plain.scripts.keys()
    for name, text in found.scripts.items():
        if name == "report-data":
            assert not re.search("[<>&]", text), "the data hold signs of markup"
        elif name == "report-rows":
            json.loads(gzip.decompress(base64.b64decode(text)), parse_constant=_refuse)
        else:
            assert text == plain.scripts[name], f"{name} is another"
    shown: dict[str, Any] = json.loads(found.scripts["report-data"], parse_constant=_refuse)
    return shown


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")


def _text(rng: random.Random) -> str:
    text = "".join(rng.choices(_HOSTILE, k=rng.choice([1, 1, 2, 4])))
    if rng.random() < 0.05:
        return text + chr(rng.choice([0, 0xD800, 0xDFFF, 0x1F, 0x7F]))
    return text


def _cell(rng: random.Random) -> str:
    """Return a text that a file can hold."""
    return _text(rng).encode("utf-8", "ignore").decode()
