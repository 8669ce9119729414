"""The first windows of a source: looked at before the first step, and then read on from there."""

import logging
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import check_features
from dynmeans.follow.begin import OnChoice, begin, tell_choice
from dynmeans.follow.memory import Memory
from dynmeans.follow.recipe import Recipe
from dynmeans.parameters.suggest import N_BATCHES, N_POINTS
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
    return begin(
        config.recipe,
        [_batch_of(window, len(config.features)) for window in first],
        [window.elapsed for window in first],
        feature_names=config.features,
        on_choice=on_choice,
        batch_word="window",
    )


def _batch_of(window: Window, n_features: int) -> Batch:
    """Return the rows of a window; none of texts, which nothing is learned from beforehand."""
    if window.texts is not None:
        return Batch(np.zeros((0, n_features)), None)
    check_features(window.points.shape[1], n_features)
    return Batch(window.points, window.weights)


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
