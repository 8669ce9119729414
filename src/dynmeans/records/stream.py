"""Batches whose true identities are known."""

from dataclasses import dataclass

from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class LabeledStream:
    """A sequence of batches with their true labels, one list entry for each batch.

    Attributes
    ----------
    batches : list of FloatArray of shape (n_points, n_features)
        The points.
    labels : list of IntArray of shape (n_points,)
        True label of each point.
    ids : list of IntArray of shape (n_visible,)
        Clusters that have points in the batch.
    centers : list of FloatArray of shape (n_visible, n_features)
        True positions of these clusters.

    See Also
    --------
    dynmeans.datasets.moving_gaussians : Makes one.
    dynmeans.datasets.dependent_dirichlet : Draws one from the model.
    """

    batches: list[FloatArray]
    labels: list[IntArray]
    ids: list[IntArray]
    centers: list[FloatArray]

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self.batches)
