"""Searches beyond Algorithm 2: the same bits in compiled code, on Dask and in the specification."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import batch_lists, light_batches, penalties_strategy, run

from dynmeans import ClusterState, Penalties, VisitingOrders, step
from dynmeans.engine.batch import Batch
from dynmeans.engine.execution import DEFAULT
from dynmeans.engine.sequence import label_sequence, step_sequence
from dynmeans.engine.step import step_batch
from dynmeans.records.orders import SEARCHES

FAST_BACKENDS = ["native", pytest.param("gpu", marks=pytest.mark.gpu)]
ACCELERATIONS = st.sampled_from(["auto", "none"])
DEEPER = ("split", "deep")


def assert_same(found, expected):
    for (clustering, state), (clustering_0, state_0) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(clustering.labels, clustering_0.labels)
        np.testing.assert_array_equal(clustering.counts, clustering_0.counts)
        np.testing.assert_array_equal(clustering.centers, clustering_0.centers)
        np.testing.assert_array_equal(clustering.cost_trace, clustering_0.cost_trace)
        assert state == state_0


@pytest.mark.parametrize("backend", FAST_BACKENDS)
@settings(max_examples=100, deadline=None)
@given(
    batches=batch_lists(),
    penalties=penalties_strategy,
    revival=st.sampled_from(["paper", "exact"]),
    acceleration=ACCELERATIONS,
    search=st.sampled_from(DEEPER),
)
def test_backend_agrees_with_specification(
    backend, batches, penalties, revival, acceleration, search
):
    how = {"revival": revival, "search": search}
    found = run(batches, penalties, backend=backend, acceleration=acceleration, **how)
    assert_same(found, run(batches, penalties, **how))


@settings(max_examples=15, deadline=None)
@given(case=light_batches(), acceleration=ACCELERATIONS, search=st.sampled_from(DEEPER))
def test_compiled_code_agrees_where_light_points_raise_the_cost(case, acceleration, search):
    found = run(*case, backend="native", acceleration=acceleration, search=search)
    assert_same(found, run(*case, search=search))


@pytest.mark.parametrize("search", DEEPER)
@pytest.mark.parametrize("seed", range(8))
def test_sets_larger_than_their_sample_agree(seed, search):
    """Sets of up to 800 points, many clusters on a line of centers, both revival rules, weights."""
    rng = np.random.default_rng(seed)
    d, n, n_clusters = int(rng.choice([1, 2, 5])), 800, int(rng.choice([2, 5, 40]))
    places, lam = 3.0 * rng.uniform(size=(n_clusters, d)), float(rng.choice([0.05, 0.5, 3.0]))
    penalties = Penalties(lam, max_gap=4, reach=1.2).with_revival(["paper", "exact"][seed % 2])
    weights = rng.choice([0.5, 1.0, 2.0], n) if seed % 3 == 0 else None
    state = ClusterState.empty(d)
    for _ in range(2):
        points = places[rng.integers(n_clusters, size=n)] + 0.05 * rng.normal(size=(n, d))
        places = places + 0.05 * rng.normal(size=places.shape)
        orders = np.array([rng.permutation(n) for _ in range(2)])
        found = [
            step(
                points,
                state,
                penalties,
                orders=orders,
                sample_weight=weights,
                search=search,
                **how,
            )[::-1]
            for how in ({"backend": "reference"}, {}, {"acceleration": "none"}, {"n_threads": 3})
        ]
        for other in found[1:]:
            assert_same([other], found[:1])
        state = found[0][1]


def assert_every_way_agrees(points, state, penalties, orders, search="deep"):
    found = [
        step(points, state, penalties, orders=orders, search=search, **how)[::-1]
        for how in ({"backend": "reference"}, {}, {"acceleration": "none"})
    ]
    for other in found[1:]:
        assert_same([other], found[:1])
    return found[0][1]


@pytest.mark.parametrize("seed", range(2))
def test_sets_larger_than_every_sample_agree_over_many_rounds(seed):
    """Clouds that overlap: sets are asked again, changed or not, and new ones take freed names."""
    rng = np.random.default_rng(seed)
    places, n = 1.2 * rng.uniform(size=(8, 2)), 4000
    state, penalties = ClusterState.empty(2), Penalties(0.12, max_gap=6.8, reach=1.01)
    for _ in range(3):
        points = places[rng.integers(4 + 4 * seed, size=n)] + 0.06 * rng.normal(size=(n, 2))
        places = places + 0.05 * rng.normal(size=places.shape)
        state = assert_every_way_agrees(points, state, penalties, [rng.permutation(n)])


@pytest.mark.parametrize("seed", range(3))
def test_crowds_in_reach_of_a_crowd_of_remembered_clusters_agree(seed):
    """One group of pairs: identities are moved aside along paths, and ties lie on a lattice."""
    rng = np.random.default_rng(seed)
    n = 120
    points = 5.0 * rng.uniform(size=(n, 2))
    if seed == 2:
        points = np.round(points * 4) / 4
    state = ClusterState(
        np.arange(n),
        points + 0.3 * rng.normal(size=(n, 2)) * (seed < 2),
        rng.choice([1.0, 3.0], n),
        rng.choice([1.0, 2.0], n),
        next_id=n,
        counts=np.ones(n),
    )
    penalties = Penalties(0.3, max_gap=6.8, reach=1.5)
    assert_every_way_agrees(points, state, penalties, [rng.permutation(n)])


def test_clouds_of_thousands_that_are_plainly_two_agree():
    """Pairs of clouds under a lambda that is far too large: splits of splits, beyond samples."""
    rng = np.random.default_rng(5)
    places, n = np.array([[0.0, 0.0], [1.0, 0.0], [12.0, 0.0], [12.0, 1.0]]), 4000
    state, penalties = ClusterState.empty(2), Penalties(400.0, max_gap=6.8, reach=1.01)
    for _ in range(3):
        points = places[rng.integers(4, size=n)] + 0.05 * rng.normal(size=(n, 2))
        orders = [rng.permutation(n)]
        state = assert_every_way_agrees(points, state, penalties, orders, search="split")
    assert len(state.ids) == 4


@pytest.mark.parametrize("seed", range(6))
def test_shuffled_rows_are_searched_alike(seed):
    """Orders by content, ties on a lattice."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 9, size=(300, 2)) * 0.25
    orders, penalties = VisitingOrders(seed, 2, search="deep"), Penalties(1.0, max_gap=4, reach=1.2)
    states = [ClusterState.empty(2)] * 2
    for _ in range(3):
        moved = rng.permutation(300)
        states[0], here = step(points, states[0], penalties, orders=orders)
        states[1], there = step(points[moved], states[1], penalties, orders=orders)
        np.testing.assert_array_equal(there.labels, here.labels[moved])
        np.testing.assert_array_equal(there.cost_trace, here.cost_trace)
        assert states[0] == states[1]
        points = points + rng.integers(-1, 2, size=2) * 0.25


