"""How much of a stream a suggestion is made on."""

from collections.abc import Iterable

from dynmeans.runs.reading.window import Window

_N_WINDOWS = 30
# Fewer points do not tell a cluster from the noise of single ones (decision 0300).
_N_POINTS = 1000


def first_windows(windows: Iterable[Window], n_windows: int | None = None) -> list[Window]:
    """Return the first `n_windows`; by default 30, and more until they hold 1,000 points."""
    taken: list[Window] = []
    n_points = 0
    for window in windows:
        taken.append(window)
        n_points += len(window.points)
        if n_windows is None and len(taken) >= _N_WINDOWS and n_points >= _N_POINTS:
            break
        if n_windows is not None and len(taken) >= n_windows:
            break
    return taken
