"""Streams made to be right, and streams made to be wrong, to judge doubts by."""

from collections.abc import Callable, Iterator

import numpy as np

from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.records.arrays import FloatArray

N_BATCHES = 30
Batches = list[FloatArray]


def _right(kind: str, rng: np.random.Generator) -> Batches:
    """Clusters that a person would see: apart from each other, several points each."""
    k = int(rng.integers(3, 9))
    if kind == "walking":
        walk = {"n_steps": N_BATCHES, "n_clusters": k, "spread": 0.02, "motion": 0.01}
        return list(moving_gaussians(**walk, rng=rng).batches)
    d = {"flat": 2, "deep": 12}.get(kind, 3)
    centers = rng.permutation(np.indices((4,) * min(d, 3)).reshape(min(d, 3), -1).T)[:k] * 10.0
    centers = centers @ rng.normal(size=(min(d, 3), d)) if d > 3 else centers
    sizes = rng.integers(10, 60, size=k) if kind == "uneven" else np.full(k, 25)
    batches = []
    for t in range(N_BATCHES):
        moved = centers + (0.3 * t if kind == "marching" else 0.0)
        spread = rng.standard_t(4, size=(sizes.sum(), d)) if kind == "tails" else None
        noise = rng.normal(size=(sizes.sum(), d)) if spread is None else spread
        is_there = rng.random(k) < (0.8 if kind == "absent" else 1.1)
        rows = np.repeat(moved, sizes, axis=0) + noise
        batches.append(rows[np.repeat(is_there, sizes)])
    return batches


def _wrong(kind: str, rng: np.random.Generator) -> Batches:
    """Streams whose clusters are an accident, or of a kind that one lambda cannot follow."""
    batches = []
    directions = rng.normal(size=(12, 40))
    objects = rng.uniform(0, 100, size=(25, 2))
    for _ in range(N_BATCHES):
        if kind == "noise":
            rows = rng.uniform(size=(200, 2))
        elif kind == "one Gaussian":
            rows = rng.normal(size=(200, 3))
        elif kind == "heap in heap":
            rows = np.vstack([rng.normal(0, 5, size=(150, 2)), rng.normal(0, 0.3, size=(80, 2))])
        elif kind == "text":
            topics = directions[rng.integers(12, size=100)]
            rows = 0.35 * topics + rng.normal(size=(100, 40))
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        else:  # one point an object, which jumps about
            objects = objects + rng.normal(0, 8, size=objects.shape)
            rows = objects.copy()
        batches.append(rows)
    return batches


RIGHT = ("flat", "solid", "deep", "uneven", "tails", "absent", "marching", "walking")
WRONG = ("noise", "one Gaussian", "heap in heap", "text", "one point an object")


def doubt_streams() -> Iterator[tuple[bool, str, Batches]]:
    """Forty right ones and twenty wrong ones, with their kinds."""
    ways: tuple[tuple[bool, tuple[str, ...], Callable[..., Batches], int], ...] = (
        (True, RIGHT, _right, 5),
        (False, WRONG, _wrong, 4),
    )
    for is_right, kinds, make, n in ways:
        for kind in kinds:
            for seed in range(n):
                yield is_right, kind, make(kind, np.random.default_rng(seed))
