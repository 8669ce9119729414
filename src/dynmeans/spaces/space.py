"""Space: a frozen value that maps rows to points and centers back to rows."""

import sys
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from dynmeans.records.arrays import BatchArray, FloatArray


class Space(ABC):
    """A map between the user's rows and the points that are clustered.

    The engine stays Euclidean: what a distance means is decided here. A space is a value; `fit`
    returns another one, which knows what it learned.

    Attributes
    ----------
    name : str
        What it is called in `space=...`, in files and in messages.
    unit : str
        What a distance between two points means; empty for the unit of the data.
    is_elementwise : bool
        Whether `to_points` is plain arithmetic on columns, so that it works on any array as it is:
        in memory, on a GPU, in the chunks of a Dask array.
    """

    name: ClassVar[str]
    unit: ClassVar[str] = ""
    is_elementwise: ClassVar[bool] = False

    @property
    def is_fitted(self) -> bool:
        """Whether rows can be mapped, or `fit` has to see the first ones before."""
        return True

    def fit(self, rows: BatchArray, weights: FloatArray | None = None) -> "Space":
        """Return this space as learned from the first rows of a stream."""
        return self

    def could_become(self, learned: "Space") -> bool:
        """Say whether `learned` may be what `fit` made of this space."""
        if self.is_fitted:
            return self == learned
        return self.name == learned.name

    def n_coordinates(self, n_features: int) -> int:
        """Return how many coordinates a point has, for rows of so many features."""
        return n_features

    def coordinates_of(self, features: tuple[int, ...]) -> tuple[int, ...]:
        """Return the coordinates that features become, for those who name features by number."""
        return features

    @abstractmethod
    def to_points(self, rows: Any) -> Any:
        """Return the points of rows, in the precision of the rows; refuse rows it cannot map."""

    @abstractmethod
    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return centers in the units of the rows."""

    @abstractmethod
    def moves_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return small moves of points at `centers`, such as velocities, in units of the rows."""

    def to_json(self) -> dict[str, Any]:
        """Return the space with all it learned; the decimal form of a float keeps its bits."""
        return {"name": self.name}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Read what `to_json` gave."""
        return cls()


def beside(rows: Any, numbers: Any) -> Any:
    """Return the numbers where the rows lie: CuPy takes no arrays from memory."""
    is_on_gpu = hasattr(rows, "__cuda_array_interface__")
    return sys.modules["cupy"].asarray(numbers) if is_on_gpu else numbers
