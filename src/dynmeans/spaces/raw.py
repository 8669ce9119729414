"""raw: rows are points."""

from dataclasses import dataclass
from typing import Any, ClassVar

from dynmeans.records.arrays import FloatArray
from dynmeans.spaces.space import Space


@dataclass(frozen=True, slots=True)
class Raw(Space):
    """Rows as they are."""

    name: ClassVar[str] = "raw"
    is_elementwise: ClassVar[bool] = True

    def to_points(self, rows: Any) -> Any:
        """Return the rows."""
        return rows

    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return the centers."""
        return centers

    def velocities_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return the moves."""
        return moves


RAW = Raw()