def test_a_sequence_is_searched_as_its_steps_are():
    rng = np.random.default_rng(0)
    batches = [
        Batch(rng.normal(size=(60, 2)) + 4 * rng.integers(2, size=(60, 1))) for _ in range(5)
    ]
    penalties, gaps = Penalties(9.0, max_gap=4, reach=1.2), [1.0] * 5
    for search in SEARCHES:
        orders, state = VisitingOrders(3, 2, search=search), ClusterState.empty(2)
        labels = []
        for batch, stepped in zip(
            batches, step_sequence(batches, penalties, orders, gaps), strict=True
        ):
            state, expected = step_batch(batch, state, penalties, orders, 1.0, DEFAULT)
            assert_same([stepped[::-1]], [(expected, state)])
            labels.append(expected.labels)
        found, _, n_clusters_total = label_sequence(batches, penalties, orders, gaps)
        np.testing.assert_array_equal(found, np.concatenate(labels))
        assert n_clusters_total == state.next_id


def test_search_is_given_with_the_orders_or_beside_listed_ones():
    with pytest.raises(ValueError, match="search is for listed orders"):
        step(
            [[0.0]],
            ClusterState.empty(1),
            Penalties(1.0, max_gap=5, reach=1.2),
            orders=VisitingOrders(0),
            search="deep",
        )
