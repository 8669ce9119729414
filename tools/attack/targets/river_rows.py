"""Rows for `RiverDynamicMeans`: odd ones are refused and change nothing; the rest are clustered."""

import copy
import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from attack.held import REFUSALS, refused
from attack.mutate import FLOATS, INTEGERS, TEXTS
from attack.targets import Case, Skipped
from dynmeans import DynamicMeans

_WILD = (*FLOATS, *INTEGERS, *TEXTS, None, True, 10**400, 1e101, [], {}, 1j, np.float32(1.5))


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Needs river."""
    try:
        from dynmeans import RiverDynamicMeans  # noqa: PLC0415
    except ImportError as error:
        raise Skipped("river is not installed") from error
    yield lambda rng: _attack(rng, RiverDynamicMeans)


def _attack(rng: random.Random, kind: Any) -> None:
    size, scale = rng.choice((1, 2, 5)), rng.choice(("raw", "raw", "standard"))
    motion = rng.choice((None, "random_walk", "constant_velocity"))
    model = kind(size, rng.choice((1.0, 1.0, 0.2)), motion=motion, space=scale)
    expected = DynamicMeans(model.penalties, motion=motion, space=scale, random_state=0)
    taken: list[list[float]] = []
    for _ in range(rng.randint(1, 30)):
        row: dict[Any, Any] = {"x": rng.uniform(-5, 5), "y": float(rng.randint(-5, 5))}
        is_odd = rng.random() < 0.15
        if is_odd:
            row["x"] = rng.choice(_WILD)
        before = copy.deepcopy((model._rows, model._seen))
        is_refused, _ = refused(lambda: model.learn_one(row), *REFUSALS)  # noqa: B023
        if is_refused:
            assert is_odd, f"refused {row}"
            assert (model._rows, model._seen) == before, "a refusal changed the model"
            continue
        taken.append([float(row["x"]), float(row["y"])])
        assert all(map(math.isfinite, taken[-1])), f"taken in: {row}"
        if len(taken) % size == 0:
            expected.partial_fit(np.array(taken[-size:]))
    if len(taken) >= size:
        found, wanted = model.model.memory_.clusters, expected.memory_.clusters
        assert found == wanted, "not what the estimator finds"
