"""Accuracies of the authors' own program on the synthetic data, to measure ours by."""

import numpy as np

from dynmeans.records.arrays import FloatArray

N_STREAMS_AUTHORS = 10
SCORES = ("accuracy_frozen", "accuracy_global", "accuracy_per_step")
# Means over ten streams at the paper's parameters, in %, in the order of SCORES.
AUTHORS_MEANS = {
    ("isotropic", 2): (45.7, 61.4, 85.7),
    ("isotropic", 5): (40.4, 55.3, 83.1),
    ("isotropic", 10): (28.9, 44.6, 78.1),
    ("isotropic", 20): (18.5, 34.1, 72.1),
    ("isotropic", 50): (7.8, 18.0, 56.7),
    ("radial", 2): (79.7, 87.7, 97.9),
    ("radial", 5): (61.1, 75.6, 93.8),
    ("radial", 10): (51.1, 65.3, 88.8),
    ("radial", 20): (28.0, 44.9, 77.9),
    ("radial", 50): (9.4, 22.8, 59.6),
}


def standard_errors(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the standard errors of our means and of theirs, in the unit of the scores.

    Of theirs only the means are known: both are taken to scatter from stream to stream as ours do.
    """
    deviations = scores.std(axis=0, ddof=1)
    return deviations / np.sqrt(len(scores)), deviations / np.sqrt(N_STREAMS_AUTHORS)


def standard_errors_off(scores: FloatArray, authors: tuple[float, ...]) -> FloatArray:
    """Return how far our means are from the authors', in standard errors of the difference.

    Parameters
    ----------
    scores : FloatArray of shape (n_streams, n_scores)
        Ours, in %.
    authors : tuple of float
        Their means, in %.
    """
    return np.asarray((scores.mean(axis=0) - authors) / np.hypot(*standard_errors(scores)))
