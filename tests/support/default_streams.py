"""Random streams with default settings: in memory, and elsewhere, shuffled too."""

import numpy as np
from label_sets import as_sets

from dynmeans import DynamicMeans


def random_points(rng, n, d, reach):
    """Clouds of which several lie within the reach of one center, or a lattice with ties."""
    if rng.random() < 0.3:
        return rng.integers(-4, 5, size=(n, d)) * (0.3 * reach)
    centers = 9.0 * reach * rng.integers(-1, 2, size=(6, d))
    centers += 0.9 * reach * rng.choice([0.0, 1.0], size=(6, d)) / np.sqrt(d)
    points = centers[rng.integers(6, size=n)] + 0.05 * reach * rng.normal(size=(n, d))
    return points.astype(rng.choice([np.float32, np.float64]))


def check_stream(seed, place, fetch=np.asarray, **options):
    """Compare memory with models whose batches `place(rng, rows)` brings elsewhere."""
    rng = np.random.default_rng(seed)
    d, reach = int(rng.integers(1, 5)), float(rng.choice([0.1, 1.0, 40.0]))
    here = DynamicMeans(reach**2, random_state=seed)
    there, shuffled = (DynamicMeans(reach**2, random_state=seed, **options) for _ in range(2))
    for _ in range(int(rng.integers(1, 4))):
        n = int(rng.choice([1, 40, 300, 2_500]))
        points = random_points(rng, n, d, reach)
        weights = rng.choice([0.5, 1.0, 2.0], size=n) if rng.random() < 0.3 else None
        here.partial_fit(points, sample_weight=weights)
        for model, rows in ((there, np.arange(n)), (shuffled, rng.permutation(n))):
            own = None if weights is None else weights[rows]
            model.partial_fit(place(rng, points[rows]), sample_weight=own)
            assert model.state_ == here.state_
            labels = np.empty(n, dtype=np.int64)
            labels[rows] = fetch(model.labels_)
            expected = as_sets(points, weights, here.labels_)
            np.testing.assert_array_equal(as_sets(points, weights, labels), expected)
            np.testing.assert_array_equal(model.cost_trace_, here.cost_trace_)
        np.testing.assert_array_equal(fetch(there.labels_), here.labels_)
