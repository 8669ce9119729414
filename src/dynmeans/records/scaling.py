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

    def __post_init__(self) -> None:
        """Check that points can be brought to the new units and back."""
        for name in ("mean", "spread"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.mean.ndim != 1 or self.mean.shape != self.spread.shape:
            raise ValueError(
                "mean and spread must have one value for each feature, got shapes "
                f"{self.mean.shape} and {self.spread.shape}."
            )
        if not (np.isfinite(self.mean).all() and np.isfinite(self.spread).all()):
            raise ValueError("mean and spread must be finite, got NaN or infinity.")
        if np.any(self.spread <= 0):
            raise ValueError(f"spread must be greater than 0, got {self.spread}.")

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

    def __eq__(self, other: object) -> bool:
        """Two are equal when their numbers are, to the bit."""
        if not isinstance(other, Scaling):
            return NotImplemented
        return np.array_equal(self.mean, other.mean) and np.array_equal(self.spread, other.spread)

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """Return lists of numbers; a float's decimal form brings back its very bits."""
        return {"mean": self.mean.tolist(), "spread": self.spread.tolist()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Scaling":
        """Read what `to_json` gave."""
        return cls(np.array(value["mean"]), np.array(value["spread"]))
