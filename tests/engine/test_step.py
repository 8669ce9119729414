"""The door of the functional core: bad input is refused by name, and nothing changes."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from streams import batch_lists, penalties_strategy

from dynmeans import ClusterState, Penalties, step

PENALTIES = Penalties(1.0, max_gap=5, reach=1.5)
STATE = ClusterState.empty(2)
GOOD = {"points": [[0.0, 1.0], [2.0, 3.0]], "orders": [[0, 1]]}


def call(**changes):
    arguments = {"points": GOOD["points"], "state": STATE, "penalties": PENALTIES} | {
        "orders": GOOD["orders"]
    }
    arguments |= changes
    return step(
        arguments.pop("points"), arguments.pop("state"), arguments.pop("penalties"), **arguments
    )


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"points": [[0.0, np.nan], [1, 1]]}, ValueError, "points must be finite .* got NaN"),
        ({"points": [[0.0, np.inf], [1, 1]]}, ValueError, "points must be finite .* got inf"),
        ({"points": [[0.0, 1e200], [1, 1]]}, ValueError, "at most 1e\\+100 .* got 1e\\+200"),
        ({"points": [[0.0], [1.0]]}, ValueError, "points has 1 features, but the state has 2"),
        ({"points": [0.0, 1.0]}, ValueError, "points must have two dimensions, got shape"),
        ({"points": [["a", "b"], ["c", "d"]]}, TypeError, "points must be numeric, got dtype"),
        ({"points": np.array([[None, 1], [1, 2]])}, ValueError, "points must be finite .* NaN"),
        ({"points": np.array([["a", 1], [1, 2]], dtype=object)}, TypeError, "must be numeric"),
        ({"points": np.ones((2, 2)) * 1j}, TypeError, "points must be real, got complex"),
        ({"points": scipy.sparse.eye(2)}, TypeError, "points must be a dense array, got a sparse"),
        (
            {"points": np.broadcast_to(0.0, (2**31, 2))},
            ValueError,
            r"at most 2\*\*31 - 1 points, got 2147483648",
        ),
        ({"elapsed": 0}, ValueError, "elapsed must be greater than 0, got 0"),
        ({"elapsed": -1.0}, ValueError, "elapsed must be greater than 0, got -1.0"),
        ({"elapsed": 1e-17}, ValueError, "elapsed must be at least 1e-12, got 1e-17"),
        ({"elapsed": np.inf}, ValueError, "elapsed must be finite"),
        ({"elapsed": "1"}, TypeError, "elapsed must be a real number"),
        ({"orders": [[0, 0]]}, ValueError, r"permutations of 0 to 1, got \[0 0\] in row 0"),
        ({"orders": [[0, 1], [1, 2]]}, ValueError, r"got \[1 2\] in row 1"),
        ({"orders": [[-1, 0]]}, ValueError, "permutations"),
        ({"orders": [0, 1]}, ValueError, r"orders must have shape \(n_init, 2\)"),
        ({"orders": [[0, 1, 2]]}, ValueError, r"got \(1, 3\)"),
        ({"orders": np.empty((0, 2), dtype=int)}, ValueError, "n_init at least 1"),
        ({"orders": [[0.0, 1.0]]}, TypeError, "orders must hold integers, got dtype float64"),
        ({"sample_weight": [1.0, -2.0]}, ValueError, "sample_weight must be at least 0 .* got -2"),
        ({"sample_weight": [1.0, np.nan]}, ValueError, "sample_weight must be at least 0"),
        ({"sample_weight": [1.0, 1e60]}, ValueError, "at most 1e\\+50, got 1e\\+60"),
        ({"sample_weight": [1.0]}, ValueError, "one value for each of 2 points, got shape"),
        ({"backend": "abacus"}, ValueError, "backend must be one of"),
        ({"state": None}, TypeError, "state must be a ClusterState, got NoneType"),
        ({"penalties": 1.0}, TypeError, "penalties must be a Penalties, got float"),
    ],
)
def test_bad_input_is_refused_by_name(changes, error, message):
    with pytest.raises(error, match=message):
        call(**changes)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool])
def test_any_real_dtype_is_taken(dtype):
    points = np.array([[0, 1], [1, 0]], dtype=dtype)
    assert call(points=points)[1].labels.shape == (2,)


@given(
    batches=batch_lists(max_batches=2),
    penalties=penalties_strategy,
    backend=st.sampled_from(["native", "reference"]),
)
def test_nothing_given_or_returned_is_shared(batches, penalties, backend):
    """Labels and states do not depend on what happens to the caller's arrays afterwards."""
    state = ClusterState.empty(batches[0].points.shape[1])
    for batch in batches:
        points, orders = batch.points.copy(), batch.orders.copy()
        before = ClusterState(*[getattr(state, name) for name in state.__slots__])
        after, clustering = step(points, state, penalties, orders=orders, backend=backend)
        np.testing.assert_array_equal(points, batch.points)
        np.testing.assert_array_equal(orders, batch.orders)
        assert state == before
        labels, kept = clustering.labels.copy(), after.centers.copy()
        points[:], orders[:] = 77.0, 0
        np.testing.assert_array_equal(clustering.labels, labels)
        np.testing.assert_array_equal(after.centers, kept)
        state = after


