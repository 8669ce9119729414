"""fit_anytime: one result for any threads and kind of source; bad input refused."""

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from attack.held import REFUSALS, refused
from attack.mutate import FLOATS, INTEGERS
from attack.targets import Case
from dynmeans import fit_anytime


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """A folder for the files of a case."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        attacks = [_attack_result, _attack_arguments]
        yield lambda rng: rng.choice(attacks)(rng, Path(folder))


def _points(rng: random.Random) -> Any:
    numbers = np.random.default_rng(rng.getrandbits(64))
    n, d = rng.randint(1, 3000), rng.randint(1, 5)
    points = numbers.normal(size=(3, d))[numbers.integers(3, size=n)] * 9
    points += numbers.normal(size=(n, d))
    return points.astype(rng.choice([np.float64, np.float32]))


def _attack_result(rng: random.Random, folder: Path) -> None:
    """The same bits for one thread and two, from memory and from a file."""
    points = _points(rng)
    options = {
        "new_penalty": rng.uniform(2, 60),
        "batch_size": rng.randint(1, 900),
        "max_batches": rng.randint(1, 4),
        "holdout_size": rng.randint(1, 500),
        "random_state": rng.randrange(2**32),
    }
    np.save(folder / "points.npy", points)
    first = fit_anytime(points, n_threads=1, **options)
    mapped = np.load(folder / "points.npy", mmap_mode="r")
    second = fit_anytime(mapped, n_threads=2, **options)
    if first.memory.clusters != second.memory.clusters or first.cost != second.cost:
        raise AssertionError("one thread in memory and two from a file give different results")


def _attack_arguments(rng: random.Random, folder: Path) -> None:
    """Arguments of any kind are taken or refused in one line."""
    source: Any = rng.choice(
        [
            np.full((rng.choice([0, 1, 20]), rng.choice([0, 1, 2])), rng.choice(FLOATS)),
            np.zeros(3),
            np.array([["a"]]),
            [],
            iter([]),
            iter([np.zeros((5, 2)), np.zeros((5, 3))]),
            iter([[1.0, 2.0], "text"]),
            5,
            folder / "nowhere",
            folder,
            np.zeros((9, 2)),
        ]
    )
    wild = [*FLOATS, *INTEGERS, None, "1", True, []]
    options = {"max_batches": 2, "batch_size": 5}
    names = ["new_penalty", "batch_size", "time_limit", "patience", "tol", "holdout_size"]
    names += ["n_threads", "max_clusters", "memory"]
    for name in rng.sample(names, rng.randint(0, 2)):
        value = rng.choice(wild)
        # Such numbers are allowed, and take as long as they say.
        if name == "n_threads" and isinstance(value, int) and value > 8:
            continue
        options[name] = value
    refused(lambda: fit_anytime(source, **options), *REFUSALS)
