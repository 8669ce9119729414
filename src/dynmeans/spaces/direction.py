"""direction: rows divided by their length, so that only the angle between them counts."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray
from dynmeans.spaces.space import Space


@dataclass(frozen=True, slots=True)
class Direction(Space):
    """x becomes x / |x|: text and image embeddings, shares, anything compared by its cosine.

    Exact: the squared distance of two points is 2 - 2 cos of the angle between the rows.

    Examples
    --------
    >>> space = Direction()
    >>> space.to_points(np.array([[3.0, 4.0]])).tolist()
    [[0.6, 0.8]]
    >>> space.tell(1.2)
    'cosine 0.4'
    """

    name: ClassVar[str] = "direction"
    unit: ClassVar[str] = "chord of unit vectors"
    has_courses: ClassVar[bool] = False

    def to_points(self, rows: Any) -> Any:
        """Return unit rows, in the precision they came in; a row of zeros has no direction."""
        # Scaled by the largest value first: squares of very small or large ones stay in range.
        largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
        if np.any(largest == 0):
            row = int(np.argmin(largest))
            raise InputError(
                "space",
                "'direction' needs rows that are not all zeros; row {} is",
                row,
                hint="Leave such rows out: they point nowhere.",
            )
        scaled = rows / largest
        # Not by einsum: the order of its additions depends on the processor.
        return scaled / np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))

    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return centers of length 1; one in the middle of all directions stays where it is."""
        lengths = np.sqrt(np.sum(np.square(centers), axis=1, keepdims=True))
        return np.asarray(centers / np.where(lengths > 0, lengths, 1.0))

    def moves_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return the moves as they are: points are unit rows."""
        return moves

    def tell(self, squared: float) -> str:
        """Say the cosine between rows at this squared distance."""
        return f"cosine {1.0 - 0.5 * min(squared, 4.0):.3g}"