def test_weight_two_is_two_points_visited_one_after_the_other():
    points = np.array([[0.0, 0.0], [0.9, 0.0], [1.8, 0.0]])
    doubled = points.repeat([2, 1, 2], axis=0)
    weighted = step(points, STATE, PENALTIES, orders=[[1, 0, 2]], sample_weight=[2.0, 1.0, 2.0])
    repeated = step(doubled, STATE, PENALTIES, orders=[[2, 0, 1, 3, 4]])
    assert weighted[0] == repeated[0]
    assert weighted[1].cost == repeated[1].cost
    assert weighted[1].labels.repeat([2, 1, 2]).tolist() == repeated[1].labels.tolist()


def test_elapsed_time_equals_empty_batches_in_between():
    empty, nobody = np.empty((0, 2)), np.empty((1, 0), dtype=int)
    first, _ = call()
    waited, waited_clustering = call(state=first, elapsed=3.0)
    after_empty = first
    for _ in range(2):
        after_empty, _ = step(empty, after_empty, PENALTIES, orders=nobody)
    stepped, stepped_clustering = call(state=after_empty)
    assert waited_clustering.cost == stepped_clustering.cost
    np.testing.assert_array_equal(waited.weights, stepped.weights)


def test_cluster_comes_back_after_max_gap_steps_and_not_later():
    first, _ = call()
    assert call(state=first, elapsed=5.0)[1].labels.tolist() == [0, 1]
    assert call(state=first, elapsed=5.01)[1].labels.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"acceleration": "warp"}, ValueError, "acceleration must be one of auto, none"),
        ({"n_threads": 0}, ValueError, "n_threads must be from 1 to 1024, got 0"),
        ({"n_threads": 1.5}, TypeError, "n_threads must be an integer or None, got 1.5"),
    ],
)
def test_impossible_way_is_refused_by_name(changes, error, message):
    with pytest.raises(error, match=message):
        call(**changes)


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_what_a_step_returned_cannot_be_written_to(backend):
    _, clustering = call(backend=backend)
    for array in (clustering.labels, clustering.centers, clustering.counts):
        assert not array.flags.writeable


def test_largest_points_and_weights_leave_every_number_finite():
    far = [[1e100, -1e100], [-1e100, 1e100]]
    state, clustering = call(points=far, sample_weight=[1e50, 1e50])
    assert np.isfinite(clustering.cost)
    assert np.all(np.isfinite(state.centers))


def test_time_is_the_sum_of_what_elapsed():
    state, _ = call(elapsed=2.5)
    state, _ = call(state=state, elapsed=0.5)
    assert state.time == 3.0


def test_points_that_are_not_aligned_in_memory_are_taken_as_they_are() -> None:
    raw = np.zeros(6 * 8 + 1, dtype=np.uint8)
    points = raw[1:].view(np.float64).reshape(3, 2)
    points[:] = [[0.0, 0.0], [0.1, 0.0], [9.0, 9.0]]
    assert not points.flags.aligned
    state = ClusterState.empty(2)
    _, clustering = step(points, state, Penalties(1.0, max_gap=5, reach=1.5), orders=[[0, 1, 2]])
    assert clustering.labels.tolist() == [0, 0, 1]
