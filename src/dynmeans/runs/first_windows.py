"""Parameters chosen on the first windows of a table."""

from collections.abc import Iterable
from typing import Any

from dynmeans.engine.batch import Batch, take_batches
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import checked_count
from dynmeans.parameters.suggest import N_BATCHES, N_POINTS, suggest_for
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.reading.scaling import Scaling
from dynmeans.runs.reading.sources import Source
from dynmeans.runs.reading.window import Window
from dynmeans.runs.reading.window_options import WindowOptions
from dynmeans.runs.reading.windows import Windows


def first_windows(windows: Iterable[Window], n_windows: int | None = None) -> list[Window]:
    """Return the first `n_windows`; by default 30 with points, and more up to 4,000 points."""
    taken: list[Window] = []
    n_filled = n_points = 0
    for window in windows:
        taken.append(window)
        n_filled += window.n_points > 0
        n_points += window.n_points
        if n_windows is None and n_filled >= N_BATCHES and n_points >= N_POINTS:
            break
        if n_windows is not None and len(taken) >= n_windows:
            break
    return taken


def suggest_on_first_windows(
    source: Source,
    options: WindowOptions,
    *,
    standardize: int,
    n_windows: int | None = None,
    n_init: int = 3,
    **settings: Any,
) -> Suggestion:
    """Choose on the first windows, standardized as the run will do it."""
    batches, gaps = first_batches(source, options, standardize=standardize, n_windows=n_windows)
    orders = VisitingOrders(0, checked_count("n_init", n_init))
    return suggest_for(batches, gaps, orders=orders, **settings)


def first_batches(
    source: Source, options: WindowOptions, *, standardize: int, n_windows: int | None = None
) -> tuple[list[Batch], list[float]]:
    """Return the batches that a choice is made on, and the steps of time between them."""
    first = first_windows(Windows(source, options), n_windows)
    if not first:
        raise InputError("", "the input holds no rows to choose on")
    points = [window.points for window in first]
    if standardize:
        scaling = Scaling.learned(points[:standardize])
        points = [scaling.apply(rows) for rows in points]
    elapsed = [window.elapsed for window in first]
    return take_batches(points, elapsed, [window.weights for window in first])
