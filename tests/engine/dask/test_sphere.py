"""On the unit sphere a cluster gives the labels, costs and states of one machine, to the bit."""

import dask.array as da
import numpy as np
import pytest
from dask_streams import (
    SphereDaskStream,
    assert_same_bits,
    before_rounds,
    kill_a_worker,
    uneven_chunks,
)

from dynmeans import ClusterState, DynamicMeans, Penalties, VisitingOrders, step
from dynmeans.engine.dask import follow, prepare_batch
from dynmeans.engine.dask.step import step_with_rounds
from dynmeans.inputs.input_error import InputError

PENALTIES = Penalties(1.2, max_gap=6, reach=1.05).with_centers("sphere")
N_STREAMS, N_STREAMS_SLOW = 11, 75


def crowd(n, d=6, seed=0):
    rng = np.random.default_rng(seed)
    topics = np.random.default_rng(1).normal(size=(12, d))
    rows = topics[rng.integers(12, size=n)] + 0.5 * rng.normal(size=(n, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def on_cluster(rows, n_chunks=4):
    return da.from_array(rows, chunks=(-(-len(rows) // n_chunks), rows.shape[1]))


def check_stream(seed):
    stream = SphereDaskStream(seed)
    assert_same_bits(stream.run(on_cluster=True), stream.run(on_cluster=False))


@pytest.mark.parametrize("seed", range(N_STREAMS))
def test_cluster_equals_one_machine_on_the_sphere(client, seed):
    check_stream(seed)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_come_in_many_blocks_are_visited_in_the_same_order(client, seed, monkeypatch):
    monkeypatch.setattr(follow, "BLOCK_BYTES", 2_000)
    check_stream(100 + seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(N_STREAMS_SLOW))
def test_any_number_of_workers_equals_one_machine_on_the_sphere(client_of_many, seed):
    check_stream(1000 * len(client_of_many.nthreads()) + seed)


def test_rows_that_are_all_the_same_come_in_blocks_too(client, monkeypatch):
    monkeypatch.setattr(follow, "BLOCK_BYTES", 2_000)
    rows = np.tile([[0.6, 0.8]], (500, 1))
    orders, results = VisitingOrders(0), []
    for points in (rows, on_cluster(rows)):
        results.append(step(points, ClusterState.empty(2), PENALTIES, orders=orders))
    assert results[0][0] == results[1][0]


@pytest.mark.parametrize("when", range(6))
def test_a_worker_that_dies_changes_nothing_on_the_sphere(cluster_to_break, when, monkeypatch):
    rows, orders = crowd(3_000), VisitingOrders(0, 2)
    expected, _ = step(rows, ClusterState.empty(6), PENALTIES, orders=orders)
    batch = on_cluster(rows)
    monkeypatch.setattr(follow, "BLOCK_BYTES", 100_000)
    before_rounds(monkeypatch, {when: lambda client, _: kill_a_worker(client, when)})
    found, _ = step(batch, ClusterState.empty(6), PENALTIES, orders=orders)
    assert found == expected


def test_what_is_gathered_at_a_time_is_bounded(client):
    """Rows cross once for each order, in blocks."""
    rows = crowd(60_000, 20)
    batch = prepare_batch(da.from_array(rows, chunks=(9_000, 20)), None, 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(follow, "BLOCK_BYTES", 2**20)
        *_, rounds = step_with_rounds(
            batch, ClusterState.empty(20), PENALTIES, VisitingOrders(0), 1.0
        )
    first = [entry.bytes_in for entry in rounds if entry.pass_number == 1]
    assert max(first) <= 2**20 * 1.1
    assert sum(first) < 1.6 * rows.nbytes


def test_estimator_on_a_cluster_follows_the_stream_of_one_machine(client):
    rng = np.random.default_rng(0)
    models = [
        DynamicMeans(1.2, max_gap=6, reach=1.05, space="cosine", random_state=0) for _ in range(2)
    ]
    for t in range(3):
        rows = 3.0 * crowd(800, seed=t)
        chunks = (uneven_chunks(rng, 800), (6,))
        found = models[0].partial_fit(rows).labels_
        np.testing.assert_array_equal(
            np.asarray(models[1].partial_fit(da.from_array(rows, chunks=chunks)).labels_), found
        )
    assert models[0].memory_.clusters == models[1].memory_.clusters


def test_rows_on_a_cluster_that_do_not_have_length_one_are_refused_by_their_number(client):
    rows = crowd(900)
    rows[700] *= 3
    with pytest.raises(InputError, match="row 700 has length 3"):
        step(on_cluster(rows), ClusterState.empty(6), PENALTIES, orders=VisitingOrders(0))


@pytest.mark.parametrize("search", ["split", "deep"])
def test_deeper_search_on_the_sphere_is_refused_on_a_cluster_too(client, search):
    orders = VisitingOrders(0, search=search)
    with pytest.raises(InputError, match="search must be 'paper' for centers on the unit sphere"):
        step(on_cluster(crowd(90)), ClusterState.empty(6), PENALTIES, orders=orders)
