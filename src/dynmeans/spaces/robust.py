"""robust: features of median 0 and quartile range 1; one odd value does not decide the unit."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.spaces.space import Space
from dynmeans.spaces.standard import Standard

# Where the middle half of a feature is constant, wider shares say how far it spreads.
_SHARES = ((0.25, 0.75), (0.1, 0.9), (0.01, 0.99), (0.0, 1.0))


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
        columns = [_middle_and_range(column, weights) for column in values.T]
        middle, spread = np.array(columns).reshape(-1, 2).T
        return Robust(middle, spread)


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
