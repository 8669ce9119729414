"""Small batches, whose costs stand in one table: ties, sleepers and second orders equal plain."""

import numpy as np
import pytest

from dynmeans import ClusterState, Penalties, step
from dynmeans.engine.batch import Batch
from dynmeans.engine.orders import list_orders
from dynmeans.records.orders import VisitingOrders


def remembered(centers, weight=1.0):
    """Return the state after a batch with one point of this weight at each center."""
    apart = Penalties(1e-9, revival_penalty=0.0, drift=0.0)
    state, _ = step(
        np.array(centers),
        ClusterState.empty(len(centers[0])),
        apart,
        orders=[range(len(centers))],
        sample_weight=np.full(len(centers), weight),
    )
    return state


def assert_equal_plain(points, state, penalties, orders, revival="exact"):
    found, plain = (
        step(points, state, penalties.with_revival(revival), orders=orders, acceleration=way)
        for way in ("auto", "none")
    )
    assert found[0] == plain[0]
    np.testing.assert_array_equal(found[1].labels, plain[1].labels)
    np.testing.assert_array_equal(found[1].cost_trace, plain[1].cost_trace)
    return plain


def test_tie_of_an_active_slot_with_a_later_one_that_sleeps_goes_to_the_active_one():
    """The first point draws cluster 0 to (1, 0); then both cost the second one exactly 1."""
    state = remembered([[1.5, 0.5], [1.0, 1.0]])
    penalties = Penalties(10.0, revival_penalty=0.0, drift=0.0)
    points = np.array([[0.5, -0.5], [0.0, 0.0]])
    _, found = step(points, state, penalties.with_revival("exact"), orders=[[0, 1]])
    assert found.labels.tolist() == [0, 0]


def test_cluster_that_fell_asleep_in_one_order_is_asleep_in_the_next():
    state = remembered([[-0.52], [0.25]], weight=5.0)
    points = np.array([[1.02], [1.36], [-0.45], [1.5], [0.78], [1.83], [-0.1]])
    orders = [[0, 1, 2, 3, 4, 5, 6], [6, 0, 2, 1, 4, 3, 5]]
    assert_equal_plain(points, state, Penalties(1.0, revival_penalty=0.36, drift=0.0), orders)


def test_point_that_joins_before_the_last_member_leaves_finds_the_cluster_awake():
    """-0.82 moves in before -1.57 leaves; in the order of the rows it would be the reverse."""
    state = remembered([[-0.92]], weight=1000.0)
    points = np.array([[-1.93], [-0.15], [-1.57], [-0.82]])
    penalties = Penalties(1.0, revival_penalty=0.56, drift=0.0)
    assert_equal_plain(points, state, penalties, [[1, 3, 2, 0]])


@pytest.mark.parametrize("seed", range(60))
def test_small_batches_on_a_lattice_equal_plain_in_many_orders(seed):
    """Whole coordinates and penalties: most points have ties, many at a cost of lambda."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 4)), int(rng.integers(5, 60))
    new_penalty = float(rng.choice([1, 2, 4]))
    cheap = new_penalty * float(rng.choice([0, 0.25, 0.5]))
    penalties = Penalties(new_penalty, revival_penalty=cheap, drift=float(rng.choice([0, 1])))
    state, revival = ClusterState.empty(d), str(rng.choice(["paper", "exact"]))
    for _ in range(5):
        points = rng.integers(0, 12 // d, size=(n, d)).astype(float)
        orders = np.array([rng.permutation(n) for _ in range(4)])
        state, _ = assert_equal_plain(points, state, penalties, orders, revival)


@pytest.mark.parametrize("has_weights", [False, True], ids=["plain", "weights"])
@pytest.mark.parametrize("seed", range(25))
def test_orders_by_hash_are_followed_without_being_listed(seed, has_weights):
    """On a lattice many rows are equal, and only the listed order tells them apart."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 7)), int(rng.integers(5, 90))
    penalties = Penalties(float(rng.choice([1, 2, 4])), revival_penalty=0.25, drift=1.0)
    hashed, state = VisitingOrders(seed, 3), ClusterState.empty(d)
    for _ in range(4):
        points = rng.integers(0, 1 + 12 // d, size=(n, d)) + rng.choice([0.0, 0.25], size=(n, 1))
        weights = rng.integers(0, 4, size=n) / 2.0 if has_weights else None
        listed = list_orders(hashed, Batch(points, weights), state.n_steps)
        found, plain = (
            step(points, state, penalties, orders=orders, sample_weight=weights, acceleration=way)
            for orders, way in ((hashed, "auto"), (listed, "none"))
        )
        assert found[0] == plain[0]
        np.testing.assert_array_equal(found[1].labels, plain[1].labels)
        np.testing.assert_array_equal(found[1].cost_trace, plain[1].cost_trace)
        state = found[0]


def test_batch_of_five_hundred_points_in_many_features_equals_plain():
    rng = np.random.default_rng(0)
    state, penalties = ClusterState.empty(11), Penalties(9.0, max_gap=3, reach=1.2)
    for _ in range(3):
        points = rng.normal(size=(500, 11)) * 0.5 + 4.0 * rng.integers(3, size=(500, 1))
        orders = np.array([rng.permutation(500) for _ in range(2)])
        state, _ = assert_equal_plain(points, state, penalties, orders)


def test_order_that_meets_an_earlier_one_before_an_event_is_followed_to_its_end():
    """Both orders reach the same labels; then clusters open and empty, and the second one wins."""
    state = remembered([[-0.5], [1.76]], weight=100.0)
    points = [
        -0.08,
        2.38,
        1.2,
        -1.41,
        -0.97,
        1.69,
        0.63,
        2.25,
        0.1,
        -0.93,
        -2.24,
        -0.98,
        -1.06,
        0.37,
    ]
    orders = [
        [8, 10, 9, 6, 13, 4, 2, 0, 3, 1, 7, 5, 12, 11],
        [8, 4, 12, 7, 2, 11, 9, 6, 5, 3, 0, 1, 13, 10],
    ]
    penalties = Penalties(1.0, revival_penalty=0.36, drift=0.3)
    assert_equal_plain(np.array(points)[:, None], state, penalties, orders, "paper")
