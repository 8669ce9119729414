"""The three accuracies on the paper's synthetic data, beside those of the authors' program."""

import numpy as np
import pytest

from dynmeans import DynamicMeans
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.metrics import accuracy_frozen, accuracy_global, accuracy_per_step

N_STREAMS, N_STREAMS_AUTHORS = 20, 10
# Means over ten streams, in %: frozen, global, per step.
AUTHORS = {
    ("isotropic", 5): (40.4, 55.3, 83.1),
    ("isotropic", 10): (28.9, 44.6, 78.1),
    ("isotropic", 20): (18.5, 34.1, 72.1),
    ("radial", 5): (61.1, 75.6, 93.8),
    ("radial", 10): (51.1, 65.3, 88.8),
    ("radial", 20): (28.0, 44.9, 77.9),
}


def scores(noise, n_clusters, seed):
    stream = moving_gaussians(n_clusters=n_clusters, noise=noise, rng=np.random.default_rng(seed))
    model = DynamicMeans(0.04, max_gap=6.8, reach=1.01, revival="exact", random_state=seed)
    found, _ = model.fit_sequence(stream.batches)
    measures = (accuracy_frozen, accuracy_global, accuracy_per_step)
    return [100 * measure(stream.labels, found) for measure in measures]


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "n_clusters"), AUTHORS)
def test_accuracies_are_those_of_the_authors_program(noise, n_clusters):
    ours = np.array([scores(noise, n_clusters, seed) for seed in range(N_STREAMS)])
    # Both means are of samples: the error of their difference has a part from each.
    error = ours.std(axis=0, ddof=1) * np.sqrt(1 / N_STREAMS + 1 / N_STREAMS_AUTHORS)
    difference = ours.mean(axis=0) - AUTHORS[noise, n_clusters]
    assert np.all(np.abs(difference) <= 3 * error), (difference, error)
