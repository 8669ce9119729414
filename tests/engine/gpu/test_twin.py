"""The stages of the GPU backend, in NumPy, give labels, centers and cost of the paper's loop."""

from dataclasses import replace

import numpy as np
import pytest
from gpu_filter_twin import DOUBT, F, Filter, FilteredRows
from gpu_twin import TwinRows
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import light_batches

from dynmeans.algorithm.cluster import cluster as reference
from dynmeans.algorithm.deep_search import run_deep_search as deeper_reference
from dynmeans.algorithm.sums import on_sphere, squared_distances
from dynmeans.algorithm.update_state import advance_time
from dynmeans.engine.gpu.host import border, passes
from dynmeans.engine.gpu.host import cluster as cluster_module
from dynmeans.engine.gpu.host.bins import bins_of_batch
from dynmeans.engine.gpu.host.bounds import Bounds
from dynmeans.engine.gpu.host.cluster import cluster
from dynmeans.engine.gpu.host.deep_search import run_deep_search_on_device
from dynmeans.engine.gpu.host.slots import Slots
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


@st.composite
def _cases(draw, most_features=3):
    """Few values, so that ties, duplicates, deaths and revivals are frequent."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, most_features))
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
        motion=draw(st.sampled_from(["random_walk", "constant_velocity"])),
    )
    elapsed = draw(st.sampled_from([1.0, 0.5, 3.0]))
    windows = draw(st.sampled_from([(), (4, 16), (1, 2, 3), (8,)]))
    return (
        points,
        weights,
        advance_time(state, elapsed, penalties),
        penalties,
        rng.permutation(n),
        windows,
    )


def _check(case, kind=TwinRows):
    points, weights, state, penalties, order, windows = case
    w = np.ones(len(points)) if weights is None else weights
    expected = reference(points, w, state, penalties, order[w[order] > 0])
    rows = kind(points, weights, windows)
    bins = bins_of_batch(rows.magnitudes(), len(points), weights is not None, state, penalties)
    found = cluster(rows, order, bins, state, penalties)
    np.testing.assert_array_equal(rows.labels, expected.labels)
    np.testing.assert_array_equal(found.centers, expected.centers)
    np.testing.assert_array_equal(found.counts, expected.counts)
    assert found.cost_trace == expected.cost_trace


@given(light_batches())
@settings(max_examples=25, deadline=None)
def test_a_pass_that_raises_the_cost_is_undone(case):
    batches, penalties = case
    state = ClusterState.empty(batches[0].points.shape[1])
    for batch in batches:
        _check((batch.points, batch.sample_weight, state, penalties, batch.orders[0], (4, 16)))


@given(_cases())
@settings(max_examples=120, deadline=None)
def test_any_batch_gets_the_labels_centers_and_cost_of_the_specification(case):
    _check(case)


@given(_cases())
@settings(max_examples=60, deadline=None)
def test_proposers_replayed_few_at_a_time_cause_the_same_events(case):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "_MAX_PROPOSERS", 3)
        _check(case)


@given(_cases(most_features=20))
@settings(max_examples=70, deadline=None)
def test_filters_and_bounds_leave_out_nothing_that_matters(case):
    _check(case, FilteredRows)


@st.composite
def _sphere_cases(draw):
    """Rows and remembered centers of length 1, with ties and opposites."""
    points, weights, state, penalties, order, windows = draw(_cases(most_features=20))
    cosine, gap = draw(st.floats(-0.2, 0.95)), draw(st.sampled_from([1.5, 4.0, np.inf]))
    penalties = Penalties(
        2.0 * (1.0 - cosine),
        max_gap=gap,
        reach=draw(st.sampled_from([1.0, 1.05, 1.5])),
        revival=penalties.revival,
    ).with_centers("sphere")
    centers = on_sphere(state.centers)
    if len(points) > 2 and len(centers):
        points[1] = -points[0]
        points[2] = centers[0]
    kept = replace(state, centers=centers)
    return on_sphere(points), weights, kept, penalties, order, windows


@given(_sphere_cases())
@settings(max_examples=120, deadline=None)
def test_any_batch_on_the_sphere_gets_what_the_specification_finds(case):
    _check(case)


@given(_sphere_cases())
@settings(max_examples=60, deadline=None)
def test_filters_and_bounds_leave_out_nothing_that_matters_on_the_sphere(case):
    _check(case, FilteredRows)


@pytest.fixture
def borders(monkeypatch):
    """Let late passes begin at once, and count the passes over borders."""
    monkeypatch.setattr(border, "_SMALL_N_MOVES", 1)
    monkeypatch.setattr(border, "_WAIT", 1)
    n_passes = []

    def counted(*arguments):
        found = run_border_passes(*arguments)
        n_passes.append(found[0])
        return found

    run_border_passes = cluster_module.run_border_passes
    monkeypatch.setattr(cluster_module, "run_border_passes", counted)
    return n_passes


@pytest.mark.parametrize("kind", [TwinRows, FilteredRows])
@pytest.mark.parametrize("ahead", [1.0, 4.0, 1e3])
def test_passes_over_the_border_alone_are_passes_over_all_rows(kind, ahead, borders, monkeypatch):
    monkeypatch.setattr(border, "_PASSES_AHEAD", ahead)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(20, 90)), int(rng.integers(1, 4))
        points = rng.normal(size=(n, d))
        weights = rng.choice([0.0, 0.5, 1.0, 3.0], n) if seed % 3 == 0 else None
        if seed % 3 == 1:
            weights = 10.0 ** rng.uniform(-6.0, 6.0, n)
        state = ClusterState(
            np.arange(2), rng.normal(size=(2, d)), np.ones(2), np.array([1.0, 2.0]), next_id=2
        )
        penalties = Penalties(float(rng.choice([0.5, 1.5, 3.0])), revival_penalty=0.1, drift=0.5)
        case = (points, weights, state, penalties, rng.permutation(n), (4, 16))
        _check(case, kind)
        _check_deep(case, kind)
    assert sum(borders) > 50
    assert max(borders) > 2


def _check_deep(case, kind=TwinRows):
    for depth in (1, 2):
        _check_depth(case, kind, depth)


def _check_depth(case, kind, depth):
    points, weights, state, penalties, order, windows = case
    w = np.ones(len(points)) if weights is None else weights
    taken = order[w[order] > 0]
    first = reference(points, w, state, penalties, taken)
    expected = deeper_reference(points, w, state, penalties, taken, first, depth)
    rows = kind(points, weights, windows)
    bins = bins_of_batch(rows.magnitudes(), len(points), weights is not None, state, penalties)
    found = cluster(rows, order, bins, state, penalties)
    found = run_deep_search_on_device(rows, bins, state, penalties, found, depth)
    np.testing.assert_array_equal(rows.labels, expected.labels)
    np.testing.assert_array_equal(found.centers, expected.centers)
    np.testing.assert_array_equal(found.counts, expected.counts)
    assert found.cost_trace == expected.cost_trace


@given(_cases())
@settings(max_examples=80, deadline=None)
def test_the_deeper_search_goes_on_as_the_specification_does(case):
    _check_deep(case)


@given(_cases(most_features=20))
@settings(max_examples=30, deadline=None)
def test_the_deeper_search_goes_on_after_filters_and_bounds(case):
    _check_deep(case, FilteredRows)


@given(light_batches())
@settings(max_examples=10, deadline=None)
def test_the_deeper_search_undoes_a_pass_that_raises_the_cost(case):
    batches, penalties = case
    state = ClusterState.empty(batches[0].points.shape[1])
    for batch in batches:
        _check_deep((batch.points, batch.sample_weight, state, penalties, batch.orders[0], (4, 16)))


@pytest.mark.parametrize("seed", range(6))
def test_sets_of_which_only_some_members_are_looked_at_are_split_alike(seed):
    """Two clouds under one center: their first members are asked for, then all."""
    rng = np.random.default_rng(seed)
    places = rng.choice([0.0, 1.0, 20.0, 21.0], 900)[:, None] * np.array([1.0, 0.3])
    points = places + rng.normal(0, 0.05, (900, 2))
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], 900) if seed % 2 else None
    penalties = Penalties(5.0, max_gap=5, reach=1.2)
    state = ClusterState.empty(2)
    case = (points, weights, state, penalties, rng.permutation(900), (4, 16))
    _check_deep(case)


@st.composite
def _near_ties(draw):
    """Rows about halfway between two slots, near to lambda, at any scale."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d, k = draw(st.integers(1, 40)), draw(st.integers(1, 30))
    size = draw(st.sampled_from([1e-30, 1e-18, 1e-3, 1.0, 1e6, 1e17, 1e19, 1e30]))
    far = draw(st.sampled_from([0.0, 1.0, 1e4])) * size
    centers = rng.normal(size=(k, d)) * size + far
    a, b = centers[rng.integers(0, k, 40)], centers[rng.integers(0, k, 40)]
    tiny = rng.choice([0.0, 1e-9, -1e-9, 1e-4, -1e-4, 1e-2, 0.2], (40, 1))
    points = (a + b) / 2 + tiny * (b - a)
    scales = rng.choice([1.0, 0.9, 0.5], k) if draw(st.booleans()) else np.ones(k)
    offsets = np.where(scales < 1.0, rng.random(k) * size**2, 0.0)
    slots = Slots(centers, offsets, scales, scales < 1.0)
    costs = offsets + scales * squared_distances(points[:, None], centers[None])
    penalty = float(rng.choice(costs.min(axis=1))) * draw(st.sampled_from([1.0, 1.0 + 1e-12, 1.01]))
    return points, slots, costs, max(penalty, 5e-324), rng


