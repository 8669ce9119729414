"""The level at which a run is shown: which clusters its subclusters form; kept in its manifest."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from dynmeans.families.levels import DEFAULT, FINE, LEVELS, Level, find_levels
from dynmeans.inputs.input_error import InputError
from dynmeans.runs.store.run_tables import count_windows
from dynmeans.runs.store.store import Store

_ENTRY = "levels"  # of the manifest
_MAX_TIME = 0.1  # for finding levels, in units of the time of the rest
NO_JOINS: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class StoredLevels:
    """The three answers of a run as of the last time they were found, and which one is shown."""

    chosen: str = FINE
    noise: float | None = None  # most rows that may be noise, as a share; None for the usual tenth
    options: tuple[Mapping[str, Any], ...] = ()  # as `Level.to_json` gives them
    n_windows: int = 0  # how many windows they were found on
    clusters: Mapping[str, Mapping[int, int]] = field(default_factory=dict)  # by level

    @property
    def joins(self) -> Mapping[int, int]:
        """The cluster of each subcluster that has another number, at the level shown."""
        return self.clusters.get(self.chosen, NO_JOINS)

    def option(self, name: str) -> Mapping[str, Any]:
        """Return what is known about a level."""
        return next((one for one in self.options if one["name"] == name), {})


def read_levels(store: Store) -> StoredLevels | None:
    """Return the levels of a run; None where it has none: every subcluster is a cluster."""
    kept = store.manifest(_ENTRY)
    if kept is None:
        return None
    options = tuple(kept["options"])
    clusters = {one["name"]: {int(k): c for k, c in one["clusters"].items()} for one in options}
    return StoredLevels(kept["chosen"], kept["noise"], options, kept["n_windows"], clusters)


def write_levels(
    store: Store,
    *,
    chosen: str | None = None,
    noise: float | None = None,
    hint: Any = None,
) -> StoredLevels:
    """Find the levels again from the evidence so far; by default the level shown stays."""
    before = read_levels(store) or StoredLevels(DEFAULT)
    memory = store.memory()
    wanted = before.chosen if chosen is None else check_level(chosen)
    noise = before.noise if noise is None else noise
    options = before.options
    n_windows = before.n_windows
    if memory is not None and memory.evidence is not None:
        found = find_levels(memory.evidence, hint=hint, noise=noise)
        options = tuple(level.to_json() for level in found.values())
        n_windows = memory.clusters.n_steps
    entry = {"chosen": wanted, "noise": noise, "options": options, "n_windows": n_windows}
    store.note({_ENTRY: entry})
    stored = read_levels(store)
    assert stored is not None, "it was just written"
    return stored


def show_level(store: Store, name: str) -> None:
    """Show another of the levels that were found."""
    store.note({_ENTRY: store.manifest(_ENTRY) | {"chosen": check_level(name)}})


def store_levels(store: Store, found: Iterable[Level], chosen: str | None) -> None:
    """Keep levels that were found elsewhere; by default the level shown stays."""
    before = read_levels(store) or StoredLevels(DEFAULT)
    wanted = before.chosen if chosen is None else check_level(chosen)
    options = tuple(level.to_json() for level in found)
    entry = {"chosen": wanted, "noise": None, "options": options, "n_windows": count_windows(store)}
    store.note({_ENTRY: entry})


class LevelsInTime:
    """Finds the levels again after commits, for a tenth of the time of everything else."""

    def __init__(self, find: Callable[[], object]) -> None:
        self._find = find
        self._began, self._spent = time.monotonic(), 0.0

    def after_commit(self) -> None:
        """Find the levels, unless that took too much of the time so far."""
        now = time.monotonic()
        if self._spent <= _MAX_TIME * (now - self._began - self._spent):
            self._find()
            self._spent += time.monotonic() - now


def check_level(name: Any) -> str:
    """Return the name of a level, or refuse it."""
    if name not in LEVELS:
        raise InputError("level", 'must be "fine", "default" or "coarse"', got=name)
    return str(name)
