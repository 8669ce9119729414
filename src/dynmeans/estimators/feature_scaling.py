"""Features at like scales, learned on the first batches, kept in the state (decision 0303)."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dynmeans.engine.batch import AnyBatch, Batch
from dynmeans.engine.checks import checked_coordinates
from dynmeans.engine.dask_input import is_on_dask
from dynmeans.engine.device_input import is_on_device
from dynmeans.estimators.cluster_estimator import ClusterEstimator
from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.records.scaling import Scaling
from dynmeans.records.state import Clustering, ClusterState

SCALES = ("auto", "standard", None)
# A feature whose spread is this many times another's leaves the other no say in a distance.
MAX_RATIO = 10.0
_BITS = 36


def learned_scaling(scale: str | None, batches: Sequence[Batch]) -> Scaling | None:
    """Learn the scaling that `scale` asks for; None where features stay as they are.

    Examples
    --------
    >>> batch = Batch(np.array([[0.0, 5.0], [4.0, 5.0], [8.0, 5.3]]))
    >>> learned_scaling("auto", [batch]).mean.round(1).tolist()
    [4.0, 5.1]
    >>> learned_scaling("auto", [Batch(batch.points[:, :1])]), learned_scaling(None, [batch])
    (None, None)
    """
    if scale not in SCALES:
        raise ValueError(f'scale must be "auto", "standard" or None, got {scale!r}.')
    if scale is None:
        return None
    points = np.concatenate([np.asarray(batch.points, np.float64) for batch in batches])
    weights = np.concatenate([_weights_of(batch) for batch in batches])
    mean, spread = _mean_and_spread(points, weights)
    known = spread[spread > 0]
    if scale == "auto" and (len(known) < 2 or known.max() <= MAX_RATIO * known.min()):
        return None
    return Scaling(mean, np.where(spread > 0, spread, 1.0))


def _weights_of(batch: Batch) -> FloatArray:
    return np.ones(batch.n_points) if batch.weights is None else batch.weights


def _mean_and_spread(points: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return numbers that no order of the rows can change, nor a row that comes twice or weighs 2.

    Sums are exact, and what the products in them lose is rounded away.
    """
    total = math.fsum(weights.tolist())
    mean = _rounded(_sums(points * weights[:, None]) / total)
    squares = (points - mean) ** 2 * weights[:, None]
    return mean, _rounded(np.sqrt(_sums(squares) / total))


def _sums(terms: FloatArray) -> FloatArray:
    return np.array([math.fsum(column) for column in terms.T.tolist()])


def _rounded(values: FloatArray) -> FloatArray:
    fractions, exponents = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(fractions, _BITS)), exponents - _BITS))


class FeatureScaler(ClusterEstimator):
    """Clusters in the units of `state_.scaling`, and speaks in those of the data."""

    scale: str | None

    @property
    def cluster_centers_(self) -> FloatArray:
        """Positions of the remembered clusters when last seen, in the units of the data."""
        centers, scaling = self.state_.centers, self.state_.scaling
        return centers if scaling is None else scaling.restore(centers)

    @property
    def cluster_velocities_(self) -> FloatArray:
        """How far each remembered cluster moves in a step of time, in the units of the data."""
        velocities, scaling = self.state_.velocities, self.state_.scaling
        if velocities is None:
            return np.zeros_like(self.state_.centers)
        return velocities if scaling is None else velocities * scaling.spread

    def _scaled_start(self, state: ClusterState, batches: Sequence[AnyBatch]) -> ClusterState:
        """Return the state with the scaling learned from these batches, if it is to learn one."""
        if self.scale is None or state.scaling is not None or state.next_id > 0:
            return state
        rows = [batch.in_memory(f"scale={self.scale!r}") for batch in batches if batch.has_weight]
        return replace(state, scaling=learned_scaling(self.scale, rows)) if rows else state

    def _scaled(self, batch: AnyBatch, scaling: Scaling | None) -> AnyBatch:
        """Return the batch in the units of the clustering."""
        if scaling is None:
            return batch
        here = batch.in_memory(f"scale={self.scale!r}")
        return Batch(_apply(scaling, here.points), here.weights)

    def _known_rows(self, X: Any) -> BatchArray:
        """Check rows that change nothing, and bring them to the units of the clustering."""
        points, scaling = super()._known_rows(X), self.state_.scaling
        return points if scaling is None else _apply(scaling, points)

    def _rows_in_place(self, X: Any) -> Any:
        """Refuse rows that lie elsewhere where features are scaled."""
        if self.state_.scaling is not None and (is_on_dask(X) or is_on_device(X)):
            raise ValueError(
                "X must be in memory, because features are scaled (scale=...). "
                "Compute it first, or scale the features yourself."
            )
        return X

    def _remember(
        self, before: ClusterState, elapsed: float, clustering: Clustering, after: ClusterState
    ) -> None:
        if before.scaling is not None:
            after = replace(after, scaling=before.scaling)
        super()._remember(before, elapsed, clustering, after)


def _apply(scaling: Scaling, points: BatchArray) -> BatchArray:
    # A tiny spread may make numbers that no longer can be squared.
    return checked_coordinates(scaling.apply(points), "scaled X")
