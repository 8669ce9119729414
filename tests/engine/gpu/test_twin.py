"""The stages of the GPU backend, in NumPy, give labels, centers and cost of the paper's loop."""

import numpy as np
import pytest
from gpu_twin import TwinRows
from hypothesis import given, settings
from hypothesis import strategies as st

from dynmeans.algorithm.cluster import cluster as reference
from dynmeans.algorithm.update_state import let_time_pass
from dynmeans.engine.gpu import passes
from dynmeans.engine.gpu.bins import bins_of_batch
from dynmeans.engine.gpu.cluster import cluster
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


@st.composite
def _cases(draw):
    """Few values, so that ties, duplicates, deaths and revivals are frequent."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 3))
    grain = draw(st.sampled_from([1.0, 0.5, 1e-3]))
    far = draw(st.sampled_from([0.0, 0.0, 1e6]))
    points = rng.integers(-8, 9, (n, d)) * grain + far
    if draw(st.booleans()):
        points = points + rng.normal(0, 0.3 * grain, (n, d))
    weights = rng.choice([0.0, 0.25, 1.0, 3.0], n) if draw(st.booleans()) else None
    k = draw(st.integers(0, 6))
    state = ClusterState(
        np.arange(k),
        rng.integers(-8, 9, (k, d)) * grain + far,
        rng.choice([0.5, 1.0, 4.0], k),
        rng.choice([1.0, 2.0, 5.0], k),
        next_id=k,
    )
    penalty = draw(st.sampled_from([1.0, 4.0, 9.0])) * grain**2
    penalties = Penalties(
        penalty,
        revival_penalty=draw(st.sampled_from([0.0, 0.1, 0.2])) * penalty,
        drift=draw(st.sampled_from([0.0, 0.5, 2.0])),
        revival=draw(st.sampled_from(["paper", "exact"])),
        motion=draw(st.sampled_from(["still", "steady"])),
    )
    elapsed = draw(st.sampled_from([1.0, 0.5, 3.0]))
    windows = draw(st.sampled_from([(), (4, 16), (1, 2, 3), (8,)]))
    return (
        points,
        weights,
        let_time_pass(state, elapsed, penalties),
        penalties,
        rng.permutation(n),
        windows,
    )


def _check(case):
    points, weights, state, penalties, order, windows = case
    w = np.ones(len(points)) if weights is None else weights
    expected = reference(points, w, state, penalties, order[w[order] > 0])
    rows = TwinRows(points, weights, windows)
    bins = bins_of_batch(rows.magnitudes(), len(points), weights is not None, state, penalties)
    found = cluster(rows, order, bins, state, penalties)
    np.testing.assert_array_equal(rows.labels, expected.labels)
    np.testing.assert_array_equal(found.centers, expected.centers)
    np.testing.assert_array_equal(found.counts, expected.counts)
    assert found.cost_trace == expected.cost_trace


@given(_cases())
@settings(max_examples=300, deadline=None)
def test_any_batch_gets_the_labels_centers_and_cost_of_the_specification(case):
    _check(case)


@given(_cases())
@settings(max_examples=100, deadline=None)
def test_proposers_replayed_few_at_a_time_cause_the_same_events(case):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "_MOST_PROPOSERS", 3)
        _check(case)
