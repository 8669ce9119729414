"""The first windows of a source: looked at before the first step, and then read on from there."""

import logging
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import check_features
from dynmeans.follow.begin import OnChoice, begin, tell_choice
from dynmeans.follow.memory import Memory
from dynmeans.follow.recipe import Recipe
from dynmeans.inputs.input_error import InputError
from dynmeans.parameters.suggest import N_BATCHES, N_POINTS
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.spaces.named import find_space

_log = logging.getLogger(__name__)
_SECONDS = 30.0  # between two words about a choice that waits


def looks_ahead(recipe: Recipe) -> bool:
    """Say whether space or penalties are learned from the first windows."""
    return recipe.is_auto or not find_space(recipe.space).is_fitted


def first_windows(windows: Iterable[Window], taken: list[Window] | None = None) -> list[Window]:
    """Add the first 30 windows that have points, and more up to 4,000 points, to `taken`."""
    taken = [] if taken is None else taken
    n_filled = n_points = 0
    last = time.monotonic()
    for window in windows:
        taken.append(window)
        n_filled += window.n_points > 0
        n_points += window.n_points
        if time.monotonic() - last > _SECONDS:  # a live source
            told = "waiting to choose penalties: %d of %d windows, %d of %d rows so far."
            _log.warning(told, n_filled, N_BATCHES, n_points, N_POINTS)
            last = time.monotonic()
        if n_filled >= N_BATCHES and n_points >= N_POINTS:
            break
    return taken


def begun(config: RunConfig, first: Sequence[Window], on_choice: OnChoice = tell_choice) -> Memory:
    """Return the memory before the first window, as these windows tell."""
    for window in first:
        check_features(window.points.shape[1], len(config.features))
    return begin(
        config.recipe,
        [Batch(window.points, window.weights) for window in first],
        [window.elapsed for window in first],
        feature_names=config.features,
        on_choice=on_choice,
        batch_word="window",
    )


class ReadAhead:
    """Windows of which the `first` were read, to be read again; iterate over it once.

    With `is_live` rows are gone once they are read: an `error` then waits until the windows before
    it are taken in, as it does where nothing is read ahead.
    """

    def __init__(self, windows: Any, *, is_live: bool) -> None:
        self._windows, self._rest = windows, iter(windows)
        self.first: list[Window] = []
        self.error: ValueError | None = None
        try:
            first_windows(self._rest, taken=self.first)
        except ValueError as error:
            if not (is_live and self.first):
                raise
            self.error, self._rest = error, raising(error)

    def __iter__(self) -> Iterator[Window]:
        """Yield all windows; those read ahead are not kept any longer."""
        first, self.first = deque(self.first), []
        while first:
            yield first.popleft()
        yield from self._rest

    def __getattr__(self, name: str) -> Any:
        """Return what the source says about itself: its position, what it left out."""
        return getattr(self._windows, name)


def raising(error: Exception) -> Iterator[Window]:
    """Raise an error in place of the first window."""
    raise error
    yield


def unfollowed(found: Suggestion) -> InputError:
    """Return the error of a choice with which hardly a cluster outlives a window."""
    # The coarsest, a middle and the finest choice in numbers.
    tried = (
        f"{one.penalties.new_penalty:.4g} (beyond {found.tell(one.penalties.new_penalty)}) gives "
        f"{one.n_clusters:.3g} clusters in a window and {one.n_identities:,} identities"
        for one in found.examples
    )
    return InputError(
        "penalties",
        "'auto': with any choice clusters hardly outlive a window. Tried: {}",
        "; ".join(tried),
        hint="Give {new_penalty}, or say with {n_clusters} about how many clusters a window holds.",
    )
