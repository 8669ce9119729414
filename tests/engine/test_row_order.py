"""The order of the rows, like the number of threads, changes no bit of a result."""

import numpy as np
import pytest
from label_sets import as_sets

from dynmeans import ClusterState, DynamicMeans, Penalties, VisitingOrders, step

N_STREAMS, N_STREAMS_SLOW = 40, 1000


def random_points(rng, n, d):
    """Blobs, a lattice, evenly spaced readings, or an outlier at the limit among them."""
    kind = rng.integers(5)
    if kind == 0:
        return rng.integers(-3, 4, size=(n, d)) * float(rng.choice([0.1, 1.0]))
    if kind == 1:
        return 0.1 * np.arange(n)[:, None] + 0.1 * np.arange(d)
    points = rng.normal(size=(8, d))[rng.integers(8, size=n)] + 0.2 * rng.normal(size=(n, d))
    if kind == 2 and n:
        points[rng.integers(n)] = rng.choice([1e20, -1e100])
    return points * (1e100 / 8 if kind == 3 else 1.0)


def random_batches(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.choice([1, 1, 2, 3, 5, 9]))
    n = int(rng.choice([4, 30, 200, 300, 1500]))
    batches = []
    for _ in range(int(rng.integers(1, 4))):
        points = random_points(rng, int(rng.integers(n // 2, n + 1)), d)
        weights = None
        if rng.random() < 0.4:
            weights = rng.choice([0.0, 0.1, 0.3, 1.0, 1e50, 1e-300], size=len(points))
        is_single = rng.random() < 0.3 and np.abs(points).max() < 1e30
        batches.append((points.astype(np.float32) if is_single else points, weights))
    scale = max(float(np.median(np.abs(points))) for points, _ in batches) or 1.0
    new_penalty = float((scale * rng.choice([0.02, 0.15, 0.6, 2.0])) ** 2 * d)
    share, drift = float(rng.choice([0.0, 0.1, 0.5])), float(rng.choice([0.0, 0.5]))
    return batches, Penalties(new_penalty, revival_penalty=share * new_penalty, drift=drift), rng


def run(batches, penalties, rows_of, n_threads):
    """Labels by original row, and what does not depend on rows."""
    state, results = ClusterState.empty(batches[0][0].shape[1]), []
    for (points, weights), rows in zip(batches, rows_of, strict=True):
        points = np.ascontiguousarray(points[rows])
        weights = None if weights is None else weights[rows]
        state, clustering = step(
            points,
            state,
            penalties,
            orders=VisitingOrders(7, n_init=2),
            sample_weight=weights,
            n_threads=n_threads,
        )
        labels = np.empty(len(rows), dtype=np.int64)
        labels[rows] = clustering.labels
        results.append((labels, clustering, state))
    return results


def check_stream(seed):
    batches, penalties, rng = random_batches(seed)
    in_place = [np.arange(len(points)) for points, _ in batches]
    expected = run(batches, penalties, in_place, 1)
    for n_threads in (1, 2, 5):
        shuffled = [rng.permutation(len(points)) for points, _ in batches]
        found = run(batches, penalties, shuffled, n_threads)
        for (points, weights), (labels, one, state), (labels_0, one_0, state_0) in zip(
            batches, found, expected, strict=True
        ):
            np.testing.assert_array_equal(
                as_sets(points, weights, labels), as_sets(points, weights, labels_0)
            )
            np.testing.assert_array_equal(one.centers, one_0.centers)
            np.testing.assert_array_equal(one.cost_trace, one_0.cost_trace)
            assert state == state_0


@pytest.mark.parametrize("seed", range(N_STREAMS))
def test_shuffled_rows_give_the_same_bits(seed):
    check_stream(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(N_STREAMS, N_STREAMS_SLOW))
def test_shuffled_rows_give_the_same_bits_many_times(seed):
    check_stream(seed)


def test_evenly_spaced_readings_are_parted_alike_in_any_order():
    # Summed in row order, two centers were off by a bit, and a tie between them went both ways.
    points, rows = 0.1 * np.arange(4)[:, None], [3, 2, 0, 1]
    one = DynamicMeans(0.02, random_state=2).fit(points).labels_
    other = DynamicMeans(0.02, random_state=2).fit(points[rows]).labels_
    np.testing.assert_array_equal(one[rows], other)


def test_many_rows_shared_by_threads_give_the_same_bits_in_any_order():
    rng = np.random.default_rng(0)
    points = rng.random((30_000, 2))
    batches, penalties = [(points, rng.random(30_000))], Penalties(0.02, max_gap=3, reach=1)
    ((labels_0, one_0, state_0),) = run(batches, penalties, [np.arange(30_000)], 1)
    ((labels, one, state),) = run(batches, penalties, [rng.permutation(30_000)], 5)
    np.testing.assert_array_equal(labels, labels_0)
    np.testing.assert_array_equal(one.cost_trace, one_0.cost_trace)
    assert state == state_0
