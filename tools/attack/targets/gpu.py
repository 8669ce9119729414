"""A GPU: random streams of any magnitude beside compiled code; borders; threads and streams."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from attack.targets import Case, Skipped
from attack.wild_streams import compare_steps, wild_stream
from dynmeans.engine import execution
from dynmeans.engine.batch import Batch, make_rows
from dynmeans.engine.execution import Execution
from dynmeans.engine.gpu.host import border
from dynmeans.engine.step import step_batch
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState
from dynmeans.spaces.cosine import unit_rows

_GPU, _NATIVE = Execution("gpu"), Execution("native")
_WAYS = (_GPU, Execution("auto"))
_WIDTHS = [1, 2, 2, 3, 5, 24, 200]  # Few: each has kernels of its own, compiled when first used.
_BORDER_WIDTHS = [1, 2, 2, 3, 3, 5, 24]
_BORDER_ROWS = (200, 60_000)


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Nothing to make but a card to find."""
    try:
        import cupy  # noqa: PLC0415

        cupy.zeros(1)
    except Exception as error:  # of a missing package, driver or card
        raise Skipped(f"no GPU: {type(error).__name__}") from error
    execution._GPU_PAYS = 0  # "auto" takes the card for batches of any size
    streams = {"gpu": _attack_stream, "gpu-sphere": _attack_sphere, "gpu-borders": _attack_borders}
    if name in streams:
        yield streams[name]
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
        motion=rng.choice(["random_walk", "random_walk", "constant_velocity"]),
    )
    search = rng.choice(["paper", "split", "deep"])
    orders = VisitingOrders(rng.getrandbits(32), rng.choice([1, 2]), search=search)
    state = ClusterState.empty(d)
    for step in range(rng.randint(1, 4)):
        n = rng.choice([0, 1, 5, 60, 300, 4000 if search == "paper" else 300])
        batch, elapsed = _batch(rng, numbers, (n, d), scale, dtype), rng.choice([1.0, 0.5, 2.0])
        arguments = (batch, state, penalties, orders, elapsed)
        expected = step_batch(*arguments, _NATIVE)
        found = step_batch(*arguments, rng.choice(_WAYS))
        compare_steps(found, expected, f"from compiled code: batch {step}")
        state = expected[0]
        _compare_predictions(batch, state, penalties, step)


def _compare_predictions(
    batch: Batch, state: ClusterState, penalties: Penalties, step: int
) -> None:
    found, known = (
        make_rows(batch, state.n_features).predict(state, penalties, way, 0.0)
        for way in (_GPU, _NATIVE)
    )
    if not (np.array_equal(found[0], known[0]) and np.array_equal(found[1], known[1])):
        raise AssertionError(f"predictions after batch {step} differ")


def _attack_sphere(rng: random.Random) -> None:
    """Every bit of a stream with centers of length 1."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    d, dtype = rng.choice(_WIDTHS), rng.choice([np.float64, np.float64, np.float32])
    penalties = Penalties(
        2.0 * (1.0 - rng.uniform(-0.2, 0.95)),
        max_gap=rng.choice([1.5, 3.0, 8.0]),
        reach=rng.choice([1.0, 1.05, 1.5]),
        revival=rng.choice(["paper", "exact"]),
    ).with_centers("sphere")
    orders = VisitingOrders(rng.getrandbits(32), rng.choice([1, 2]))
    state = ClusterState.empty(d)
    for step in range(rng.randint(1, 4)):
        batch = _batch(rng, numbers, (rng.choice([0, 1, 5, 60, 300, 4000]), d), 1.0, dtype)
        points = np.where((batch.points == 0).all(axis=1)[:, None], 1.0, batch.points)
        batch = Batch(unit_rows(points.astype(dtype)), batch.weights)
        arguments = (batch, state, penalties, orders, rng.choice([1.0, 0.5, 2.0]))
        expected = step_batch(*arguments, _NATIVE)
        found = step_batch(*arguments, rng.choice(_WAYS))
        compare_steps(found, expected, f"from compiled code: batch {step}")
        state = expected[0]
        _compare_predictions(batch, state, penalties, step)


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


def _attack_borders(rng: random.Random) -> int:
    """Late passes begin at once, with margins of any width, and weights of any size."""
    stream = wild_stream(rng, _BORDER_ROWS, _BORDER_WIDTHS, most_clusters=rng.choice([40, 300]))
    state = ClusterState.empty(stream.n_features)
    with _early_borders(rng.choice([0.5, 4.0, 64.0, 1e3])):
        for step, (batch, elapsed) in enumerate(stream.batches):
            arguments = (batch, state, stream.penalties, stream.orders, elapsed)
            expected = step_batch(*arguments, _NATIVE)
            compare_steps(step_batch(*arguments, _GPU), expected, f"from compiled code: {step}")
            state = expected[0]
    return len(stream.batches)


@contextmanager
def _early_borders(passes_ahead: float) -> Iterator[None]:
    forced = {"_SMALL_N_MOVES": 1, "_WAIT": 1, "_PASSES_AHEAD": passes_ahead}
    usual = {name: getattr(border, name) for name in forced}
    for name, value in forced.items():
        setattr(border, name, value)
    try:
        yield
    finally:
        for name, value in usual.items():
            setattr(border, name, value)


def _attack_threads(rng: random.Random) -> None:
    """Three threads with 160 MB each, some on streams of their own, while other work is pending."""
    import cupy as cp  # noqa: PLC0415

    penalties, orders = Penalties(400.0, max_gap=5, reach=1.2), VisitingOrders(1)
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
            return stepped, make_rows(rows, 2).predict(stepped[0], penalties, _GPU, 0.0)

    alone = [fit(rows, 0, False) for rows in batches]
    with ThreadPoolExecutor(3) as pool:
        together = pool.map(fit, batches, loads, has_stream)
        for number, (found, known) in enumerate(zip(together, alone, strict=True)):
            compare_steps(found[0], known[0], f"from a thread alone: {number}")
            if not np.array_equal(found[1][0], known[1][0]):
                raise AssertionError(f"predictions of thread {number} differ")
