"""Every acceleration, alone and together, begun at once or at its own size: the bits of "none"."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from attack.targets import Case
from attack.wild_streams import Stepped, WildStream, compare_steps, wild_stream
from dynmeans.engine.compiled import compiled
from dynmeans.engine.execution import Execution
from dynmeans.engine.step import step_batch
from dynmeans.records.state import ClusterState

_PLAIN, _SPECIFICATION = Execution(acceleration="none"), Execution("reference")
_WIDTHS = [1, 2, 2, 3, 3, 4, 5, 8, 15, 20, 70]
_ROWS = (50, 3_000)
_LARGE_ROWS = (30_000, 200_000)
_DEEP_ROWS = (30_000, 40_000)  # the plain way takes minutes for what other searches try
_MAX_OF_SPECIFICATION = 300  # rows
_BASES = {"bounds"}  # without it no later pass is accelerated


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Nothing to make: a case is a stream."""
    yield _attack_small if name == "accelerations" else _attack_large


def _attack_small(rng: random.Random) -> int:
    """All forced to begin at once; then one alone, one left out, and any of them."""
    most_clusters = rng.choice([40, 40, 40, None])  # grids and trees are for many
    stream = wild_stream(rng, _ROWS, _WIDTHS, most_clusters=most_clusters)
    expected = steps_of(stream, _PLAIN)
    if max(batch.n_points for batch, _ in stream.batches) <= _MAX_OF_SPECIFICATION:
        compare_ways(steps_of(stream, _SPECIFICATION), expected, "from the specification")
    names = compiled.acceleration_names()
    one = rng.choice(names)
    for left_out in (
        [rng.choice(["small_table", "grid"])],
        [other for other in names if other not in _BASES | {one}],
        [other for other in names if rng.random() < 0.2],
    ):
        with forced(rng, left_out):
            execution = Execution(n_threads=rng.choice([1, 2, 3]))
            compare_ways(steps_of(stream, execution), expected, f"without {', '.join(left_out)}")
    return len(stream.batches)


def _attack_large(rng: random.Random) -> int:
    """As they come: batches in which each begins by itself."""
    if rng.random() < 0.8:
        rows, widths, searches = _LARGE_ROWS, [1, 2, 3, 3, 4, 8, 15], ("paper",)
    else:
        rows, widths, searches = _DEEP_ROWS, [1, 2, 3], ("split", "deep")
    stream = wild_stream(rng, rows, widths, 2, most_clusters=40, searches=searches)
    compare_ways(
        steps_of(stream, Execution(n_threads=2)), steps_of(stream, _PLAIN), "from the plain way"
    )
    return len(stream.batches)


@contextmanager
def forced(rng: random.Random, left_out: list[str]) -> Iterator[None]:
    """Begin whatever waits for many points or passes at once; leave out what is named."""
    dates = compiled.date_from(1, rng.choice([1, 1, 2, 3]))
    compiled.leave_out(left_out)
    try:
        yield
    finally:
        compiled.leave_out([])
        compiled.date_from(*dates)


def steps_of(stream: WildStream, execution: Execution) -> list[Stepped]:
    """Step through a stream in one way."""
    state, found = ClusterState.empty(stream.n_features), []
    for batch, elapsed in stream.batches:
        stepped = step_batch(batch, state, stream.penalties, stream.orders, elapsed, execution)
        state = stepped[0]
        found.append(stepped)
    return found


def compare_ways(found: list[Stepped], expected: list[Stepped], where: str) -> None:
    """Refuse one bit that differs, and a cost that is not finite."""
    for step, (a, b) in enumerate(zip(found, expected, strict=True)):
        compare_steps(a, b, f"{where} in batch {step}")
        if not np.isfinite(b[1].cost_trace).all():
            raise AssertionError(f"a cost is not finite in batch {step}")
