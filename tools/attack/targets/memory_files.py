"""Files of memories, forged with a right checksum: refused in one line, or sound to continue."""

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from attack.held import refused
from attack.mutate import FLOATS, INTEGERS, TEXTS
from attack.targets import Case
from dynmeans import DynamicMeans
from dynmeans.files.archive import write_archive
from dynmeans.follow.memory import Memory

_WILD = (*INTEGERS, *FLOATS, *TEXTS, None, True, [], {}, [[]], {"name": "raw"}, "{}")
_RECIPES = (
    {}, {"space": "standard"}, {"space": "geo"}, {"space": "cyclic:24"}, {"space": "robust"},
    {"space": "cosine"}, {"space": "cosine:2"}, {"space": "cosine:centered"}, {"space": "words"},
    {"space": "landmarks:6"}, {"space": "geo(0,1)"}, {"families": True},
    {"motion": "constant_velocity"}, {"min_cluster_size": 2}, {"method": "dbscan(eps=0.5)"},
)  # fmt: skip


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Make a memory of each kind; a case changes some of its fields."""
    rows = np.random.default_rng(0).uniform(1, 20, (40, 2))
    originals = [_fitted(rows, fields) for fields in _RECIPES]
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as folder:

        def attack(rng: random.Random) -> None:
            _attack(rng, rng.choice(originals), rows, Path(folder) / "memory")

        yield attack


def _fitted(rows: Any, fields: dict[str, Any]) -> Memory:
    own = {} if "method" in fields else {"max_gap": 5}
    model = DynamicMeans(9.0, random_state=0, **own, **fields)
    memory: Memory = model.partial_fit(rows[:20]).partial_fit(rows[20:]).memory_
    return memory


def _attack(rng: random.Random, original: Memory, rows: Any, path: Path) -> None:
    arrays, header = original._parts()
    for _ in range(rng.randint(1, 2)):
        if rng.random() < 0.6:
            _change(header, rng)
        else:
            name = rng.choice(list(arrays))
            array = np.array(arrays[name])
            if array.size and rng.random() < 0.7:
                pool = INTEGERS if array.dtype.kind in "iu" else FLOATS
                value = rng.choice(pool)
                is_whole = array.dtype.kind in "iu"
                array.flat[rng.randrange(array.size)] = value % 2**63 if is_whole else value
            else:
                array = rng.choice([array[:-1], array[::-1], array.reshape(-1, 1)])
            arrays[name] = array
    write_archive(path, "Memory", 1, arrays, header)
    is_refused, found = refused(lambda: Memory.load(path))
    if is_refused:
        return
    is_refused, model = refused(lambda: DynamicMeans.from_memory(found).partial_fit(rows))
    if is_refused:
        return
    assert np.all(np.isfinite(model.cluster_centers_)), "centers are finite"
    if found.space.name in ("cosine", "words"):
        lengths = np.linalg.norm(model.cluster_centers_, axis=1)
        assert np.allclose(lengths, 1.0, atol=1e-6), "centers are on the sphere"
    assert np.all(model.labels_ >= -1), "labels are identities, or noise"


def _change(fields: Any, rng: random.Random) -> None:
    """Change one field, or one of those within it."""
    name = rng.choice(list(fields))
    if isinstance(fields[name], dict) and fields[name] and rng.random() < 0.7:
        fields[name] = dict(fields[name])
        _change(fields[name], rng)
    elif rng.random() < 0.1:
        fields.pop(name)
    else:
        fields[name] = rng.choice(_WILD)
