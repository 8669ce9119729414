"""Directions that move, as dpMMlowVar has them: centers of length 1 that follow their clusters."""

import numpy as np
import pytest
from scipy.stats import vonmises_fisher

from dynmeans import DynamicMeans


def moving_directions(seed, n_features, n_clusters=5, n_batches=12, concentration=80.0):
    """Batches of von Mises-Fisher rows about directions that turn by about 3 degrees a batch."""
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
    means, batches, truth = frame[:n_clusters], [], []
    for _ in range(n_batches):
        turned = means + 0.05 * rng.normal(size=means.shape) / np.sqrt(n_features)
        means = turned / np.linalg.norm(turned, axis=1, keepdims=True)
        labels = rng.integers(n_clusters, size=200)
        rows = np.empty((200, n_features))
        for k, mean in enumerate(means):
            own = labels == k
            rows[own] = vonmises_fisher(mean, concentration * n_features / 5).rvs(
                int(own.sum()), random_state=rng
            )
        batches.append(rows)
        truth.append(labels)
    return batches, truth, means


@pytest.mark.parametrize("n_features", [5, 20, 100])
@pytest.mark.parametrize("seed", range(3))
def test_centers_on_the_sphere_follow_directions_that_move(seed, n_features):
    batches, truth, means = moving_directions(seed, n_features)
    model = DynamicMeans(1.4, space="cosine", search="paper", n_init=1, random_state=seed)
    found, _ = model.fit_sequence(batches)
    # Matched once for the whole stream: an identity that changes on the way is an error.
    pairs = set(zip(np.concatenate(truth).tolist(), np.concatenate(found).tolist(), strict=True))
    assert len(pairs) == len(means)
    for (one, label), center in zip(sorted(pairs), means, strict=True):
        at = np.flatnonzero(model.memory_.clusters.ids == label)[0]
        place = model.memory_.clusters.centers[at]
        assert np.linalg.norm(place) == pytest.approx(1.0, rel=1e-12)
        assert place @ center > 0.99, one
