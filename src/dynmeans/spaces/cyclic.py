"""cyclic: a feature with a period becomes a circle, without a seam."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_number
from dynmeans.records.arrays import FloatArray
from dynmeans.spaces.space import Space, array_module
from dynmeans.spaces.trigonometry import sin_and_cos

_UNITS = {24.0: "h", 360.0: "degrees", 7.0: "days", 12.0: "months", 60.0: "min", 365.25: "days"}


@dataclass(frozen=True, slots=True)
class Cyclic(Space):
    """Features with a period, each on a circle of that circumference: hours, headings, weekdays.

    Distances are chords in the unit of the feature, shorter than the arc: by 0.1 % at a fortieth of
    the period, by 10 % at a quarter.

    Examples
    --------
    >>> space = Cyclic(24.0)
    >>> points = space.to_points(np.array([[23.5], [0.5]]))
    >>> float(np.linalg.norm(points[0] - points[1]).round(2))
    1.0
    >>> space.to_rows(points).ravel().round(9).tolist()
    [23.5, 0.5]
    """

    name: ClassVar[str] = "cyclic"
    is_elementwise: ClassVar[bool] = True
    is_curved: ClassVar[bool] = True

    period: float = 360.0

    def __post_init__(self) -> None:
        """Check the period."""
        checked = check_number("period", self.period, above=0)
        object.__setattr__(self, "period", checked)

    @classmethod
    def from_text(cls, text: str) -> "Cyclic":
        """Read the period: ``cyclic:24``; 360 where none is given."""
        try:
            return cls(float(text)) if text else cls()
        except ValueError as error:
            rule = "'cyclic' takes a period above 0, as in cyclic:24"
            raise InputError("space", rule, got=f"cyclic:{text}") from error

    @property
    def unit(self) -> str:  # type: ignore[override]
        """What the period is that of, for the usual ones."""
        return _UNITS.get(self.period, "")

    def periods(self, n_features: int) -> tuple[float | None, ...]:
        """Return the period, for every feature."""
        return (self.period,) * n_features

    @property
    def _radius(self) -> float:
        return self.period / (2.0 * math.pi)

    def n_coordinates(self, n_features: int) -> int:
        """Two for each feature."""
        return 2 * n_features

    def point_columns(self, features: tuple[int, ...]) -> tuple[int, ...]:
        """Return both coordinates of each feature."""
        return tuple(2 * feature + side for feature in features for side in (0, 1))

    def to_points(self, rows: Any) -> Any:
        """Return points on circles, in the precision of the rows."""
        numbers = array_module(rows)
        around = numbers.asarray(rows, dtype=np.float64)
        around = around - self.period * numbers.floor(around / self.period)
        sin, cos = sin_and_cos(numbers, around * (1.0 / self._radius))
        both = numbers.stack((cos, sin), axis=2) * self._radius
        return both.reshape(len(rows), -1).astype(rows.dtype)

    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return angles from 0 to the period."""
        turns = np.arctan2(centers[:, 1::2], centers[:, 0::2])
        return np.asarray(np.mod(turns * self._radius, self.period))

    def velocities_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return how far the angles turn: the part of a move along the circle."""
        x, y = centers[:, 0::2], centers[:, 1::2]
        around = x * moves[:, 1::2] - y * moves[:, 0::2]
        squares = np.maximum(x * x + y * y, np.finfo(float).tiny)
        return np.asarray(around / squares * self._radius)

    def extrapolate(self, centers: FloatArray, moves: FloatArray, elapsed: Any) -> Any:
        """Turn each circle by its own speed."""
        turned = centers.copy(), moves.copy()
        for x in range(0, centers.shape[1], 2):
            pair = slice(x, x + 2)
            turned[0][:, pair], turned[1][:, pair] = rotate(
                centers[:, pair], moves[:, pair], elapsed
            )
        return turned


def rotate(centers: FloatArray, moves: FloatArray, elapsed: Any) -> tuple[FloatArray, FloatArray]:
    """Return centers and moves after `elapsed` steps on circles about the origin.

    Each keeps its distance from the origin and the speed of its move along the circle, or along
    the great circle of a sphere; the part of a move away from the origin is dropped.
    """
    lengths = np.sqrt(np.sum(centers * centers, axis=1, keepdims=True))
    lengths = np.where(lengths > 0, lengths, 1.0)
    outward = centers / lengths
    along = moves - outward * np.sum(outward * moves, axis=1, keepdims=True)
    speeds = np.sqrt(np.sum(along * along, axis=1, keepdims=True))
    ahead = along / np.where(speeds > 0, speeds, 1.0)
    turns = speeds / lengths * np.asarray(elapsed, np.float64).reshape(-1, 1)
    cosines, sines = np.cos(turns), np.sin(turns)
    places = lengths * (outward * cosines + ahead * sines)
    return places, speeds * (ahead * cosines - outward * sines)
