"""Two runs compared to the bit."""

import numpy as np


def assert_same(found, expected):
    """Every clustering and every state is the same."""
    for (clustering, state), (clustering_0, state_0) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(clustering.labels, clustering_0.labels)
        np.testing.assert_array_equal(clustering.ids, clustering_0.ids)
        np.testing.assert_array_equal(clustering.counts, clustering_0.counts)
        np.testing.assert_array_equal(clustering.centers, clustering_0.centers)
        np.testing.assert_array_equal(clustering.cost_trace, clustering_0.cost_trace)
        assert clustering.counts.dtype == clustering_0.counts.dtype
        assert (clustering.cost, clustering.n_iter) == (clustering_0.cost, clustering_0.n_iter)
        assert state == state_0
