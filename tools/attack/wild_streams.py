"""Streams that strain bounds: weights over twelve orders of magnitude, heavy tails, jumps."""

import random
from typing import Any, NamedTuple

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.step import step_batch
from dynmeans.records.arrays import FloatArray
from dynmeans.records.orders import SEARCHES, VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

Stepped = Any  # (ClusterState, Clustering)
_PARTS = (300, 1_000, 3_000, 10_000, 30_000)  # rows, that must not have too many clusters either


class WildStream(NamedTuple):
    """Batches with the time before each; everything a step is given but its way."""

    penalties: Penalties
    orders: VisitingOrders
    batches: list[tuple[Batch, float]]

    @property
    def n_features(self) -> int:
        """Of every batch."""
        return self.batches[0][0].n_features


def wild_stream(
    rng: random.Random,
    n_rows: tuple[int, int],
    widths: list[int],
    most_batches: int = 3,
    most_clusters: int | None = None,
    searches: tuple[str, ...] = SEARCHES,
) -> WildStream:
    """Draw a stream with so many rows in each batch; few rows are as likely as many.

    With `most_clusters` lambda is as large as it must be for the first batch to have no more:
    without any acceleration a pass takes as long as there are rows and clusters.
    """
    numbers = np.random.default_rng(rng.getrandbits(64))
    d, n_clusters = rng.choice(widths), rng.choice([2, 5, 12, 30, 60, 150])
    scale = rng.choice([1.0, 1.0, 1e-3, 1e4])
    orders = VisitingOrders(rng.getrandbits(32), rng.choice([1, 1, 2]), search=rng.choice(searches))
    centers = rng.choice([1.0, 3.0, 10.0]) * numbers.normal(size=(n_clusters, d))
    dtype, offset = rng.choice([np.float64, np.float64, np.float32]), rng.choice([0.0, 0.0, 1e3])
    batches = []
    for _ in range(rng.randint(1, most_batches)):
        n = int(np.exp(rng.uniform(*np.log(n_rows))))
        centers = centers + rng.choice([0.0, 0.1, 1.0]) * numbers.normal(size=centers.shape)
        points = centers[numbers.integers(n_clusters, size=n)] + _noise(rng, numbers, (n, d))
        points = np.round(points) if rng.random() < 0.1 else points
        rows = (scale * (offset + points)).astype(dtype)
        batches.append((Batch(rows, weights_of(rng, numbers, n)), rng.choice([1.0, 1.0, 0.5, 2.5])))
    new_penalty = d * scale**2 * rng.choice([0.1, 0.5, 2.0, 10.0, rng.uniform(1, 60)])
    if most_clusters is not None:
        new_penalty = _enough_for(most_clusters, new_penalty, batches[0][0], orders)
    return WildStream(_penalties(rng, new_penalty), orders, batches)


def _enough_for(
    most_clusters: int, new_penalty: float, batch: Batch, orders: VisitingOrders
) -> float:
    empty = ClusterState.empty(batch.n_features)
    for n_rows in (*_PARTS, batch.n_points):
        weights = None if batch.weights is None else batch.weights[:n_rows]
        part = Batch(batch.points[:n_rows], weights)
        while True:
            penalties = Penalties(new_penalty, max_gap=2, reach=1)
            if step_batch(part, empty, penalties, orders)[0].n_clusters <= most_clusters:
                break
            new_penalty *= 3.0
    return new_penalty


def _noise(rng: random.Random, numbers: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    spread = rng.choice([0.1, 0.3, 1.0, 2.0])
    kind = rng.choice(["t", "t", "normal", "uniform"])
    if kind == "t":
        tails = numbers.standard_t(rng.choice([1.5, 2.0, 3.0]), size=shape)
        return spread * np.clip(tails, -1e4, 1e4)
    if kind == "normal":
        return spread * numbers.normal(size=shape)
    return 10.0 * spread * numbers.random(shape)


def weights_of(rng: random.Random, numbers: np.random.Generator, n: int) -> FloatArray | None:
    """Draw weights over up to twelve orders of magnitude, or none."""
    kind = rng.choice(["none", "two", "two", "few", "lognormal", "decades", "zeros"])
    if kind == "none":
        return None
    if kind == "two":
        is_heavy = numbers.random(n) < rng.choice([0.001, 0.02, 0.3])
        return np.where(is_heavy, 10.0 ** rng.choice([2, 4, 6]), 1.0)
    if kind == "few":
        return numbers.choice([0.5, 1.0, 2.0, 300.0], size=n)
    if kind == "lognormal":
        return np.exp(3.0 * numbers.normal(size=n))
    weights: FloatArray = 10.0 ** numbers.uniform(-6.0, 6.0, size=n)
    if kind == "zeros":
        weights[numbers.random(n) < 0.3] = 0.0
    return weights


def _penalties(rng: random.Random, new_penalty: float) -> Penalties:
    ways: dict[str, Any] = {
        "motion": rng.choice(["random_walk", "random_walk", "constant_velocity"])
    }
    if rng.random() < 0.5:
        ways |= {"max_gap": rng.choice([1.5, 3.0, 6.8]), "reach": rng.uniform(1.0, 3.0)}
    else:
        share = rng.choice([0.0, 0.02, 0.1, 0.5])
        ways |= {"revival_penalty": share * new_penalty, "drift": rng.choice([0.0, 0.5, 2.0])}
    return Penalties(new_penalty, revival=rng.choice(["paper", "exact"]), **ways)


def compare_steps(found: Stepped, expected: Stepped, where: str) -> None:
    """Refuse one bit that differs."""
    (state, clustering), (known_state, known) = found, expected
    names = ("labels", "ids", "cost_trace", "centers", "counts")
    different = [
        name
        for name in names
        if not np.array_equal(getattr(clustering, name), getattr(known, name), equal_nan=True)
    ]
    if state != known_state:
        different.append("state")
    if different:
        raise AssertionError(f"{', '.join(different)} differ {where}")
