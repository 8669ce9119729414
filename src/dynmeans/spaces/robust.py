"""robust: features of median 0 and quartile range 1; one odd value does not decide the unit."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.spaces.space import Space
from dynmeans.spaces.standard import Standard, quartiles


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
