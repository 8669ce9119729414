"""Features brought to a scale on which flows lie apart: unit length, leading components.

Fitted on trajectories that came before, without labels.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from dynmeans.engine.blas import one_thread
from dynmeans.records.arrays import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ComponentScaling:
    """Features of unit length, on their principal components, each scaled by a power of its size.

    Attributes
    ----------
    mean : FloatArray of shape (n_features,)
    components : FloatArray of shape (n_features, n_components)
        Columns are directions, already scaled.
    total_variance : float
        Of the fitted features after scaling: mean squared distance from their mean.

    Examples
    --------
    >>> features = np.random.default_rng(0).normal(size=(200, 6))
    >>> scaling = ComponentScaling.fit(features, n_components=3)
    >>> scaling.transform(features).shape
    (200, 3)
    """

    mean: FloatArray
    components: FloatArray
    total_variance: float

    @classmethod
    @one_thread()
    def fit(cls, features: FloatArray, n_components: int = 40, power: float = 0.25) -> Self:
        """Learn the mean and the components; each is divided by its eigenvalue to this power."""
        if not len(features):
            raise ValueError("features must have rows to fit a scaling on, got none.")
        unit = unit_length(features)
        mean = unit.mean(axis=0)
        _, singular, rows = np.linalg.svd(unit - mean, full_matrices=False)
        eigenvalues = singular**2 / len(unit)
        n_kept = min(n_components, int(np.count_nonzero(eigenvalues > 1e-12 * eigenvalues[0])))
        scale = eigenvalues[:n_kept] ** -power
        scaled_variance = float(np.sum(eigenvalues[:n_kept] * scale**2))
        return cls(mean, rows[:n_kept].T * scale, scaled_variance)

    @one_thread()
    def transform(self, features: FloatArray) -> FloatArray:
        """Return the scaled components of features."""
        return np.asarray((unit_length(features) - self.mean) @ self.components)


def unit_length(features: FloatArray) -> FloatArray:
    """Divide each row by its length; a row of zeros stays."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return np.asarray(features / np.where(lengths > 0, lengths, 1.0))


def total_variance(features: FloatArray) -> float:
    """Mean squared distance of the rows from their mean."""
    return float(np.mean(np.sum((features - features.mean(axis=0)) ** 2, axis=1)))
