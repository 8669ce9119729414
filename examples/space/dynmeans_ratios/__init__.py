"""ratios: positive features by their logarithms, so that 1 and 2 are as far apart as 10 and 20."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray
from dynmeans.spaces.space import Space


@dataclass(frozen=True, slots=True)
class Ratios(Space):
    """x becomes log2(x): a distance of 1 is a factor of 2."""

    name: ClassVar[str] = "ratios"
    unit: ClassVar[str] = "doublings"

    def to_points(self, rows: Any) -> Any:
        """Return logarithms; only positive rows have them."""
        if np.any(rows <= 0):
            raise InputError("space", "'ratios' needs values above 0", got=float(np.min(rows)))
        return np.log2(rows).astype(rows.dtype)

    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return centers in the unit of the rows: geometric means."""
        return np.asarray(np.exp2(centers))

    def velocities_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return small moves in the unit of the rows."""
        return np.asarray(moves * np.log(2.0) * np.exp2(centers))
