"""Parameters chosen on the first windows of a table."""

from collections.abc import Iterable
from typing import Any

from dynmeans.inputs.input_error import InputError
from dynmeans.parameters.suggest import suggest_details
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.reading.scaling import Scaling
from dynmeans.runs.reading.sources import Source
from dynmeans.runs.reading.window import Window
from dynmeans.runs.reading.window_options import WindowOptions
from dynmeans.runs.reading.windows import Windows

_N_WINDOWS = 30
# Fewer points do not tell a cluster from the noise of single ones (decision 0300).
_N_POINTS = 1000


def first_windows(windows: Iterable[Window], n_windows: int | None = None) -> list[Window]:
    """Return the first `n_windows`; by default 30, and more until they hold 1,000 points."""
    taken: list[Window] = []
    n_points = 0
    for window in windows:
        taken.append(window)
        n_points += window.n_points
        if n_windows is None and len(taken) >= _N_WINDOWS and n_points >= _N_POINTS:
            break
        if n_windows is not None and len(taken) >= n_windows:
            break
    return taken


def suggest_on_first_windows(
    source: Source,
    options: WindowOptions,
    *,
    standardise: int,
    n_windows: int | None = None,
    **settings: Any,
) -> Suggestion:
    """Choose on the first windows, standardized as the run will do it."""
    first = first_windows(Windows(source, options), n_windows)
    if not first:
        raise InputError("", "the input holds no rows to choose on")
    points = [window.points for window in first]
    if standardise:
        scaling = Scaling.learned(points[:standardise])
        points = [scaling.apply(rows) for rows in points]
    return suggest_details(
        points,
        elapsed=[window.elapsed for window in first],
        sample_weight=[window.weights for window in first],
        **settings,
    )
