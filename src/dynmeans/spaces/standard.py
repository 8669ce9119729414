"""standard, robust, auto: features of middle 0 and spread 1, always or where spreads are unlike."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.spaces.raw import RAW
from dynmeans.spaces.space import Space, as_same_device

# A feature whose spread is this many times another's leaves the other no say in a distance.
MAX_RATIO = 10.0
OUTLIER_FACTOR = 1000.0  # times the middle half: no value that belongs to the others
FEW = 0.01  # of the values: more are no accident
# Where the middle half of a feature is constant, wider shares say how far it spreads.
_SHARES = ((0.25, 0.75), (0.1, 0.9), (0.01, 0.99), (0.0, 1.0))
_BITS = 36


@dataclass(frozen=True, slots=True, eq=False)
class Standard(Space):
    """x becomes (x - mean) / spread, feature by feature (decision 0331).

    Examples
    --------
    >>> space = Standard().fit(np.array([[0.0, 5.0], [4.0, 5.0]]))
    >>> space.mean.tolist(), space.spread.tolist()  # a constant keeps its unit
    ([2.0, 5.0], [2.0, 1.0])
    >>> space.to_rows(space.to_points(np.array([[6.0, 7.0]]))).tolist()
    [[6.0, 7.0]]
    """

    name: ClassVar[str] = "standard"
    unit: ClassVar[str] = "standard deviations"
    is_elementwise: ClassVar[bool] = True

    mean: Any = None
    spread: Any = None

    def __post_init__(self) -> None:
        """Check that points can be brought to the new units and back."""
        if self.mean is None and self.spread is None:
            return
        for name in ("mean", "spread"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        mean, spread = self.mean, self.spread
        if mean.ndim != 1 or mean.shape != spread.shape:
            raise ValueError(
                "mean and spread must have one value for each feature, got shapes "
                f"{mean.shape} and {spread.shape}."
            )
        if not (np.isfinite(mean).all() and np.isfinite(spread).all()):
            raise ValueError("mean and spread must be finite, got NaN or infinity.")
        if np.any(spread <= 0):
            raise ValueError(f"spread must be greater than 0, got {spread}.")

    @property
    def is_fitted(self) -> bool:
        """Whether mean and spread are known."""
        return self.mean is not None

    def fit(self, rows: BatchArray, weights: FloatArray | None = None) -> Space:
        """Learn mean and spread; a feature that is constant keeps its unit.

        A value a thousand times as far out as the middle half of its feature is ignored.
        """
        mean, spread = mean_and_spread(rows, weights)
        return Standard(mean, np.where(spread > 0, spread, 1.0))

    def to_points(self, rows: Any) -> Any:
        """Return standardized rows, in the precision they came in."""
        mean, spread = (as_same_device(rows, numbers) for numbers in (self.mean, self.spread))
        points = (rows - mean) / spread
        return points.astype(np.float32) if rows.dtype == np.float32 else points

    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return standardized centers in the units of the rows."""
        return np.asarray(centers * self.spread + self.mean)

    def velocities_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return standardized moves in the units of the rows."""
        return np.asarray(moves * self.spread)


@dataclass(frozen=True, slots=True, eq=False)
class Robust(Standard):
    """x becomes (x - median) / (third quartile - first quartile), feature by feature.

    Examples
    --------
    >>> rows = np.array([[1.0], [2.0], [3.0], [4.0], [1e9]])
    >>> space = Robust().fit(rows)
    >>> space.mean.tolist(), space.spread.tolist()
    ([3.0], [2.0])
    """

    name: ClassVar[str] = "robust"
    unit: ClassVar[str] = "quartile ranges"

    def fit(self, rows: BatchArray, weights: FloatArray | None = None) -> Space:
        """Learn medians and quartiles; a feature that is constant keeps its unit."""
        values = np.asarray(rows, np.float64)
        weights = np.ones(len(values)) if weights is None else weights
        return Robust(*quartiles(values, weights))


@dataclass(frozen=True, slots=True)
class Auto(Space):
    """`standard` where one feature spreads more than ten times as far as another, else `raw`.

    Examples
    --------
    >>> rows = np.array([[0.0, 5.0], [4.0, 5.0], [8.0, 5.3]])
    >>> Auto().fit(rows).name, Auto().fit(rows[:, :1]).name
    ('standard', 'raw')
    """

    name: ClassVar[str] = "auto"

    @property
    def is_fitted(self) -> bool:
        """False: the first rows decide which space it is."""
        return False

    def fit(self, rows: BatchArray, weights: FloatArray | None = None) -> Space:
        """Choose between the two by the spreads of the features."""
        _, spread = mean_and_spread(rows, weights)
        known = spread[spread > 0]
        if len(known) < 2 or known.max() <= MAX_RATIO * known.min():
            return RAW
        return Standard().fit(rows, weights)

    def is_compatible(self, learned: Space) -> bool:
        """Return whether `learned` is one of the two, or nothing was learned yet."""
        return learned.name in (RAW.name, Standard.name, self.name)

    def to_points(self, rows: Any) -> Any:
        """Refuse: `fit` decides the space first."""
        raise ValueError("space 'auto' maps nothing before fit() has chosen.")

    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Refuse, as `to_points`."""
        return np.asarray(self.to_points(centers))

    def velocities_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Refuse, as `to_points`."""
        return np.asarray(self.to_points(moves))


def mean_and_spread(
    rows: BatchArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return numbers that no order of the rows can change, nor a row that comes twice or weighs 2.

    Sums are exact, and what the products in them lose is rounded away.
    """
    points = np.asarray(rows, np.float64)
    weights = np.ones(len(points)) if weights is None else weights
    is_odd = find_outliers(points, *quartiles(points, weights))
    is_odd &= weights @ is_odd <= FEW * weights.sum()
    shares = np.where(is_odd, 0.0, weights[:, None])
    totals = _sums(shares)
    mean = _round(_sums(points * shares) / totals)
    squares = (points - mean) ** 2 * shares
    return mean, _round(np.sqrt(_sums(squares) / totals))


def quartiles(points: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the median of each feature and how far its middle half spreads."""
    columns = [_middle_and_range(column, weights) for column in points.T]
    middle, spread = np.array(columns).reshape(-1, 2).T
    return middle, spread


def find_outliers(points: Any, middle: FloatArray, spread: FloatArray) -> Any:
    """Return which values lie so far out that they must not decide a unit, a scale or a mean."""
    return np.abs(points - middle) > OUTLIER_FACTOR * spread


def _middle_and_range(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    order = np.argsort(values, kind="stable")
    values, below = values[order], np.cumsum(weights[order])

    def quantile(share: float) -> float:
        # The least value with so much weight at or below it: a row of weight 2 is two rows.
        return float(values[min(np.searchsorted(below, share * below[-1]), len(values) - 1)])

    for low, high in _SHARES:
        spread = quantile(high) - quantile(low)
        if spread > 0:
            return quantile(0.5), spread
    return quantile(0.5), 1.0


def _sums(terms: FloatArray) -> FloatArray:
    return np.array([math.fsum(column) for column in terms.T.tolist()])


def _round(values: FloatArray) -> FloatArray:
    fractions, exponents = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(fractions, _BITS)), exponents - _BITS))
