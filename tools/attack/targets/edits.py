"""Names, mergers, pins and undoing on a run: the view is what a slow model of it says."""

import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from attack.held import REFUSALS, refused
from attack.mutate import INTEGERS, TEXTS
from attack.targets import Case
from dynmeans import Run
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window

_N_CLUSTERS = 5
_WILD = (*INTEGERS, *TEXTS, 1.0, True, None, np.int64(2), np.uint8(3), b"1", "\ud800")


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Make a run of a few clusters; a case edits a copy of it."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as place:
        original, copy = Path(place) / "original", Path(place) / "copy"
        config = RunConfig(("x",), ModelConfig(new_penalty=1.0, random_state=0))
        with Run.create(original, config) as run:
            run.process([Window([[9.0 * k] for k in range(_N_CLUSTERS)])] * 2)

        def attack(rng: random.Random) -> int:
            shutil.copytree(original, copy)
            try:
                return _attack(copy, rng)
            finally:
                shutil.rmtree(copy)

        yield attack


def _attack(folder: Path, rng: random.Random) -> int:
    model = _Model()
    for _ in range(n_edits := rng.randint(1, 8)):
        kind = rng.choice(["name", "merge", "merge", "split", "pin", "undo"])
        one, other = (_identity(rng) for _ in range(2))
        text = rng.choice(TEXTS) if rng.random() < 0.8 else rng.choice(_WILD)
        with Run.open(folder) as run:
            calls: dict[str, Any] = {
                "name": lambda: run.name_cluster(one, text),  # noqa: B023
                "merge": lambda: run.merge_clusters(one, other),  # noqa: B023
                "split": lambda: run.split_cluster(one),  # noqa: B023
                "pin": lambda: run.pin_cluster(one),  # noqa: B023
                "undo": run.undo_edit,
            }
            is_refused, made = refused(calls[kind], *REFUSALS)
            if not is_refused:
                model.log.append((kind, made.cluster_id, made.other_id, made.text))
            _compare(run, model)
    with Run.open(folder) as run:
        run.verify()
    return n_edits


def _identity(rng: random.Random) -> Any:
    return rng.randrange(_N_CLUSTERS) if rng.random() < 0.9 else rng.choice(_WILD)


class _Model:
    """The edits, replayed from the start with one label for each cluster."""

    def __init__(self) -> None:
        self.log: list[tuple[str, Any, Any, Any]] = []

    def view(self) -> tuple[list[int], dict[int, str], set[int]]:
        undone = {other for kind, _, other, _ in self.log if kind == "undo"}
        shown, names, pinned = list(range(_N_CLUSTERS)), dict[int, str](), set[int]()
        for number, (kind, one, other, text) in enumerate(self.log, 1):
            if number in undone or kind == "undo":
                continue
            if kind == "merge":
                old, new = shown[other], shown[one]
                shown = [new if label == old else label for label in shown]
            elif kind == "split":
                shown = [k if label == one else label for k, label in enumerate(shown)]
            elif kind == "name":
                names[one] = text
            else:
                pinned.add(one)
        names = {k: name for k, name in names.items() if name}
        for k in sorted(names):  # a cluster without a name has that of its first named member
            names.setdefault(shown[k], names[k])
        return shown, names, pinned


def _compare(run: Run, model: _Model) -> None:
    edits = run.edits
    shown, names, pinned = model.view()
    found = edits.resolve_ids(np.arange(_N_CLUSTERS)).tolist()
    assert found == shown, f"shown as {found}, expected {shown}"
    assert dict(edits.names) == names, f"names {edits.names}, expected {names}"
    assert edits.pinned == pinned, f"pinned {edits.pinned}, expected {pinned}"
    assert run.clusters(frame="arrow")["merged_into"].to_pylist() == shown
