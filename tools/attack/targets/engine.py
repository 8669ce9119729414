"""Random streams: every way of running a step gives the bits of the specification."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from attack.targets import Case
from dynmeans import DynamicMeans

_WAYS: tuple[dict[str, Any], ...] = (
    {"acceleration": "none"},
    {"n_threads": 1},
    {"n_threads": 2},
    {"n_threads": 3},
)


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Nothing to make: a case is a stream."""
    yield _attack_ways if name == "engine" else _attack_shuffle


def _attack_ways(rng: random.Random) -> None:
    """Native, threads and no acceleration equal the reference, batch after batch."""
    numbers, options = np.random.default_rng(rng.getrandbits(64)), _options(rng)
    batches = _batches(rng, numbers)
    expected = list(_results(batches, options | {"backend": "reference"}))
    for way in ({}, *rng.sample(_WAYS, 2)):
        found = list(_results(batches, options | way))
        for step, (a, b) in enumerate(zip(expected, found, strict=True)):
            _compare(a, b, f"batch {step} with {way or 'the default'}")


def _attack_shuffle(rng: random.Random) -> None:
    """Rows in another order get the same labels, centers and cost."""
    numbers, options = np.random.default_rng(rng.getrandbits(64)), _options(rng)
    batches = _batches(rng, numbers)
    shuffles = [numbers.permutation(len(points)) for points, _, _ in batches]
    moved = [
        (points[rows], elapsed, None if weights is None else weights[rows])
        for (points, elapsed, weights), rows in zip(batches, shuffles, strict=True)
    ]
    pairs = zip(_results(batches, options), _results(moved, options), shuffles, strict=True)
    for step, (a, b, rows) in enumerate(pairs):
        _compare((a[0][rows], *a[1:]), b, f"batch {step} shuffled")


def _options(rng: random.Random) -> dict[str, Any]:
    pair = rng.choice(
        [
            {"max_gap": rng.choice([1.5, 3.0, 6.8, float("inf")]), "reach": rng.uniform(1, 3)},
            {"revival_penalty": rng.choice([0.0, 0.25, 1.0]), "drift": rng.choice([0.0, 0.5, 1.0])},
        ]
    )
    return {
        "new_penalty": rng.choice([0.02, 0.5, 1.0, 4.0, 30.0, rng.uniform(0.01, 50)]),
        "n_init": rng.randint(1, 3),
        "revival": rng.choice(["paper", "exact"]),
        "random_state": rng.randrange(2**32),
        **pair,
    }


def _batches(rng: random.Random, numbers: np.random.Generator) -> list[Any]:
    """Lattices, duplicates, blobs and outliers, far from zero or near; now and then a large one."""
    d = rng.choice([1, 1, 2, 2, 3, 4, 5, 8, 16, 20])
    dtype = rng.choice([np.float64, np.float64, np.float32])
    scale, offset = rng.choice([0.1, 1.0, 3.0]), rng.choice([0.0, 0.0, 1e6])
    is_lattice, has_weights = rng.random() < 0.4, rng.random() < 0.3
    n_max = rng.choice([6] * 8 + [20] * 9 + [60] * 2 + [300])
    batches = []
    for _ in range(rng.randint(1, 5)):
        n = rng.randrange(n_max)
        points = numbers.normal(size=(4, d))[numbers.integers(4, size=n)]
        points = points + rng.choice([0.0, 0.2, 1.0]) * numbers.normal(size=(n, d))
        points = offset + scale * (np.round(points) if is_lattice else points)
        if rng.random() < 0.15:
            points = np.repeat(scale * np.arange(n)[:, None], d, axis=1)
        weights = numbers.choice([0.0, 0.5, 1.0, 2.0], size=n) if has_weights else None
        batches.append((points.astype(dtype), rng.choice([0.25, 1.0, 1.0, 2.5]), weights))
    return batches


def _results(batches: list[Any], options: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    model = DynamicMeans(**options)
    for points, elapsed, weights in batches:
        model.partial_fit(points, elapsed=elapsed, sample_weight=weights)
        state = model.state_
        yield (
            np.asarray(model.labels_),
            *(state.ids, state.centers, state.weights, state.ages, state.counts),
            np.asarray(model.cost_trace_),
            (state.next_id, state.n_steps, state.time),
        )


def _compare(expected: tuple[Any, ...], found: tuple[Any, ...], where: str) -> None:
    names = ("labels", "ids", "centers", "weights", "ages", "counts", "cost_trace", "counters")
    for name, a, b in zip(names, expected, found, strict=True):
        if not np.array_equal(a, b):
            raise AssertionError(f"{name} differ in {where}")
