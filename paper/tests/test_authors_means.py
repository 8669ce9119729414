"""The three accuracies on the paper's synthetic data, beside those of the authors' program."""

import numpy as np
import pytest

from dynmeans import DynamicMeans
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.metrics import accuracy_frozen, accuracy_global, accuracy_per_step
from paper.synthetic.authors_means import AUTHORS_MEANS, standard_errors_off

N_STREAMS = 20


def scores(noise, n_clusters, seed):
    stream = moving_gaussians(n_clusters=n_clusters, noise=noise, rng=np.random.default_rng(seed))
    model = DynamicMeans(
        0.04, max_gap=6.8, reach=1.01, revival="exact", search="paper", random_state=seed
    )
    found, _ = model.fit_sequence(stream.batches)
    measures = (accuracy_frozen, accuracy_global, accuracy_per_step)
    return [100 * measure(stream.labels, found) for measure in measures]


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "n_clusters"), AUTHORS_MEANS)
def test_accuracies_are_those_of_the_authors_program(noise, n_clusters):
    ours = np.array([scores(noise, n_clusters, seed) for seed in range(N_STREAMS)])
    off = standard_errors_off(ours, AUTHORS_MEANS[noise, n_clusters])
    assert np.all(np.abs(off) <= 3), off
