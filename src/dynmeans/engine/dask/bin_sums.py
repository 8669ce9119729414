"""Sums over pieces of a batch: bins that are merged by adding them, in any order."""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.messages import PieceInfo, SlotBins
from dynmeans.records.arrays import BatchArray, FloatArray

SumArrays = tuple[FloatArray, float, float, int, bool, float]  # as the compiled module takes them


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """The largest coordinate of each feature and the range of the weights: units follow from it."""

    farthest: FloatArray
    lightest: float
    heaviest: float
    has_weights: bool

    @classmethod
    def of(cls, info: PieceInfo, points: BatchArray, weights: FloatArray | None) -> "Magnitudes":
        """Look at one piece."""
        rows = slice(*info.rows)
        found = compiled.magnitudes(points[rows], None if weights is None else weights[rows])
        return cls(*found, weights is not None)

    @classmethod
    def merged(cls, parts: "list[Magnitudes]") -> "Magnitudes":
        """Those of the whole batch."""
        return cls(
            np.max([part.farthest for part in parts], axis=0),
            min(part.lightest for part in parts),
            max(part.heaviest for part in parts),
            parts[0].has_weights,
        )

    def sums(self, centers: FloatArray, n_rows: int, new_penalty: float) -> SumArrays:
        """How the sums of a batch are taken, given the remembered centers."""
        farthest = np.maximum(self.farthest, np.abs(centers).max(axis=0, initial=0.0))
        return farthest, self.lightest, self.heaviest, n_rows, self.has_weights, new_penalty


def add_bins(parts: list[SlotBins]) -> FloatArray:
    """Merge the sums of all workers."""
    return reduce(np.add, [part.bins for part in parts])
