"""Parameters chosen on the first windows of a source, which are then read on from there."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
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

# What a suggestion that is not followed was made on: batches, and the steps of time between them.
OnRefusal = Callable[[Suggestion, list[Batch], list[float]], None]


def first_windows(
    windows: Iterable[Window], n_windows: int | None = None, taken: list[Window] | None = None
) -> list[Window]:
    """Return the first `n_windows`; by default 30 with points, and more up to 4,000 points.

    They are also added to `taken`, one by one.
    """
    taken = [] if taken is None else taken
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
    return suggest_for(batches, gaps, orders=orders, batch_word="window", **settings)


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


class ReadAhead:
    """Windows of which the first were read, to be read again; iterate over it once.

    Parameters
    ----------
    windows : Windows or LiveWindows
        Those of a source.
    is_live : bool
        Whether rows are gone once they are read. An error then waits until the windows before it
        are taken in, as it does where nothing is read ahead.

    Attributes
    ----------
    first : list of Window
        The first windows, as `first_windows` takes them.
    error : ValueError or None
        What ended the reading of a live source before there were enough of them.
    """

    def __init__(self, windows: "Windows | LiveWindows", *, is_live: bool) -> None:
        self._windows, self._rest = windows, iter(windows)
        self.first: list[Window] = []
        self.error: ValueError | None = None
        try:
            first_windows(self._rest, taken=self.first)
        except ValueError as error:
            if not (is_live and self.first):
                raise
            self.error, self._rest = error, _raising(error)

    def __iter__(self) -> Iterator[Window]:
        """Yield all windows; those read ahead are not kept any longer."""
        first, self.first = deque(self.first), []
        while first:
            yield first.popleft()
        yield from self._rest

    def __getattr__(self, name: str) -> Any:
        """Return what the source says about itself: its position, what it left out."""
        return getattr(self._windows, name)


def _raising(error: ValueError) -> Iterator[Window]:
    raise error
    yield


def choose(
    windows: "Windows | LiveWindows",
    *,
    is_live: bool,
    while_choosing: Callable[[], AbstractContextManager[None]],
    on_refusal: OnRefusal | None,
    standardize: int,
    **settings: Any,
) -> tuple[ReadAhead, Suggestion]:
    """Choose on the first windows; a choice that is not followed is an error.

    Returns
    -------
    windows : ReadAhead
        All windows, the first ones among them.
    found : Suggestion
        The choice.
    """
    with while_choosing():
        ahead = ReadAhead(windows, is_live=is_live)
        found = suggest_on_windows(ahead.first, standardize=standardize, **settings)
    if found.is_followed:
        return ahead, found
    if ahead.error is not None:
        raise ahead.error
    if on_refusal is not None:
        on_refusal(found, *batches_of(ahead.first, standardize=standardize))
    raise InputError(
        "suggest",
        ": with any choice clusters hardly outlive a window. Tried: {}",
        _tried(found),
        hint="Give {new_penalty}, or say with {n_clusters} about how many clusters a window holds.",
    )


def _tried(found: Suggestion) -> str:
    """The coarsest, a middle and the finest choice in numbers."""
    return "; ".join(
        f"{one.penalties.new_penalty:.4g} gives {one.n_clusters:.3g} clusters in a window and "
        f"{one.n_identities:,} identities"
        for one in found.examples
    )
