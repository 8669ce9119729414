"""The first windows of a source: looked at before the first step, and then read on from there."""

import logging
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import check_features
from dynmeans.follow.init_memory import OnSuggestion, begin, log_suggestion
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import ModelConfig
from dynmeans.parameters.selection import N_BATCHES, N_POINTS
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.spaces.named import find_space

_log = logging.getLogger(__name__)
_SECONDS = 30.0  # between two words about a choice that waits


def needs_warm_up(model_config: ModelConfig) -> bool:
    """Return whether space or penalties are learned from the first windows."""
    return model_config.is_auto or not find_space(model_config.space).is_fitted


def read_warm_up(windows: Iterable[Window], taken: list[Window] | None = None) -> list[Window]:
    """Add the first 30 windows that have points, and more up to 4,000 points, to `taken`."""
    taken = [] if taken is None else taken
    n_filled = n_points = 0
    last = time.monotonic()
    for window in windows:
        taken.append(window)
        n_filled += window.n_points > 0
        n_points += window.n_points
        if time.monotonic() - last > _SECONDS:  # a live source
            message = "choosing parameters: %d of %d windows, %d of %d rows buffered."
            _log.warning(message, n_filled, N_BATCHES, n_points, N_POINTS)
            last = time.monotonic()
        if n_filled >= N_BATCHES and n_points >= N_POINTS:
            break
    return taken


def initial_memory(
    config: RunConfig, first: Sequence[Window], on_suggestion: OnSuggestion = log_suggestion
) -> Memory:
    """Return the memory before the first window, learned from these windows.

    Vectors on the sphere are shown in as many groups as `n_clusters`; lambda does not depend on it.
    """
    model_config = config.model_config
    if find_space(model_config.space).adapts_penalty:
        model_config = replace(model_config, n_clusters=None)
    return begin(
        model_config,
        [_batch_of(window, len(config.features)) for window in first],
        [window.elapsed for window in first],
        feature_names=config.features,
        on_suggestion=on_suggestion,
        batch_noun="window",
    )


def _batch_of(window: Window, n_features: int) -> Batch:
    """Return the rows of a window; none of texts, which nothing is learned from beforehand."""
    if window.texts is not None:
        return Batch(np.zeros((0, n_features)), None)
    check_features(window.points.shape[1], n_features)
    return Batch(window.points, window.weights)


class BufferedWindows:
    """Windows of which the `first` were read, to be read again; iterate over it once.

    With `is_live` rows are gone once they are read: an `error` then waits until the windows before
    it are processed, as it does where nothing is read ahead.
    """

    def __init__(self, windows: Any, *, is_live: bool) -> None:
        self._windows, self._rest = windows, iter(windows)
        self.first: list[Window] = []
        self.error: ValueError | None = None
        try:
            read_warm_up(self._rest, taken=self.first)
        except ValueError as error:
            if not (is_live and self.first):
                raise
            self.error, self._rest = error, raise_on_first_read(error)

    def __iter__(self) -> Iterator[Window]:
        """Yield all windows; those read ahead are not kept any longer."""
        first, self.first = deque(self.first), []
        while first:
            yield first.popleft()
        yield from self._rest

    def __getattr__(self, name: str) -> Any:
        """Return attributes of the source: its position, its dropped rows."""
        return getattr(self._windows, name)


def raise_on_first_read(error: Exception) -> Iterator[Window]:
    """Raise an error instead of the first window."""
    raise error
    yield
