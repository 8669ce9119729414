"""LateRows: whether most of the rows that came lately came too late."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_N_LATELY = 1000  # beyond so many, older rows count less and less
_N_ENOUGH = 100

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LateRows:
    """How many rows came lately, and how many of them too late; a value."""

    n_rows: int = 0
    n_late_rows: int = 0

    @classmethod
    def from_stored(cls, position: Mapping[str, Any] | None) -> "LateRows":
        """Read what a position keeps."""
        return cls(*(position or {}).get("lately", (0, 0)))

    def to_json_state(self) -> dict[str, Any]:
        """Return what a position keeps."""
        return {"lately": [self.n_rows, self.n_late_rows]} if self.n_late_rows else {}

    @property
    def share(self) -> float:
        """Which share of the last rows came too late; 0 if they are few."""
        return self.n_late_rows / self.n_rows if self.n_rows >= _N_ENOUGH else 0.0

    def add(self, *, is_late: bool) -> "LateRows":
        """Count a row; older rows count half once there are many."""
        half = 2 if self.n_rows >= _N_LATELY else 1
        return LateRows(self.n_rows // half + 1, self.n_late_rows // half + is_late)


def warn_if_mostly_late(before: LateRows, after: LateRows) -> None:
    """Log a warning each time that late rows become most of the last rows."""
    if after.n_late_rows > before.n_late_rows and before.share <= 0.5 < after.share:
        _log.warning("%s", late_warning(after.share))


def late_share(position: Mapping[str, Any] | None) -> float:
    """Return which share of the last rows before a position came too late; 0 if they are few."""
    return LateRows.from_stored(position).share


def late_warning(share: float) -> str | None:
    """Return the warning if most rows came too late."""
    if share <= 0.5:
        return None
    return (
        f"most rows are late: {share:.0%} of the last rows belong to closed windows. "
        "Correct the clock of the rows that are ahead of them, or set a larger allowed lateness "
        "in a new run."
    )