@given(_near_ties())
@settings(max_examples=150, deadline=None)
def test_what_the_filter_settles_is_so_and_its_bounds_hold(case):
    points, slots, costs, penalty, rng = case
    with np.errstate(all="ignore"):
        wishes, rough, limits, floors, roots = Filter(slots, penalty, rng).look(points)
        kept = ~(rough > limits[:, None])
    assert (costs[wishes == -1] > penalty).all()
    rows = np.flatnonzero(wishes >= 0)
    np.testing.assert_array_equal(wishes[rows], costs[rows].argmin(axis=1))
    assert (costs[rows].min(axis=1) <= penalty).all()
    for r in rows:
        assert (np.delete(costs[r], wishes[r]) >= roots[r] ** 2 * (1 - 1e-6)).all()
    for r in np.flatnonzero(wishes == DOUBT):
        assert kept[r, costs[r].argmin()]
        assert (costs[r][~kept[r]] >= F(floors[r])).all()


def test_bounds_that_would_not_fit_into_a_float_are_forgotten():
    """Stored with the drift, an infinite one would settle every row."""
    before, after = (
        Slots(np.full((2, 4), at), np.zeros(2), np.ones(2), np.zeros(2, bool)) for at in (0.0, 1e42)
    )
    bounds = Bounds(lambda: np.zeros(3, F))
    bounds.renew(before)
    assert not bounds.follow(after)
    assert bounds.drift == 0.0
