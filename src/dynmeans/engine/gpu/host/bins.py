"""Reproducible summation in bins (Demmel and Nguyen): the host's side of sums without an order.

Terms are rounded to a unit of the batch and added exactly, in bins that are each wide enough for
all terms (decision 0006). A device may add them by atomics, in any order, and take them out again:
the bits of the total are those of `dynmeans.algorithm.sums`.
"""

import math
from dataclasses import dataclass

import numpy as np

from dynmeans.algorithm.sums import COORDINATE_BITS, SQUARE_BITS
from dynmeans.records.arrays import FloatArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

_MIN_EXPONENT, _MAX_EXPONENT = -1074, 960


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """The largest coordinate of each feature and the range of the weights, over the rows."""

    farthest: FloatArray
    lightest: float
    heaviest: float


@dataclass(frozen=True, slots=True)
class BatchBins:
    """How the sums of one batch are taken."""

    # (n_bins, n_columns); for each bin, the coarsest first, what is added and taken away again to
    # round a term. The columns are w, where points have weights, then w y of each feature, then
    # w |y|^2 and what its rounding lost.
    columns: FloatArray
    has_weights: bool  # Whether there is a column for w


def bins_of_batch(
    magnitudes: Magnitudes,
    n_points: int,
    has_weights: bool,
    state: ClusterState,
    penalties: Penalties,
) -> BatchBins:
    """Choose the bins from the rows that take part and from the remembered centers."""
    remembered = np.abs(state.centers).max(axis=0, initial=0.0)
    farthest = np.maximum(magnitudes.farthest, remembered)
    all_together = Magnitudes(farthest, magnitudes.lightest, magnitudes.heaviest)
    return choose_bins(all_together, n_points, has_weights, penalties.new_penalty)


def choose_bins(
    magnitudes: Magnitudes, n_points: int, has_weights: bool, new_penalty: float
) -> BatchBins:
    """Choose the bins from the magnitudes of rows and remembered centers together."""
    farthest, heaviest = magnitudes.farthest, magnitudes.heaviest
    lightest = magnitudes.lightest if math.isfinite(magnitudes.lightest) else 1.0
    reach, widest = math.sqrt(new_penalty), float(farthest.max(initial=0.0))
    columns = [(heaviest, _unit_exponent(lightest, COORDINATE_BITS))] if has_weights else []
    with np.errstate(over="ignore"):
        for y in farthest:
            unit = _unit_exponent(lightest * min(reach, float(y)), COORDINATE_BITS)
            columns.append((float(heaviest * y), unit))
        least = lightest * min(new_penalty, float(np.float64(widest) * widest))
        largest = float(1.001 * (heaviest * (len(farthest) * (np.float64(widest) * widest))))
    unit = _unit_exponent(least, SQUARE_BITS)
    columns += [(largest, unit), (largest * ((len(farthest) + 8.0) * 2.0**-51), unit)]
    return BatchBins(_shifts(n_points, columns), has_weights)


def _unit_exponent(least: float, n_bits: int) -> int:
    """Exponent of `least` / 2**n_bits, rounded down to a power of two."""
    if not least > 0.0:
        return _MIN_EXPONENT
    return max(math.frexp(least)[1] - 1 - n_bits, _MIN_EXPONENT)


def _shifts(n_terms: int, columns: list[tuple[float, int]]) -> FloatArray:
    """1.5 * 2**52 units of each bin and column: (x + shift) - shift is x in whole units."""
    p = max(n_terms - 1, 0).bit_length()
    n_bins = max((_count_bins(largest, unit, p) for largest, unit in columns), default=1)
    shifts = np.empty((n_bins, len(columns)))
    for c, (_, unit) in enumerate(columns):
        for b in range(n_bins):
            exponent = min(unit + (n_bins - 1 - b) * (52 - p), _MAX_EXPONENT)
            shifts[b, c] = math.ldexp(1.5, 52 + exponent)
    return shifts


def _count_bins(largest: float, unit: int, p: int) -> int:
    if not largest > 0.0:
        return 1
    exponent = math.frexp(largest)[1] if math.isfinite(largest) else _MAX_EXPONENT
    exponent = min(exponent, _MAX_EXPONENT - 60)
    n_bins = 1
    while unit < exponent + p - 51:
        n_bins, unit = n_bins + 1, unit + 52 - p
    return n_bins
