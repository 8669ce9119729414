"""Scaling: a mean and a spread for each feature, learned once and kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.records.arrays import BatchArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """x becomes (x - mean) / spread, feature by feature.

    Examples
    --------
    >>> scaling = Scaling.learned([np.array([[0.0, 5.0], [4.0, 5.0]])])
    >>> scaling.mean.tolist(), scaling.spread.tolist()  # a constant keeps its unit
    ([2.0, 5.0], [2.0, 1.0])
    >>> scaling.restore(scaling.apply(np.array([[6.0, 7.0]]))).tolist()
    [[6.0, 7.0]]
    """

    mean: FloatArray
    spread: FloatArray

    @classmethod
    def learned(cls, windows: Sequence[BatchArray]) -> "Scaling":
        """Take mean and standard deviation over all rows of the windows."""
        points = np.concatenate([np.asarray(window, dtype=np.float64) for window in windows])
        spread = points.std(axis=0)
        return cls(points.mean(axis=0), np.where(spread > 0, spread, 1.0))

    def apply(self, points: BatchArray) -> BatchArray:
        """Return standardized points, in the precision they came in."""
        scaled = (points - self.mean) / self.spread
        return scaled.astype(np.float32) if points.dtype == np.float32 else scaled

    def restore(self, centers: FloatArray) -> FloatArray:
        """Return standardized centers in the units of the source."""
        return centers * self.spread + self.mean

    def to_json(self) -> dict[str, Any]:
        """Return lists of numbers; a float's decimal form brings back its very bits."""
        return {"mean": self.mean.tolist(), "spread": self.spread.tolist()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Scaling":
        """Read what `to_json` gave."""
        return cls(np.array(value["mean"]), np.array(value["spread"]))
