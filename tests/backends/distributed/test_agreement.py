"""A cluster gives the labels, costs and states of one machine, to the bit."""

from itertools import pairwise
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from spread_streams import SpreadStream, assert_same_bits

from dynmeans import ClusterState, HashOrders, Penalties, step
from dynmeans.backends.compiled import compiled
from dynmeans.backends.distributed import crew, spread_pass, take_batch, worker_memory
from dynmeans.backends.distributed.spread_step import step_with_rounds

OURS = sorted(Path(__file__).parents[2].joinpath("golden").glob("*.npz"))
AUTHORS = sorted(Path(__file__).parents[4].joinpath("shared", "golden").glob("*.npz"))
N_STREAMS, N_STREAMS_SLOW = 11, 211  # 26 and 520 batches


def check_stream(seed):
    stream = SpreadStream(seed)
    assert_same_bits(stream.run(on_cluster=True), stream.run(on_cluster=False))


@pytest.mark.parametrize("seed", range(N_STREAMS))
def test_cluster_equals_one_machine_to_the_bit(client, seed):
    check_stream(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(N_STREAMS_SLOW))
def test_any_number_of_workers_equals_one_machine_to_the_bit(client_of_many, seed):
    check_stream(seed)


def test_clusters_that_empty_within_a_pass_are_barriers(client, monkeypatch):
    """Memories that fall asleep, and new clusters that others wanted to join later."""
    barriers, original = [], spread_pass._let_clusters_empty

    def watch(talk, log, n_members, moves, end):
        result = original(talk, log, n_members, moves, end)
        if result[1] < end:
            emptied = result[0].events.slots[result[0].events.is_active == 0]
            barriers.append("asleep" if emptied[-1] < talk.remembered.n_clusters else "closed")
        return result

    monkeypatch.setattr(spread_pass, "_let_clusters_empty", watch)
    penalties = Penalties(0.03, revival_penalty=0.0003, drift=0.5)
    states = [ClusterState.empty(2)] * 2
    for seed in range(6):
        points, orders = np.random.default_rng(seed).random((300, 2)), HashOrders(seed)
        batch = da.from_array(points, chunks=(77, 2))
        states = [
            step(rows, state, penalties, orders=orders, revival="exact")[0]
            for rows, state in zip((points, batch), states, strict=True)
        ]
    assert set(barriers) == {"asleep", "closed"}
    assert states[0] == states[1]


def test_workers_that_remember_nothing_give_the_same_bits(client):
    def forget_always():
        worker_memory._recall = lambda run, info: worker_memory.PieceState.new(info.n_rows)

    def remember_again(original=worker_memory._recall):
        worker_memory._recall = original

    client.run(forget_always)
    try:
        for seed in (0, 2, 5):
            check_stream(seed)
    finally:
        client.run(remember_again)


@pytest.mark.parametrize("seed", [0, 1])
def test_blocks_added_up_by_the_workers_give_the_same_bits(client, monkeypatch, seed):
    monkeypatch.setattr(crew, "MOST_BYTES_HERE", -1)
    assert SpreadStream(seed).is_large
    check_stream(seed)


def test_replies_are_small_beside_the_rows(client):
    rng = np.random.default_rng(0)
    centers = rng.random((20, 2)) * 9
    points = centers[rng.integers(20, size=200_000)] + 0.05 * rng.normal(size=(200_000, 2))
    batch = take_batch(da.from_array(points, chunks=(30_000, 2)), None, 2)
    _, _, rounds = step_with_rounds(
        batch,
        ClusterState.empty(2),
        Penalties(1.0, max_gap=3, reach=1),
        HashOrders(0),
        1.0,
        "paper",
    )
    assert max(entry.bytes_in for entry in rounds) < points.nbytes / 100
    assert sum(entry.n_proposals for entry in rounds) < 1000


def test_hash_order_sorts_rows_by_splitmix_of_their_numbers():
    def mix(key):
        key = ((key ^ (key >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        key = ((key ^ (key >> 27)) * 0x94D049BB133111EB) % 2**64
        return key ^ (key >> 31)

    seeds = [mix((7 + n * 0x9E3779B97F4A7C15) % 2**64) for n in (1, 2)]
    expected = [sorted(range(50), key=lambda row: mix(row ^ seed)) for seed in seeds]
    assert compiled.order_seeds(7, 2).tolist() == seeds
    assert compiled.hash_orders(50, 7, 2).tolist() == expected


def replay(path, n_batches=None):
    """Run a recorded stream through the cluster; yields what was found and what was recorded."""
    trace = dict(np.load(path))
    is_ours = "penalties" in trace
    names = ("new_penalty", "revival_penalty", "drift")
    new_penalty, revival_penalty, drift = (
        trace["penalties"] if is_ours else [float(trace[name]) for name in names]
    )
    penalties = Penalties(new_penalty, revival_penalty=revival_penalty, drift=drift)
    state = ClusterState.empty(trace["points"].shape[1])
    for t, (a, b) in list(enumerate(pairwise(trace["offsets"])))[:n_batches]:
        chunks = (max(1, (b - a) // 3), trace["points"].shape[1])
        state, clustering = step(
            da.from_array(trace["points"][a:b], chunks=chunks),
            state,
            penalties,
            orders=trace["orders"][:, a:b],
            elapsed=trace["elapsed"][t] if is_ours else 1.0,
            sample_weight=trace["sample_weight"][a:b] if is_ours else None,
            revival=str(trace["revival"]) if is_ours else "exact",
        )
        yield clustering, trace["labels"][a:b], trace["costs"][t], int(trace.get("n_restarts", 1))


@pytest.mark.parametrize("path", OURS[:1], ids=lambda path: path.stem)
def test_beginning_of_our_golden_stream_replays(client, path):
    for clustering, labels, cost, _ in replay(path, 3):
        np.testing.assert_array_equal(clustering.labels, labels)
        np.testing.assert_allclose(clustering.cost, cost, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_golden_stream_replays(client, path):
    for clustering, labels, cost, _ in replay(path):
        np.testing.assert_array_equal(clustering.labels, labels)
        np.testing.assert_allclose(clustering.cost, cost, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.skipif(not AUTHORS, reason="the authors' traces are not beside this checkout")
@pytest.mark.parametrize("path", AUTHORS, ids=lambda path: path.stem)
def test_trace_of_the_authors_implementation_replays(client, path):
    names, names_0 = {}, {}
    for clustering, labels, cost, n_restarts in replay(path):
        found, expected = np.asarray(clustering.labels).tolist(), labels.tolist()
        if n_restarts > 1:  # Restarts may tie, and then give other names.
            found = [names.setdefault(label, len(names)) for label in found]
            expected = [names_0.setdefault(label, len(names_0)) for label in expected]
        assert found == expected
        np.testing.assert_allclose(clustering.cost, cost, rtol=1e-9)
