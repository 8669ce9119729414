"""LateRows: whether most of the rows that came lately came too late."""

import logging
from collections.abc import Mapping
from typing import Any

_N_LATELY = 1000  # beyond so many, older rows count less and less
_N_ENOUGH = 100

_log = logging.getLogger(__name__)


class LateRows:
    """Counts rows in time and too late, and warns each time that these become most."""

    def __init__(self, stored: Mapping[str, Any] | None = None) -> None:
        self._n_rows, self._n_late = (stored or {}).get("lately", (0, 0))
        self._is_told = late_share(stored) > 0.5

    def to_json_state(self) -> dict[str, Any]:
        """Return what a position keeps."""
        return {"lately": [self._n_rows, self._n_late]} if self._n_late else {}

    def add(self, *, is_late: bool) -> None:
        """Count a row."""
        if self._n_rows >= _N_LATELY:
            self._n_rows, self._n_late = self._n_rows // 2, self._n_late // 2
        self._n_rows += 1
        self._n_late += is_late
        told = late_warning(late_share(self.to_json_state()))
        if told is not None and not self._is_told:
            _log.warning("%s", told)
        self._is_told = told is not None


def late_share(position: Mapping[str, Any] | None) -> float:
    """Return which share of the last rows before a position came too late; 0 if they are few."""
    n_rows, n_late_rows = (position or {}).get("lately", (0, 0))
    return n_late_rows / n_rows if n_rows >= _N_ENOUGH else 0.0


def late_warning(share: float) -> str | None:
    """Return the warning if most rows came too late."""
    if share <= 0.5:
        return None
    return (
        f"most rows come too late: {share:.0%} of the last rows belong to windows that are closed. "
        "Correct the clock of the rows that are ahead of them, or start a run with a longer "
        "the allowed lateness."
    )
