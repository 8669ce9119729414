"""Space: a frozen value that maps rows to points and centers back to rows."""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Self

import numpy as np

from dynmeans.inputs.input_error import InputError
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
        Whether `to_points` rounds each operation separately, so that it gives the same bits on any
        array unchanged, on a GPU too; else rows there are mapped in memory.
    supports_velocity : bool
        Whether a velocity means something.
    is_curved : bool
        Whether courses bend: `carried` returns the position.
    centers : {"mean", "sphere"}
        Whether centers have length 1, as the points have.
    has_noise : bool
        Whether rows of zeros are noise, with the label -1, and not refused.
    usual_penalty : float, optional
        lambda where no penalties are given, in a space in which one suits most streams; without
        it, penalties are chosen from the points.
    adapts_penalty : bool
        Whether lambda is chosen on the first rows, and `usual_penalty` is only for rows that cannot
        be looked at.
    """

    name: ClassVar[str]
    unit: ClassVar[str] = ""
    is_elementwise: ClassVar[bool] = False
    supports_velocity: ClassVar[bool] = True
    is_curved: ClassVar[bool] = False
    centers: ClassVar[str] = "mean"
    has_noise: ClassVar[bool] = False
    usual_penalty: ClassVar[float | None] = None
    adapts_penalty: ClassVar[bool] = False

    @property
    def is_fitted(self) -> bool:
        """Whether rows can be mapped, or `fit` has to see the first ones before."""
        return True

    def fit(self, rows: BatchArray, weights: FloatArray | None = None) -> "Space":
        """Return this space as learned from the first rows of a stream."""
        return self

    def bind_features(self, names: Sequence[str]) -> "Space":
        """Return this space for features of these names, if it uses names."""
        return self

    @classmethod
    def from_text(cls, text: str) -> "Space":
        """Read what follows the name and a colon, as in ``cyclic:24``."""
        if text:
            raise InputError("space", f"{cls.name!r} takes no parameter", got=f"{cls.name}:{text}")
        return cls()

    def is_compatible(self, learned: "Space") -> bool:
        """Return whether `learned` may be what `fit` made of this space."""
        if self.is_fitted:
            return self == learned
        return self.name == learned.name

    def n_coordinates(self, n_features: int) -> int:
        """Return how many coordinates a point has, for rows of this many features."""
        return n_features

    def point_columns(self, features: tuple[int, ...]) -> tuple[int, ...]:
        """Return the coordinates that features become, for those who name features by number."""
        return features

    def periods(self, n_features: int) -> tuple[float | None, ...]:
        """Return after which length each feature comes round again; None where it does not."""
        return (None,) * n_features

    def lon_lat(self) -> tuple[int, int] | None:
        """Return the features that are longitude and latitude on the globe, if two are."""
        return None

    @abstractmethod
    def to_points(self, rows: Any) -> Any:
        """Return the points of rows, in the precision of the rows; refuse rows it cannot map."""

    @abstractmethod
    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return centers in the units of the rows."""

    @abstractmethod
    def velocities_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return small moves of points at `centers`, such as velocities, in units of the rows."""

    def extrapolate(self, centers: FloatArray, moves: FloatArray, elapsed: Any) -> Any:
        """Return centers and moves after this many steps of each on its course."""
        return centers + moves * np.reshape(elapsed, (-1, 1)), moves

    def format_distance(self, squared: float) -> str:
        """Format a squared distance in the unit of the space.

        >>> from dynmeans.spaces.named import find_space
        >>> find_space("geo").format_distance(144.0), find_space("raw").format_distance(9.0)
        ('12 km', 'distance 3')
        """
        distance = short_number(math.sqrt(squared))
        return f"{distance} {self.unit}" if self.unit else f"distance {distance}"

    def __eq__(self, other: object) -> bool:
        """Two are equal when all they learned is, to the bit."""
        return type(other) is type(self) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """Return the name and every field; the decimal form of a float keeps its bits."""
        learned: Any = fields(self) if is_dataclass(self) else ()
        values = {one.name: getattr(self, one.name) for one in learned}
        plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}
        return {"name": self.name, **plain}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Read what `to_json` gave."""
        return cls(**{name: known for name, known in value.items() if name != "name"})


def short_number(value: float) -> str:
    """Write a number to three digits.

    >>> short_number(1537.2), short_number(0.01234), short_number(3.0)
    ('1,540', '0.0123', '3')
    """
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.10g}" if 1e-4 <= abs(rounded) < 1e7 else f"{value:.3g}"


def map_on_device(space: Space, rows: Any) -> Any:
    """Return the points of rows in memory or on a GPU there, with the same bits."""
    numbers = array_module(rows)
    if numbers is np or space.is_elementwise:
        return numbers.ascontiguousarray(space.to_points(rows))
    return numbers.asarray(space.to_points(numbers.asnumpy(rows)))


def array_module(rows: Any) -> Any:
    """Return NumPy, or CuPy for rows on a GPU."""
    return sys.modules["cupy"] if hasattr(rows, "__cuda_array_interface__") else np


def as_same_device(rows: Any, numbers: Any) -> Any:
    """Return the numbers where the rows lie: CuPy takes no arrays from memory."""
    return array_module(rows).asarray(numbers)
