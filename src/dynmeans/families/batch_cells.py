"""Some batches: what each identity has in each of them, and which pairs are near each other."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from scipy.spatial import cKDTree

from dynmeans.records.arrays import FloatArray, IntArray

_N_NEAREST = 6
_MAX_NUMBERS = 2**22  # of projections held at once
_FEW_FEATURES = 8  # that have few products of two
_MANY_ROWS = 24  # of a cell that is projected by itself


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A cell is what one identity has in one batch; cells are sorted by batch and identity."""

    # batches, ids, counts, means, squares: batch, identity, points, mean, and squared distances
    # from it, summed. Of the points `kept` are at hand and stand for all.
    batches: IntArray
    ids: IntArray
    counts: FloatArray
    means: FloatArray
    squares: FloatArray
    kept: FloatArray
    starts: IntArray  # (n_cells,); first row of each cell
    residuals: FloatArray  # (n_rows, n_features); rows less the mean of their cell

    @classmethod
    def gather(
        cls, rows: FloatArray, labels: IntArray, counts: IntArray, batches: IntArray
    ) -> "Cells":
        """Sum up rows in order of batch and label; `counts` are the points of each row's cell."""
        is_first = (labels[1:] != labels[:-1]) | (batches[1:] != batches[:-1])
        starts = np.flatnonzero(np.append(True, is_first))
        n_kept = np.diff(np.append(starts, len(labels)))
        means = np.add.reduceat(rows, starts) / n_kept[:, None]
        residuals = rows - means.repeat(n_kept, axis=0)
        squares = np.add.reduceat(np.einsum("ij,ij->i", residuals, residuals), starts)
        points, kept = counts[starts].astype(np.float64), n_kept.astype(np.float64)
        squares *= _scale(points, kept)
        return cls(
            *(batches[starts], labels[starts], points, means, squares),
            *(kept, starts, residuals),
        )

    @property
    def scale(self) -> FloatArray:
        """By what a sum over the present rows is multiplied to stand for all points."""
        return _scale(self.counts, self.kept)


@dataclass(frozen=True, slots=True, eq=False)
class NearPairs:
    """Pairs of cells of one batch of which one is among the nearest of the other."""

    # weight n n'/(n + n'); weight x squared distance; weight/n and weight/n', the part of the
    # distance that is sampling error; batches; scatter along the line between the means, and the
    # points that are free for it.
    COLUMNS: ClassVar = ("weight", "distance", "error", "other_error", "together", "along", "free")

    ids: IntArray  # (n_pairs, 2); the two identities, the smaller first
    values: FloatArray  # (n_pairs, 7); A column for each of `COLUMNS`

    @classmethod
    def gather(cls, cells: Cells) -> "NearPairs":
        """Find the pairs and measure them."""
        first, second = _nearest_pairs(cells)
        if not len(first):
            return cls(np.empty((0, 2), dtype=np.int64), np.empty((0, len(cls.COLUMNS))))
        gaps = cells.means[first] - cells.means[second]
        distances = np.einsum("pd,pd->p", gaps, gaps)
        units = gaps / np.sqrt(np.where(distances > 0, distances, 1.0))[:, None]
        n, other_n = cells.counts[first], cells.counts[second]
        weights = n * other_n / (n + other_n)
        along = _scatter_along(cells, first, units) + _scatter_along(cells, second, units)
        values = np.column_stack(
            [
                *(weights, weights * distances),
                *(weights / cells.kept[first], weights / cells.kept[second]),
                *(np.ones(len(first)), along, n + other_n - 2.0),
            ]
        )
        return cls(np.column_stack([cells.ids[first], cells.ids[second]]), values)


def _nearest_pairs(cells: Cells) -> tuple[IntArray, IntArray]:
    """Rows of the pairs in which one is among the nearest of the other, batch by batch."""
    ends = np.flatnonzero(np.append(cells.batches[1:] != cells.batches[:-1], True)) + 1
    found = []
    for begin, end in pairwise([0, *ends.tolist()]):
        n = end - begin
        if n <= _N_NEAREST + 1:
            found.append(begin + np.column_stack(np.triu_indices(n, 1)))
            continue
        means = cells.means[begin:end]
        tree = cKDTree(means, balanced_tree=False, compact_nodes=False)
        near = tree.query(means, _N_NEAREST + 1)[1].ravel()
        rows = np.arange(n).repeat(_N_NEAREST + 1)
        first, second = np.minimum(rows, near), np.maximum(rows, near)
        codes = np.unique((first * n + second)[first < second])
        found.append(begin + np.column_stack([codes // n, codes % n]))
    first, second = np.concatenate(found).T
    return first, second


def _scale(counts: FloatArray, kept: FloatArray) -> FloatArray:
    """Degrees of freedom of all points over those of the present points."""
    return np.where(counts > kept, (counts - 1.0) / np.maximum(kept - 1.0, 1.0), 1.0)


def _scatter_along(cells: Cells, at: IntArray, units: FloatArray) -> FloatArray:
    """Squares of the residuals of one cell of each pair along the line of the pair, summed."""
    return cells.scale[at] * _scatter_of_rows(cells, at, units)


def _scatter_of_rows(cells: Cells, at: IntArray, units: FloatArray) -> FloatArray:
    n_features = units.shape[1]
    if n_features <= _FEW_FEATURES:
        found = np.zeros(len(at))
        for i in range(n_features):
            for j in range(i + 1):
                products = cells.residuals[:, i] * cells.residuals[:, j]
                scatter = np.add.reduceat(products, cells.starts)[at]
                found += (1.0 + (i != j)) * scatter * units[:, i] * units[:, j]
        return np.maximum(found, 0.0)
    found = np.zeros(len(at))
    is_large = cells.kept[at] >= _MANY_ROWS
    large, small = np.flatnonzero(is_large), np.flatnonzero(~is_large)
    large = large[np.argsort(at[large], kind="stable")]
    ends = np.flatnonzero(np.append(np.diff(at[large]) != 0, True)) + 1
    for begin, end in pairwise([0, *ends.tolist()] if len(large) else []):
        pairs = large[begin:end]
        start = cells.starts[at[pairs[0]]]
        rows = cells.residuals[start : start + int(cells.kept[at[pairs[0]]])]
        found[pairs] = np.sum((rows @ units[pairs].T) ** 2, axis=0)
    found[small] = _project(cells, at[small], units[small])
    return found


def _project(cells: Cells, at: IntArray, units: FloatArray) -> FloatArray:
    counts = cells.kept[at].astype(np.int64)
    found = np.zeros(len(at))
    step = max(1, int(_MAX_NUMBERS / max(counts.sum() / max(len(at), 1) * units.shape[1], 1.0)))
    for begin in range(0, len(at), step):
        part = slice(begin, begin + step)
        ends = np.cumsum(counts[part])
        offsets = np.repeat(cells.starts[at[part]] - (ends - counts[part]), counts[part])
        rows = np.arange(ends[-1]) + offsets
        lines = units[part].repeat(counts[part], axis=0)
        projections = np.einsum("rd,rd->r", cells.residuals[rows], lines)
        found[part] = np.add.reduceat(projections**2, ends - counts[part])
    return found
