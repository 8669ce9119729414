"""cosine: rows divided by their length, and centers of length 1: only angles count."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_count, check_finite_array
from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.spaces.space import Space

_MAX_ROWS = 10_000  # that axes are learned on
_AT_ONCE = 2**16  # values
_GRID = 2.0**24  # coarser than what processors differ in


@dataclass(frozen=True, slots=True)
class Cosine(Space):
    """x becomes x / |x|: text and image embeddings, shares, anything compared by its cosine.

    Exact: the squared distance of two points is 2 - 2 cos of the angle between the rows. Centers
    have length 1 too (decision 0019). Without penalties, the cosine below which a row starts a
    cluster is chosen on the first rows (decision 0026). ``cosine:centered`` subtracts the mean of
    the first rows, which the vectors of neural models have in common. With
    `n_axes`, as in ``cosine:30``, unit rows are seen on their leading axes, as learned on the
    first rows, and are unit rows there: what embeddings of hundreds of features need.

    Examples
    --------
    >>> space = Cosine()
    >>> space.to_points(np.array([[3.0, 4.0]])).tolist()
    [[0.6, 0.8]]
    >>> space.format_distance(1.2)
    'cosine 0.4'
    >>> rows = np.random.default_rng(0).normal(size=(50, 100)) + 5 * np.eye(2, 100)[[0, 1] * 25]
    >>> Cosine(n_axes=2).fit(rows).to_points(rows).shape
    (50, 2)
    """

    name: ClassVar[str] = "cosine"
    unit: ClassVar[str] = "chord of unit vectors"
    supports_velocity: ClassVar[bool] = False
    centers: ClassVar[str] = "sphere"
    usual_penalty: ClassVar[float | None] = 2.0 * (1.0 - 0.3)
    adapts_penalty: ClassVar[bool] = True

    n_axes: int | None = None
    axes: tuple[tuple[float, ...], ...] | None = None  # for each feature, its part in each axis
    is_centered: bool = False
    mean: tuple[float, ...] | None = None  # of unit rows, where it is taken off

    def __post_init__(self) -> None:
        """Check the number of axes, and what was learned."""
        if self.n_axes is not None:
            check_count("n_axes", self.n_axes)
        if not isinstance(self.is_centered, bool):
            raise TypeError(f"is_centered must be True or False, got {self.is_centered!r}.")
        if self.axes is not None:
            axes = check_finite_array("axes", self.axes, 2)
            if self.n_axes is None or axes.shape[1] > self.n_axes:
                rule = "must have at most {n_axes} columns; there are {}"
                raise InputError("axes", rule, axes.shape[1])
            object.__setattr__(self, "axes", tuple(map(tuple, axes.tolist())))
        if self.mean is not None:
            mean = check_finite_array("mean", self.mean, 1)
            object.__setattr__(self, "mean", tuple(mean.tolist()))

    @classmethod
    def from_text(cls, text: str) -> "Cosine":
        """Read the number of axes, ``cosine:30``, or ``cosine:centered``."""
        if text == "centered":
            return cls(is_centered=True)
        if text and not text.isdecimal():
            rule = "'cosine' takes a number of axes, as in cosine:30, or cosine:centered"
            raise InputError("space", rule, got=f"cosine:{text}")
        return cls(int(text) if text else None)

    @property
    def is_fitted(self) -> bool:
        """Whether axes and mean are known, if they are requested."""
        has_axes = self.n_axes is None or self.axes is not None
        return has_axes and (self.mean is not None or not self.is_centered)

    def fit(self, rows: BatchArray, weights: FloatArray | None = None) -> Space:
        """Learn the leading axes of unit rows."""
        if self.is_fitted:
            return self
        first = np.unique(np.asarray(rows, np.float64), axis=0)  # the same in any order of rows
        unit = unit_rows(first[:: -(-len(first) // _MAX_ROWS)])
        if self.is_centered:
            mean = np.round(unit.mean(axis=0) * _GRID) / _GRID
            return type(self)(is_centered=True, mean=mean.tolist())
        assert self.n_axes is not None
        _, vectors = np.linalg.eigh(unit.T @ unit)
        axes = vectors[:, ::-1][:, : self.n_axes]
        largest = np.abs(axes).argmax(axis=0)
        axes = axes * np.sign(axes[largest, np.arange(axes.shape[1])])
        kept = (np.round(axes * _GRID) / _GRID).tolist()
        return Cosine(self.n_axes, kept)

    def n_coordinates(self, n_features: int) -> int:
        """One for each axis, or for each feature."""
        return n_features if self.axes is None else len(self.axes[0])

    def to_points(self, rows: Any) -> Any:
        """Return unit rows, in the precision they came in; a row of zeros has no direction."""
        points = unit_rows(rows)
        if self.mean is not None:
            return unit_rows(points - np.array(self.mean, points.dtype))
        if self.axes is None:
            return points
        seen = np.zeros((len(points), len(self.axes[0])))
        for column, parts in zip(points.T, np.array(self.axes), strict=True):
            seen += column[:, None] * parts  # in a fixed order: BLAS has none
        return unit_rows(seen).astype(points.dtype)

    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return centers of length 1; one in the middle of all directions stays where it is."""
        if self.mean is not None:  # at the usual distance from it
            mean = np.array(self.mean)
            centers = mean + centers * np.sqrt(max(1.0 - float(mean @ mean), 0.0))
        if self.axes is not None:
            centers = centers @ np.array(self.axes).T
        lengths = np.sqrt(np.sum(np.square(centers), axis=1, keepdims=True))
        return np.asarray(centers / np.where(lengths > 0, lengths, 1.0))

    def velocities_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return the moves as they are, in the features: points are unit rows."""
        return moves if self.axes is None else np.asarray(moves @ np.array(self.axes).T)

    def format_distance(self, squared: float) -> str:
        """Return the cosine between rows at this squared distance; opposite is the farthest."""
        if squared >= 4.0:
            return "the opposite direction"
        return f"cosine {1.0 - 0.5 * squared:.3g}"


@dataclass(frozen=True, slots=True)
class Words(Cosine):
    """The space of vectors of words: `Cosine`, where a cosine below 0.15 starts a cluster.

    Two short texts on one topic share few words; what distinguishes them is that most texts
    share none. A row of zeros, which is a text without a word, is noise: its label is -1.

    Examples
    --------
    >>> Words().format_distance(Words.usual_penalty)
    'cosine 0.15'
    """

    name: ClassVar[str] = "words"
    has_noise: ClassVar[bool] = True
    usual_penalty: ClassVar[float | None] = 2.0 * (1.0 - 0.15)
    adapts_penalty: ClassVar[bool] = False


def unit_rows(rows: Any) -> Any:
    """Return rows of length 1, in the precision they came in; refuse one of zeros."""
    n = len(rows) if not isinstance(rows, np.ndarray) else 1 + _AT_ONCE // max(rows.shape[1], 1)
    if len(rows) <= n:
        return _unit_block(rows, 0)
    units = np.empty(rows.shape, np.result_type(rows, np.float32))
    for first in range(0, len(rows), n):  # the cache holds a block, and RAM no second copy
        units[first : first + n] = _unit_block(rows[first : first + n], first)
    return units


def _unit_block(rows: Any, first: int) -> Any:
    # Scaled by the largest value first: squares of very small or large ones stay in range.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    if np.any(largest == 0):
        row = first + int(np.argmin(largest))
        raise InputError(
            "space",
            "'cosine' needs rows that are not all zeros; row {} is",
            row,
            hint="Remove such rows: they have no direction.",
        )
    scaled = rows / largest
    # Not by einsum: the order of its additions depends on the processor.
    return scaled / np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
