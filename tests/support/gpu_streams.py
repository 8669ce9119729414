"""Streams on a GPU beside compiled code, bit for bit."""

import numpy as np

from dynmeans.engine.batch import make_rows
from dynmeans.engine.execution import Execution
from dynmeans.engine.step import step_batch
from dynmeans.records.state import ClusterState

GPU, NATIVE, REFERENCE = Execution("gpu"), Execution("native"), Execution("reference")


def assert_same(found, expected):
    (state, clustering), (expected_state, expected_clustering) = found, expected
    np.testing.assert_array_equal(clustering.labels, expected_clustering.labels)
    np.testing.assert_array_equal(clustering.cost_trace, expected_clustering.cost_trace)
    np.testing.assert_array_equal(clustering.centers, expected_clustering.centers)
    np.testing.assert_array_equal(clustering.counts, expected_clustering.counts)
    assert clustering.counts.dtype == expected_clustering.counts.dtype
    assert state == expected_state


def check_stream(batches, penalties, orders_of, other=NATIVE, elapsed=(1.0, 0.5, 3.0)):
    state = ClusterState.empty(batches[0].n_features)
    for t, batch in enumerate(batches):
        arguments = (batch, state, penalties, orders_of(batch), elapsed[t % len(elapsed)])
        expected = step_batch(*arguments, other)
        assert_same(step_batch(*arguments, GPU), expected)
        state = expected[0]
    return state


def blobs(rng, n, d, n_blobs, spread=1.0, noise=0.15):
    centers = rng.uniform(-spread, spread, (n_blobs, d)) * n_blobs ** (1 / min(d, 3))
    return centers[rng.integers(0, n_blobs, n)] + noise * rng.normal(size=(n, d))


def predict_labels(points, state, penalties, execution, elapsed=0.0):
    """Return the identity and the cost of each point, by any backend."""
    return make_rows(points, state.n_features).predict(state, penalties, execution, elapsed)
