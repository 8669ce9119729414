"""A GPU: random streams of any magnitude beside compiled code; threads and streams of CUDA."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from attack.targets import Case, Skipped
from dynmeans.engine.batch import Batch, take_rows
from dynmeans.engine.execution import Execution
from dynmeans.engine.step import step_batch
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

_GPU, _NATIVE = Execution("gpu"), Execution("native")
_WIDTHS = [1, 2, 2, 3, 5, 24, 200]  # Few: each has kernels of its own, compiled when first used.


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Nothing to make but a card to find."""
    try:
        import cupy  # noqa: PLC0415

        cupy.zeros(1)
    except Exception as error:  # of a missing package, driver or card
        raise Skipped(f"no GPU: {type(error).__name__}") from error
    if name == "gpu":
        yield _attack_stream
        return
    _attack_threads(random.Random(0))  # so that what the card and three threads take is there
    yield _attack_threads


def _attack_stream(rng: random.Random) -> None:
    """Every bit of a stream, whatever the magnitude of its rows, weights and penalties."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    d, dtype = rng.choice(_WIDTHS), rng.choice([np.float64, np.float64, np.float32])
    limits = (-44.0, 37.0) if dtype is np.float32 else (-150.0, 99.0)
    scale = 10.0 ** rng.choice([0.0, rng.uniform(*limits), rng.uniform(*limits)])
    penalties = Penalties(
        max(min(scale * scale * d * rng.choice([0.01, 0.3, 2.0]), 1e200), 5e-324),
        max_gap=rng.choice([1.5, 3.0, 8.0]),
        reach=rng.uniform(1.0, 2.0),
        revival=rng.choice(["paper", "exact"]),
        motion=rng.choice(["still", "still", "steady"]),
    )
    by, search = rng.choice(["row", "content"]), rng.choice(["paper", "split", "deep"])
    orders = VisitingOrders(rng.getrandbits(32), rng.choice([1, 2]), by=by, search=search)
    state = ClusterState.empty(d)
    for step in range(rng.randint(1, 4)):
        n = rng.choice([0, 1, 5, 60, 300, 4000 if search == "paper" else 300])
        batch, elapsed = _batch(rng, numbers, (n, d), scale, dtype), rng.choice([1.0, 0.5, 2.0])
        arguments = (batch, state, penalties, orders, elapsed)
        expected = step_batch(*arguments, _NATIVE)
        _compare(step_batch(*arguments, _GPU), expected, f"batch {step}")
        state = expected[0]
        found, known = (
            take_rows(batch, state.n_features).predict(state, penalties, way, 0.0)
            for way in (_GPU, _NATIVE)
        )
        if not (np.array_equal(found[0], known[0]) and np.array_equal(found[1], known[1])):
            raise AssertionError(f"predictions after batch {step} differ")


def _batch(
    rng: random.Random,
    numbers: np.random.Generator,
    shape: tuple[int, int],
    scale: float,
    dtype: Any,
) -> Batch:
    n, d = shape
    points = 3.0 * numbers.normal(size=(12, d))[numbers.integers(12, size=n)]
    points = points + rng.choice([0.0, 0.3, 1.0]) * numbers.normal(size=(n, d))
    if rng.random() < 0.3:
        points = np.round(points)
    if rng.random() < 0.3:  # rows of unlike magnitude in one batch
        points *= 10.0 ** numbers.uniform(-6, 0, (n, 1))
    points = np.clip(scale * points, -1e100, 1e100)
    with np.errstate(over="ignore"):
        points = points.astype(dtype)
    points[~np.isfinite(points)] = 1.0
    weights = None
    if rng.random() < 0.3:
        weights = numbers.choice([0.0, 1e-40, 0.25, 1.0, 3.0, 1e40], n)
    return Batch(points, weights)


def _attack_threads(rng: random.Random) -> None:
    """Three threads with 160 MB each, some on streams of their own, while other work is pending."""
    import cupy as cp  # noqa: PLC0415

    penalties, orders = Penalties(400.0, max_gap=5, reach=1.2), VisitingOrders(1, by="row")
    numbers = np.random.default_rng(rng.getrandbits(64))
    batches = [100.0 * numbers.random((10_000_000, 2)) for _ in range(3)]
    start = ClusterState.empty(2)
    loads = [rng.randint(1, 30) for _ in batches]
    has_stream = [rng.random() < 0.5 for _ in batches]

    def fit(rows: Any, load: int, has_stream: bool) -> tuple[Any, Any]:
        with cp.cuda.Stream(non_blocking=True) if has_stream else nullcontext():
            junk = cp.zeros(rows.shape)
            for _ in range(load):
                junk += 1e9
            del junk
            stepped = step_batch(Batch(rows), start, penalties, orders, 1.0, _GPU)
            return stepped, take_rows(rows, 2).predict(stepped[0], penalties, _GPU, 0.0)

    alone = [fit(rows, 0, False) for rows in batches]
    with ThreadPoolExecutor(3) as pool:
        together = pool.map(fit, batches, loads, has_stream)
        for number, (found, known) in enumerate(zip(together, alone, strict=True)):
            _compare(found[0], known[0], f"thread {number}")
            if not np.array_equal(found[1][0], known[1][0]):
                raise AssertionError(f"predictions of thread {number} differ")


def _compare(found: Any, expected: Any, where: str) -> None:
    (state, clustering), (known_state, known) = found, expected
    names = ("labels", "cost_trace", "centers", "counts")
    different = [
        name
        for name in names
        if not np.array_equal(getattr(clustering, name), getattr(known, name), equal_nan=True)
    ]
    if state != known_state:
        different.append("state")
    if different:
        raise AssertionError(f"{where}: {', '.join(different)} differ from compiled code")
