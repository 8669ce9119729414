"""Files of states, mixtures, group states and histories: damaged, and forged with a checksum."""

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attack.held import refused
from attack.mutate import FLOATS, INTEGERS, TEXTS, damaged
from attack.targets import Case
from dynmeans import (
    ClusterState,
    DDPMixture,
    DynamicMeans,
    History,
    ModelConfig,
    fit_groups,
)
from dynmeans.files.archive import write_archive
from dynmeans.files.history_file import history_parts
from dynmeans.follow.init_memory import memory_from_clusters
from dynmeans.groups import GroupStates
from dynmeans.records.mixture import MixtureState

_FORGED = 0.05  # share of the cases
_STATE_ARRAYS = ("ids", "centers", "weights", "ages", "counts")
_MIXTURE_ARRAYS = ("ids", "counts", "last_counts", "centers", "variances", "ages")
_GROUP_ARRAYS = ("starts", *_STATE_ARRAYS, "next_ids", "n_steps", "times", "last_batches")


@dataclass
class _Original:
    record: Any
    data: bytes


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Make a few originals; a case damages one of them, or forges one."""
    kind = {"state": ClusterState, "mixture": MixtureState, "history": History}.get(
        name, GroupStates
    )
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        path = Path(folder) / "file"
        originals = []
        for record in _RECORDS[name]():
            record.save(path)
            originals.append(_Original(record, path.read_bytes()))

        def attack(rng: random.Random) -> None:
            original = rng.choice(originals)
            if kind is not History and rng.random() < _FORGED:
                return _attack_forged(kind, original.record, path, rng)
            data = damaged(original.data, rng, [other.data for other in originals])
            path.write_bytes(data)
            is_refused, found = refused(lambda: kind.load(path))
            if is_refused or data in [other.data for other in originals]:
                return None
            if not any(_is_same(found, other.record) for other in originals):
                raise AssertionError("a damaged file was accepted as something else")

        yield attack


def _is_same(found: Any, expected: Any) -> bool:
    if not isinstance(found, History):
        return bool(found == expected)
    (arrays, header), (others, other) = history_parts(found), history_parts(expected)
    same = [np.array_equal(arrays[name], others.get(name), equal_nan=True) for name in arrays]
    return all(same) and len(arrays) == len(others) and header == other


def _attack_forged(kind: Any, record: Any, path: Path, rng: random.Random) -> None:
    """Write a file with a right checksum that no `save` writes; accepted, it must be usable."""
    arrays, header = _parts(record)
    target = rng.choice([arrays, arrays, header])
    name = rng.choice([*target, "wings"])
    target[name] = _wild_array(target.get(name), rng) if target is arrays else _wild_value(rng)
    if rng.random() < 0.1:
        target.pop(rng.choice(list(target)))
    write_archive(path, kind.__name__, 1, arrays, header)
    is_refused, found = refused(lambda: kind.load(path))
    if not is_refused:
        found.save(path)
        assert kind.load(path) == found, "an accepted state must survive being saved"
        if kind is ClusterState:
            _attack_step(found)


def _attack_step(state: ClusterState) -> None:
    """Any accepted state must lead to a sound step, or to a refusal."""
    points = np.zeros((3, state.n_features))
    points[1] = 5.0
    memory = memory_from_clusters(ModelConfig(1.0, random_state=0), state)
    is_refused, _ = refused(lambda: DynamicMeans.from_memory(memory).partial_fit(points))
    if is_refused:
        return
    after = DynamicMeans.from_memory(memory).partial_fit(points)
    assert after.labels_.min() >= 0, "labels are identities"
    assert np.all(np.isfinite(after.cluster_centers_)), "centers are finite"
    assert np.all(np.isin(after.labels_, after.cluster_ids_)), "labels are remembered clusters"


def _parts(record: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    if isinstance(record, GroupStates):
        arrays = {name: getattr(record, name) for name in _GROUP_ARRAYS}
        return arrays, {"settings": record.settings, "keys": record.key_list}
    names = _STATE_ARRAYS if isinstance(record, ClusterState) else _MIXTURE_ARRAYS
    counters = ("next_id", "n_steps", "time")
    return (
        {name: getattr(record, name) for name in names},
        {name: getattr(record, name) for name in counters},
    )


def _wild_array(array: Any, rng: random.Random) -> Any:
    """Change one value, the shape or the type of an array."""
    if array is None or array.dtype.kind == "U" or rng.random() < 0.2:
        shape = rng.choice([(), (0,), (1,), (3,), (2, 2), (0, 5), (1, 1, 1)])
        pool, dtype = rng.choice([(FLOATS, "f8"), ((0.0, 1.0, 2.0), "f4"), ((0, 1, 7), "i8")])
        return np.full(shape, rng.choice(pool), dtype=dtype)
    wild = np.array(array)
    if wild.size and rng.random() < 0.8:
        pool = INTEGERS if wild.dtype.kind in "iu" else FLOATS
        value = rng.choice(pool)
        wild.flat[rng.randrange(wild.size)] = value % 2**63 if wild.dtype.kind in "iu" else value
        return wild
    return rng.choice([wild[:-1], wild[::-1], wild.reshape(-1, 1), wild.astype(np.float32)])


def _wild_value(rng: random.Random) -> Any:
    pool = rng.choice([TEXTS, INTEGERS, FLOATS, (None, True, [], {}, [[[]]] * 3, {"a": 1})])
    return rng.choice(pool)


def _states() -> list[ClusterState]:
    rng = np.random.default_rng(0)
    model = DynamicMeans(1.0, random_state=0)
    states = [ClusterState.empty(2)]
    for _ in range(3):
        states.append(model.partial_fit(rng.normal(0, 3, size=(20, 2))).state_)
    batches = [rng.normal(0, 3, size=(15, 2)) + t for t in range(4)]
    for settings in ({"motion": "constant_velocity"}, {"space": "standard"}):
        model = DynamicMeans(1.0, random_state=0, **settings)
        states += [model.partial_fit(batch).memory_.clusters for batch in batches][2:]
    return states


def _mixtures() -> list[MixtureState]:
    rng = np.random.default_rng(0)
    model = DDPMixture(random_state=0)
    return [model.partial_fit(rng.normal(0, 3, size=(12, 2))).state_ for _ in range(2)]


def _groups() -> list[GroupStates]:
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame({"k": rng.integers(0, 5, 40), "x": rng.normal(0, 3, 40)})
    texts = numbers.assign(k=numbers["k"].map("abcde".__getitem__))
    model_config = ModelConfig(1.0, random_state=0)
    return [
        fit_groups(frame, by="k", model_config=model_config).states for frame in (numbers, texts)
    ]


def _histories() -> list[History]:
    rng = np.random.default_rng(0)
    batches = [rng.normal(0, 3, size=(n, 2)) for n in (9, 0, 12, 5)]
    plain = DynamicMeans(1.0, random_state=0).fit_sequence(batches)[1]
    when = pd.date_range("2026-03-29", periods=4, freq="h", tz="Europe/Berlin")
    frame = pd.DataFrame(np.vstack(batches), columns=["lon", "Größe 📏"])
    frame["when"] = np.repeat(when, [len(batch) for batch in batches])
    model = DynamicMeans(1.0, motion="constant_velocity", random_state=0)
    columns = ["lon", "Größe 📏"]
    named = model.fit_sequence({t: part[columns] for t, part in frame.groupby("when")})[1]
    named.cluster_names = {0: "TUG 17", 1: "</script>\x1b[31m"}
    return [plain, named, History()]


_RECORDS = {
    "state": _states,
    "mixture": _mixtures,
    "groups-file": _groups,
    "history": _histories,
}
