"""The deeper search: near the optimum, never above Algorithm 2, and no shards of a round cloud."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from streams import batch_lists, light_batches, penalties_strategy

from benchmarks.engine.cases import Case
from benchmarks.quality.searches import follow_neighbor, neighbor_stream
from benchmarks.quality.suggest_streams import FAMILIES, make_stream
from dynmeans import ClusterState, Penalties, step
from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.algorithm.cluster import cluster
from dynmeans.algorithm.deep_search import run_deep_search
from dynmeans.algorithm.sets import SetsBatch
from dynmeans.algorithm.splits import first_halves
from dynmeans.records.orders import SEARCHES

N_BATCHES = 500


@cache
def partitions(n):
    """All divisions of n points, each as the bit masks of its sets, with zeros behind."""
    found = []

    def extend(i, labels, n_sets):
        if i == n:
            found.append(labels.copy())
            return
        for k in range(n_sets + 1):
            extend(i + 1, [*labels, k], max(n_sets, k + 1))

    extend(0, [], 0)
    labels = np.array(found)
    return np.stack([((labels == k) << np.arange(n)).sum(axis=1) for k in range(n)], axis=1)


def lowest_cost(points, state, penalties):
    """L_t of the best of all divisions and identities."""
    n, lam = len(points), penalties.new_penalty
    members = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    counts = np.maximum(members.sum(axis=1), 1)
    means = members @ points / counts[:, None]
    scatter = members @ (points**2).sum(axis=1) - members.sum(axis=1) * (means**2).sum(axis=1)
    alone = np.where(np.arange(2**n) > 0, scatter + lam, 0.0)
    gamma, offsets = prior_weights(state, penalties), penalties.revival_penalty * state.ages
    lags = ((means[:, None] - state.centers) ** 2).sum(axis=2)
    factors = gamma * counts[:, None] / (gamma + counts[:, None])
    gains = np.where(np.arange(2**n)[:, None] > 0, offsets + factors * lags - lam, 0.0)
    sets = partitions(n)
    lowest = np.full((len(sets), 2**state.n_clusters), np.inf)  # by the identities taken
    lowest[:, 0] = alone[sets].sum(axis=1)
    for column in sets.T:
        before = lowest.copy()
        for taken in range(2**state.n_clusters):
            for j in range(state.n_clusters):
                if not taken >> j & 1:
                    both = before[:, taken] + gains[column, j]
                    lowest[:, taken | 1 << j] = np.minimum(lowest[:, taken | 1 << j], both)
    return lowest.min()


def small_batch(seed, kind):
    """Five to eight points with a memory of one to three clusters."""
    rng = np.random.default_rng([seed, kind == "blobs"])
    n, n_old, lam = (
        int(rng.integers(5, 9)),
        int(rng.integers(1, 4)),
        float(rng.choice([1, 2, 4, 8])),
    )
    if kind == "uniform":
        points, old = rng.uniform(size=(n, 2)), rng.uniform(size=(n_old, 2))
    else:
        places = rng.uniform(size=(int(rng.integers(2, 5)), 2))
        points = places[rng.integers(len(places), size=n)] + 0.06 * rng.normal(size=(n, 2))
        old = places[rng.permutation(len(places))[:n_old]]
        old = old + 0.06 * rng.normal(size=old.shape)
    weights = rng.choice([1.0, 2.0, 5.0], size=len(old))
    ages = rng.integers(1, 4, size=len(old)).astype(float)
    ids = np.arange(len(old))
    state = ClusterState(ids, old, weights, ages, next_id=len(old), counts=weights)
    gap, reach = float(rng.choice([3.0, 6.0])), float(rng.choice([1.05, 1.3]))
    penalties = Penalties(0.05 * lam, max_gap=gap, reach=reach)
    order = np.random.default_rng(seed).permutation(n)
    return points, state, penalties.with_revival(str(rng.choice(["paper", "exact"]))), order


@pytest.mark.parametrize(
    ("kind", "share", "excess"), [("uniform", 0.92, 0.004), ("blobs", 0.97, 0.002)]
)
def test_one_order_and_moves_are_at_the_optimum_of_all_divisions(kind, share, excess):
    above = []
    for seed in range(N_BATCHES):
        points, state, penalties, order = small_batch(seed, kind)
        _, found = step(points, state, penalties, orders=[order], search="deep")
        above.append(found.cost / lowest_cost(points, state, penalties) - 1.0)
    assert min(above) > -1e-9
    assert np.mean(np.array(above) < 1e-9) >= share
    assert np.mean(above) <= excess


def test_the_brute_force_knows_what_algorithm_2_misses():
    """Or the test above would say nothing."""
    above = []
    for seed in range(60):
        points, state, penalties, order = small_batch(seed, "uniform")
        _, found = step(points, state, penalties, orders=[order])
        above.append(found.cost / lowest_cost(points, state, penalties) - 1.0)
    assert np.mean(np.array(above) < 1e-9) < 0.7


@settings(max_examples=60, deadline=None)
@given(batches=batch_lists(), penalties=penalties_strategy)
def test_deep_is_never_above_the_paper_and_its_trace_never_rises(batches, penalties):
    for search in ("split", "deep"):
        assert_lower(batches, penalties, search)


@settings(max_examples=20, deadline=None)
@given(case=light_batches())
def test_deep_is_never_above_the_paper_where_points_are_light(case):
    for search in ("split", "deep"):
        assert_lower(*case, search)


def assert_lower(batches, penalties, deeper):
    state = ClusterState.empty(batches[0].points.shape[1])
    for batch in batches:
        paper, deep = (
            step(
                batch.points,
                state,
                penalties,
                orders=batch.orders,
                elapsed=batch.elapsed,
                sample_weight=batch.sample_weight,
                search=search,
            )
            for search in ("paper", deeper)
        )
        assert deep[1].cost <= paper[1].cost
        trace = deep[1].cost_trace
        assert (np.diff(trace) <= 1e-12 * trace[:-1]).all()
        state = deep[0]


CASES = {
    layout: Case("", 500, 6, d, layout)
    for layout, d in (("uniform", 2), ("apart", 2), ("normal", 64))
}
NEIGHBOR = "a neighbor that appears"


def batches_and_lambda(name):
    """Return a stream of the benchmarks, and a lambda that is about right for it."""
    if name == NEIGHBOR:
        return neighbor_stream(0)[0][9:15], 4.0
    if name in CASES:
        case = CASES[name]
        return [points for points, _ in case.batches(4)], case.penalties.new_penalty
    stream = make_stream(name, 3000, 6)
    return stream.batches, 8.0 * stream.unit


@pytest.mark.parametrize("times", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("name", [*FAMILIES, *CASES, NEIGHBOR])
def test_deep_is_never_above_the_paper_on_any_stream(name, times):
    """On each batch from the same state, with the same orders."""
    batches, lam = batches_and_lambda(name)
    penalties, rng = Penalties(times * lam, max_gap=6.8, reach=1.2), np.random.default_rng(0)
    state = ClusterState.empty(batches[0].shape[1])
    for points in batches:
        orders = [rng.permutation(len(points)) for _ in range(2)]
        paper, split, deep = (
            step(points, state, penalties, orders=orders, search=search) for search in SEARCHES
        )
        assert max(split[1].cost, deep[1].cost) <= paper[1].cost
        state = deep[0]


def test_a_neighbor_that_appears_fifteen_radii_away_is_told_apart_at_once():
    """Everything chosen without labels: no window is merged and no name lost, whatever the seed."""
    assert [follow_neighbor(seed) for seed in range(20)] == [(0, 0)] * 20, "the defaults"
    assert [follow_neighbor(seed, search="deep") for seed in range(5)] == [(0, 0)] * 5


@pytest.mark.parametrize(("search", "n_merged"), [("paper", 12), ("split", 0), ("deep", 0)])
def test_at_a_large_lambda_algorithm_2_alone_puts_the_neighbor_under_one_name(search, n_merged):
    """The squared distance of the two groups is 2.25; the second is there in 12 windows."""
    given = {"new_penalty": 4.0, "max_gap": 7.0, "reach": 1.2, "search": search}
    assert [follow_neighbor(seed, **given) for seed in range(3)] == [(n_merged, 0)] * 3


@pytest.mark.parametrize(("search", "share"), [("split", 0.5), ("deep", 0.1)])
def test_two_clouds_under_one_center_become_two_clusters(search, share):
    """No point is farther than sqrt(lambda) from the middle, so Algorithm 2 is content.

    By a split alone one of the two keeps the name, whose memory lies between them.
    """
    rng = np.random.default_rng(0)
    points = np.repeat([[-0.9, 0.0], [0.9, 0.0]], 40, axis=0) + 0.05 * rng.normal(size=(80, 2))
    penalties, orders = Penalties(1.2, revival_penalty=0.1, drift=0.0), [rng.permutation(80)]
    # One cluster is remembered right between them.
    state = ClusterState([0], [[0.0, 0.0]], [50.0], [1.0], next_id=1, counts=[50.0])
    paper, deep = (
        step(points, state, penalties, orders=orders, search=one)[1] for one in ("paper", search)
    )
    assert len(paper.ids) == 1
    assert len(deep.ids) == 2
    assert deep.cost < share * paper.cost
    n_passes = len(paper.cost_trace)
    np.testing.assert_array_equal(deep.cost_trace[:n_passes], paper.cost_trace)
    assert deep.cost_trace[n_passes] < 0.5 * paper.cost, "what the first round comes to"
    assert len(set(deep.labels[:40])) == len(set(deep.labels[40:])) == 1


@pytest.mark.parametrize(("radii", "n_found"), [(5.0, 1), (7.0, 2)])
def test_two_clouds_are_plainly_two_from_six_radii_on(radii, n_found):
    """Whatever lambda is: 25 points each, so that L_t falls in either case."""
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(50, 2)) / np.sqrt(2.0)
    points = noise + np.repeat([[0.0, 0.0], [radii, 0.0]], 25, axis=0)
    penalties = Penalties(120.0, max_gap=5, reach=1.2)
    for search, n in (("paper", 1), ("split", n_found), ("deep", 2)):
        state, orders = ClusterState.empty(2), [rng.permutation(50)]
        _, found = step(points, state, penalties, orders=orders, search=search)
        assert len(found.ids) == n, search


@pytest.mark.parametrize(
    ("n", "n_away", "is_plain"), [(20, 4, False), (20, 5, True), (12, 7, False)]
)
def test_a_few_points_are_not_plainly_another_cluster(n, n_away, is_plain):
    """They may lie in two parts by chance."""
    points = np.append(np.linspace(-0.01, 0.01, n), np.full(n_away, 3.0))[:, None]
    rows = np.arange(len(points))
    state, penalties = ClusterState.empty(1), Penalties(1.0, max_gap=5, reach=1.2)
    batch = SetsBatch(points, np.ones(len(points)), state, penalties, rows)
    halves = first_halves(batch, rows, points.mean(axis=0))
    assert halves.are_two
    assert halves.is_clear()
    assert halves.is_plain() == is_plain


@pytest.mark.parametrize("n", [50, 1000, 20_000])
@pytest.mark.parametrize("shape", ["normal", "uniform"])
def test_one_cloud_of_any_size_stays_one(n, shape):
    """Though L_t of a large one is lower in many: lambda does not grow with its points."""
    rng = np.random.default_rng(n)
    points = rng.normal(size=(n, 2)) if shape == "normal" else rng.uniform(-2, 2, size=(n, 2))
    state, penalties = ClusterState.empty(2), Penalties(36.0, max_gap=5, reach=1.2)
    _, found = step(points, state, penalties, orders=[rng.permutation(n)], search="deep")
    assert len(found.ids) == 1


def test_newborn_does_not_take_the_number_of_a_steady_neighbor():
    """It is visited first and lies within reach; the assignment looks at both sets at once."""
    state = ClusterState([7], [[0.0]], [30.0], [1.0], next_id=8, counts=[30.0])
    points = np.concatenate([np.full(10, 0.9), np.full(30, -0.02)])[:, None]
    points = points + np.linspace(-0.01, 0.01, 40)[:, None]
    penalties = Penalties(0.5, max_gap=5, reach=2.5)
    paper, deep = (
        step(points, state, penalties, orders=[np.arange(40)], search=search)[1]
        for search in ("paper", "deep")
    )
    assert paper.labels[0] == 7
    assert deep.labels[0] != 7
    assert deep.labels[-1] == 7


def test_points_of_weight_0_take_no_part_in_moves():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(60, 2)) * 0.1 + np.repeat([[0.0, 0.0], [1.5, 0.0]], 30, axis=0)
    weights = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)
    order, state = rng.permutation(60), ClusterState.empty(2)
    penalties = Penalties(2.0, max_gap=5, reach=1.2)
    with_them = cluster(points, weights, state, penalties, order[weights[order] > 0])
    found = run_deep_search(points, weights, state, penalties, order[weights[order] > 0], with_them)
    kept = weights > 0
    _, alone = step(
        points[kept],
        state,
        penalties,
        orders=[np.argsort(np.argsort(order[weights[order] > 0])).argsort()],
        search="deep",
    )
    assert (found.labels[~kept] == -1).all()
    assert found.cost == alone.cost


def test_unknown_search_is_refused_by_name():
    with pytest.raises(ValueError, match="search must be one of paper, split, deep, got 'wide'"):
        step(
            [[0.0]],
            ClusterState.empty(1),
            Penalties(1.0, max_gap=5, reach=1.2),
            orders=[[0]],
            search="wide",
        )
