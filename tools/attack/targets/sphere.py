"""Streams of rows on the unit sphere: all ways of running a step give the bits of one."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from attack.targets import Case
from attack.targets.accelerations import compare_ways, forced, steps_of
from attack.wild_streams import WildStream, weights_of
from dynmeans import DynamicMeans
from dynmeans.engine.batch import Batch
from dynmeans.engine.execution import Execution
from dynmeans.follow.memory import Memory
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties

_WIDTHS = [1, 2, 3, 4, 5, 8, 15, 16, 17, 40, 130, 300]
_MAX_OF_SPECIFICATION = 300  # rows


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Nothing to make: a case is a stream."""
    yield _attack


def _attack(rng: random.Random) -> int:
    stream = _stream(rng)
    expected = steps_of(stream, Execution(acceleration="none"))
    if max(batch.n_points for batch, _ in stream.batches) <= _MAX_OF_SPECIFICATION:
        compare_ways(steps_of(stream, Execution("reference")), expected, "from the specification")
    with forced(rng, []):
        for n_threads in (1, 3):
            found = steps_of(stream, Execution(n_threads=n_threads))
            compare_ways(found, expected, f"with {n_threads} threads")
    for state, clustering in expected:
        lengths = np.linalg.norm(state.centers, axis=1)
        assert np.allclose(lengths, 1.0, atol=1e-6), "a center is not on the sphere"
        later = clustering.cost_trace[1:]
        assert np.all(np.diff(later) <= 1e-12 * np.abs(later[1:]) + 1e-12), "the cost rose"
    _attack_memory(rng, stream)
    return len(stream.batches)


def _attack_memory(rng: random.Random, stream: WildStream) -> None:
    """Shuffled rows, and a stream that goes on from its memory, give the same labels."""
    options = {"new_penalty": stream.penalties.new_penalty, "max_gap": 3, "space": "cosine"}
    plain = DynamicMeans(**options, random_state=0)
    broken = DynamicMeans(**options, random_state=0)
    for batch, elapsed in stream.batches:
        if batch.n_points == 0:
            continue
        rows = np.random.default_rng(rng.getrandbits(64)).permutation(batch.n_points)
        weights = batch.weights
        plain.partial_fit(batch.points, elapsed=elapsed, sample_weight=weights)
        moved = None if weights is None else weights[rows]
        broken.partial_fit(batch.points[rows], elapsed=elapsed, sample_weight=moved)
        assert np.array_equal(np.asarray(plain.labels_)[rows], broken.labels_), "labels differ"
        assert np.array_equal(plain.cluster_centers_, broken.cluster_centers_), "centers differ"
        broken = DynamicMeans.from_memory(Memory.from_bytes(broken.memory_.to_bytes(), "memory"))


def _stream(rng: random.Random) -> WildStream:
    """A few directions that turn, tight or wide, on a grid or not, with opposites and repeats."""
    numbers, d = np.random.default_rng(rng.getrandbits(64)), rng.choice(_WIDTHS)
    centers = numbers.normal(size=(rng.choice([1, 3, 12, 60]), d))
    dtype, n_most = rng.choice([np.float32, np.float64]), rng.choice([20, 60, 300, 3_000])
    spread, is_grid, batches = rng.choice([0.01, 0.1, 0.5, 2.0]), rng.random() < 0.2, []
    for _ in range(rng.randint(1, 4)):
        centers = centers + rng.choice([0.0, 0.1, 1.0]) * numbers.normal(size=centers.shape)
        n = rng.randrange(n_most)
        points = centers[numbers.integers(len(centers), size=n)]
        points = points + spread * numbers.normal(size=(n, d))
        points = np.round(points) if is_grid else points
        points[np.linalg.norm(points, axis=1) < 1e-3] = 1.0
        if n > 6:
            points[3], points[5] = -points[2], points[4]
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        weights = weights_of(rng, numbers, n)
        batches.append((Batch(points.astype(dtype), weights), rng.choice([0.25, 1.0, 1.0, 2.5])))
    new_penalty = 2 - 2 * rng.choice([0.0, 0.3, 0.7, 0.95, rng.uniform(-0.2, 0.99)])
    penalties = Penalties(
        new_penalty,
        max_gap=rng.choice([1.5, 4.0, np.inf]),
        reach=rng.choice([1.0, 1.05, 1.5]),
        revival=rng.choice(["paper", "exact"]),
    ).with_centers("sphere")
    orders = VisitingOrders(rng.getrandbits(32), rng.choice([1, 1, 2]), search="paper")
    return WildStream(penalties, orders, batches)
