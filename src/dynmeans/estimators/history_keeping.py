"""Events and history of an estimator whose steps are known by their result."""

import numpy as np

from dynmeans.algorithm.life_cycle import find_events
from dynmeans.records.events import Event
from dynmeans.records.history import History
from dynmeans.records.state import Clustering, ClusterState


class HistoryKeeper:
    """Gives `events_` and `history_` to an estimator that sets `_last_step` after each batch."""

    keep_history: bool | int
    history_: History
    _last_step: tuple[ClusterState, float, Clustering, ClusterState]

    @property
    def events_(self) -> list[Event]:
        """What the last batch did to each cluster: born, moved, vanished, returned, ..."""
        if not hasattr(self, "_last_step"):
            raise AttributeError("events_ is there after the first batch; none was taken in yet.")
        return find_events(*self._last_step)

    def _record(self, window: int | None) -> None:
        """Append the last step to `history_`, where `keep_history` asks for it."""
        if self.keep_history is False:
            return
        if self._last_step[0].n_steps == 0 or not hasattr(self, "history_"):
            self.history_ = History(window)
        elif self.history_.window != window:
            self.history_ = self.history_.last(window)
        self._append_to(self.history_)

    def _append_to(self, history: History) -> None:
        history.append(*self._last_step, find_events)

    def _checked_window(self) -> int | None:
        """The number of batches to keep: None for all of them."""
        if isinstance(self.keep_history, bool):
            return None
        if not isinstance(self.keep_history, int | np.integer):
            raise TypeError(
                "keep_history must be True, False or a number of batches, "
                f"got {self.keep_history!r}."
            )
        if self.keep_history < 1:
            raise ValueError(f"keep_history must be at least 1, got {self.keep_history!r}.")
        return int(self.keep_history)
