"""Parameters chosen on the first windows of a source, which are then read on from there."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dynmeans.engine.batch import Batch, take_batches
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import checked_count
from dynmeans.parameters.suggest import N_BATCHES, N_POINTS, suggest_for
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.scaling import Scaling
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.reading.window import Window

if TYPE_CHECKING:
    from dynmeans.runs.reading.live_windows import LiveWindows
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


def suggest_on_windows(
    windows: Sequence[Window], *, standardize: int, n_init: int = 3, **settings: Any
) -> Suggestion:
    """Choose on these windows, standardized as the run will do it; settings of `suggest_for`."""
    batches, gaps = batches_of(windows, standardize=standardize)
    orders = VisitingOrders(0, checked_count("n_init", n_init))
    return suggest_for(batches, gaps, orders=orders, **settings)


def batches_of(windows: Sequence[Window], *, standardize: int) -> tuple[list[Batch], list[float]]:
    """Return the batches that a choice is made on, and the steps of time between them."""
    if not windows:
        raise InputError(
            "", "the input holds no rows to choose on: it is empty, or every row lacks a value"
        )
    points = [window.points for window in windows]
    if standardize:
        scaling = Scaling.learned(points[:standardize])
        points = [scaling.apply(rows) for rows in points]
    elapsed = [window.elapsed for window in windows]
    return take_batches(points, elapsed, [window.weights for window in windows])


def tried(found: Suggestion) -> str:
    """The coarsest, a middle and the finest choice in numbers."""
    return "; ".join(
        f"{one.penalties.new_penalty:.4g} gives {one.n_clusters:.3g} clusters in a window and "
        f"{one.n_identities:,} identities"
        for one in found.examples
    )


class ReadAhead:
    """Windows of which the first were read, to be read again; iterate over it once.

    Parameters
    ----------
    windows : Windows or LiveWindows
        Those of a source.

    Attributes
    ----------
    first : list of Window
        The first windows, as `first_windows` takes them.
    """

    def __init__(self, windows: "Windows | LiveWindows", n_windows: int | None = None) -> None:
        self._windows, self._rest = windows, iter(windows)
        self.first = first_windows(self._rest, n_windows)

    def __iter__(self) -> Iterator[Window]:
        """Yield all windows; those read ahead are not kept any longer."""
        first, self.first = deque(self.first), []
        while first:
            yield first.popleft()
        yield from self._rest

    def __getattr__(self, name: str) -> Any:
        """Return what the source says about itself: its position, what it left out."""
        return getattr(self._windows, name)
