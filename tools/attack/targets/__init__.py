"""The targets: each a module of this folder with a function `ready`."""

import importlib
import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

Case = Callable[[random.Random], int | None]  # returns how many inputs it tried, one if None


class Target(NamedTuple):
    """Where a target is, its share of the time, and how long one case of it may take."""

    module: str
    share: float
    max_seconds: float = 120.0


class Skipped(Exception):  # noqa: N818
    """What the target needs is not installed."""


TARGETS = {
    "state": Target("attack.targets.saved_files", 1.0),
    "mixture": Target("attack.targets.saved_files", 0.5),
    "groups-file": Target("attack.targets.saved_files", 0.7),
    "history": Target("attack.targets.saved_files", 1.0),
    "memory": Target("attack.targets.memory_files", 0.7),
    "lines": Target("attack.targets.live_lines", 1.0),
    "times": Target("attack.targets.times", 0.5),
    "csv": Target("attack.targets.csv_files", 1.0),
    "other-files": Target("attack.targets.other_files", 1.0),
    "run-folder": Target("attack.targets.run_folder", 1.5),
    "run-tables": Target("attack.targets.run_folder", 1.0),
    "edits": Target("attack.targets.edits", 0.5),
    "exports": Target("attack.targets.exports", 0.5),
    "messages": Target("attack.targets.messages", 1.0),
    "message-kinds": Target("attack.targets.messages", 0.5),
    "watermarks": Target("attack.targets.messages", 0.5),
    "positions": Target("attack.targets.positions", 0.5),
    "page": Target("attack.targets.pages", 0.5),
    "texts": Target("attack.targets.texts", 0.5),
    "word-tables": Target("attack.targets.texts", 0.3),
    "sphere": Target("attack.targets.sphere", 1.0),
    "secrets": Target("attack.targets.addresses", 0.2),
    "alerts": Target("attack.targets.alerts", 0.3),
    "alert-groups": Target("attack.targets.alerts", 0.5),
    "frames": Target("attack.targets.frames", 1.0),
    "mixed-zones": Target("attack.targets.frames", 0.5),
    "river": Target("attack.targets.river_rows", 0.3),
    "engine": Target("attack.targets.engine", 3.0),
    "shuffles": Target("attack.targets.engine", 1.0),
    "accelerations": Target("attack.targets.accelerations", 3.0),
    "large-batches": Target("attack.targets.accelerations", 1.0, 600.0),
    "groups": Target("attack.targets.groups", 1.0),
    "bad-frames": Target("attack.targets.groups", 0.5),
    "anytime": Target("attack.targets.anytime", 1.0),
    "kills": Target("attack.targets.kills", 3.0, 240.0),
    "server": Target("attack.targets.server", 0.5),
    "kills-redis": Target("attack.targets.stream_kills", 1.0, 600.0),
    "kills-kafka": Target("attack.targets.stream_kills", 1.0, 600.0),
    "kills-mqtt": Target("attack.targets.stream_kills", 1.0, 600.0),
    "kills-postgresql": Target("attack.targets.stream_kills", 1.0, 600.0),
    "dask": Target("attack.targets.dask_cluster", 1.0, 120.0),
    "dask-borders": Target("attack.targets.dask_cluster", 1.0, 240.0),
    "gpu": Target("attack.targets.gpu", 1.0, 240.0),
    "gpu-sphere": Target("attack.targets.gpu", 1.0, 240.0),
    "gpu-borders": Target("attack.targets.gpu", 1.0, 240.0),
    "gpu-threads": Target("attack.targets.gpu", 0.5, 240.0),
    "spark": Target("attack.targets.spark", 1.0, 240.0),
}


class Loaded:
    """A target whose module is imported, as its own process does."""

    def __init__(self, name: str, module: str | None = None) -> None:
        self._name = name
        self._module = importlib.import_module(module or TARGETS[name].module)

    def ready(self) -> AbstractContextManager[Case]:
        """Make the corpus; give the function that tries one case."""
        return self._module.ready(self._name)  # type: ignore[no-any-return]

    def rng(self, seed: int, case: int) -> random.Random:
        """Return the source of one case: the same numbers in every run."""
        return random.Random(f"{seed} {self._name} {case}")
