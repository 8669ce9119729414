"""Passes over pieces of a batch without a cluster: the compiled half of the distributed backend."""

import numpy as np
import pytest
from batch_in_pieces import check_batches, check_stream, solve
from colliding_rows import colliding_rows

from dynmeans import ClusterState, Penalties, VisitingOrders, step
from dynmeans.engine import blas
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask import assign_labels
from dynmeans.engine.dask.piece import Piece
from dynmeans.engine.dask.piece_run import PieceRun, RowBlock
from dynmeans.engine.dask.turns import END, to_words

N_STREAMS = 25


@pytest.mark.parametrize("seed", range(N_STREAMS))
def test_pieces_equal_the_whole_batch_to_the_bit(seed):
    check_stream(seed)


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_pieces_of_a_worker_without_memory_equal_the_whole_batch(seed, monkeypatch):
    monkeypatch.setattr(
        Piece, "run", lambda piece, run, kept, positions: PieceRun(piece, run, positions)
    )
    check_stream(seed)


@pytest.mark.parametrize("seed", range(20))
def test_clusters_that_empty_within_a_pass_equal_the_whole_batch(seed):
    """Cheap revivals in a crowd of ties: memories wake up and fall asleep again, row by row."""
    rng, batches = np.random.default_rng(seed), []
    for _ in range(3):
        points, weights = rng.random((190, 3)).round(1), np.exp(4 * rng.normal(size=190))
        batches.append((points, weights, VisitingOrders(int(rng.integers(2**32)), 2), 1.0))
    check_batches(batches, Penalties(0.01, revival_penalty=0.00001, drift=2.0), "exact", seed)


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_proposers_sent_in_small_portions_equal_the_whole_batch(seed, monkeypatch):
    monkeypatch.setattr(assign_labels, "_MAX_BYTES", 0)
    monkeypatch.setattr(assign_labels, "_MIN_PROPOSERS", 2)
    check_stream(seed)


# Features and clusters for which rows look into cells, a tree, through the filter, at all slots.
WAYS_OF_SEARCHING = [(1, 60), (2, 80), (3, 60), (5, 90), (8, 90), (20, 80), (6, 30)]


@pytest.mark.parametrize(("n_features", "n_clusters"), WAYS_OF_SEARCHING)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_way_of_searching_equals_the_whole_batch(n_features, n_clusters, dtype):
    rng = np.random.default_rng([n_features, n_clusters])
    # On a lattice, so that many rows are as near to one center as to another.
    centers = rng.integers(-9, 10, size=(n_clusters, n_features))
    noise = rng.integers(-1, 2, size=(20_000, n_features)) * 0.25
    points = (centers[rng.integers(n_clusters, size=20_000)] + noise).astype(dtype)
    penalties = Penalties(0.5 * n_features**0.5, max_gap=3, reach=1)
    orders = VisitingOrders(n_clusters)
    ((found, _),) = solve(
        (points, None, orders, 1.0), ClusterState.empty(n_features), penalties, "paper"
    )
    _, alone = step(points, ClusterState.empty(n_features), penalties, orders=orders)
    np.testing.assert_array_equal(found.cost_trace, alone.cost_trace)
    np.testing.assert_array_equal(found.centers, alone.centers)
    np.testing.assert_array_equal(found.counts, alone.counts)


@pytest.mark.parametrize(("n_features", "n_clusters"), WAYS_OF_SEARCHING)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_find_their_cheapest_slot_and_only_others_propose(n_features, n_clusters, dtype):
    """On a lattice, where sums are exact: ties between slots, and with lambda, are many."""
    rng = np.random.default_rng([n_features, n_clusters])
    centers = 0.25 * rng.integers(-6, 7, size=(n_clusters, n_features))
    near = centers[rng.integers(n_clusters, size=20_000)]
    points = (near + 0.25 * rng.integers(-2, 3, size=near.shape)).astype(dtype)
    is_active = (rng.random(n_clusters) < 0.8).astype(np.uint8)
    offsets, scales = np.where(is_active, 0.0, 0.125), np.where(is_active, 1.0, 0.5)
    distances = [((points - center) ** 2).sum(axis=1, dtype=np.float64) for center in centers]
    costs = offsets + scales * np.stack(distances, axis=1)
    slots, lowest = costs.argmin(axis=1), costs.min(axis=1)
    new_penalty = float(np.quantile(lowest, 0.7, method="nearest"))
    assert (lowest == new_penalty).any()
    labels, chosen, own = (
        np.full(20_000, -1, np.int32),
        np.full(20_000, -1, np.int32),
        np.zeros(20_000),
    )
    hashes = compiled.hash_rows(points, 0, 0)
    turns, _, n_found = compiled.propose_unlabeled(
        [(points, None, 0, None, hashes, True, labels, chosen, own, None)],
        7,
        (centers, offsets, scales, is_active),
        new_penalty,
        to_words(0),
        to_words(END - 1),
        20_000,
        blas.sgemm_for(points),
    )
    joins = (lowest <= new_penalty) & (is_active[slots] == 1)
    assert (chosen == np.where(joins, slots, -2)).all()
    assert (own[joins] == lowest[joins]).all()
    assert len(turns) == n_found == np.count_nonzero(~joins)


def test_rows_too_far_off_for_cells_equal_the_whole_batch():
    rng = np.random.default_rng(0)
    places = np.array([*np.ndindex(10, 10), *([[1e13, 0.0]] * 3)])
    points = places[rng.integers(len(places), size=20_000)] + 0.1 * rng.normal(size=(20_000, 2))
    penalties, orders = Penalties(0.5, max_gap=3, reach=1), VisitingOrders(3)
    ((found, _),) = solve((points, None, orders, 1.0), ClusterState.empty(2), penalties, "paper")
    _, alone = step(points, ClusterState.empty(2), penalties, orders=orders)
    np.testing.assert_array_equal(found.cost_trace, alone.cost_trace)
    np.testing.assert_array_equal(found.counts, alone.counts)


@pytest.mark.parametrize(
    ("last", "movers", "joined", "left", "first_join", "last_leave"),
    [
        (99, None, 4, 3, 1, 9),
        (6, None, 3, 2, 1, 5),
        (99, [0, 2], 2, 2, 5, 9),
    ],
)
def test_moves_keep_the_first_to_join_and_the_last_to_leave(
    last, movers, joined, left, first_join, last_leave
):
    positions = np.array([5, 1, 9, 3], dtype=np.uint64)
    labels, chosen = np.array([0, 0, 0, -1], np.int32), np.ones(4, np.int32)
    listed = None if movers is None else np.array(movers)
    piece = (np.zeros((4, 1)), None, 0, None, positions, False, labels, chosen, np.zeros(4), listed)
    found = compiled.count_moves([piece], 0, 2, (last, 0, 0))
    assert [array.tolist() for array in found[:2]] == [[0, joined], [left, 0]]
    assert (found[2][1][0], found[3][0][0]) == (first_join, last_leave)


@pytest.mark.parametrize("movers", [None, [0, 1, 3]])
def test_sums_of_moves_are_those_who_joined_less_those_who_left(movers):
    # Rows 0 and 1 go from slot 0 to slot 1, row 2 stays, row 3 is new in slot 1:
    # slot 0 loses w = 1 + 2, w y = 10 + 40 and w y^2 = 100 + 800; slot 1 gains these, and w = 4,
    # w y = 160 and w y^2 = 6400. Rounding loses nothing.
    points = np.array([[10.0], [20.0], [30.0], [40.0]])
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    labels, chosen = np.array([0, 0, 0, -1], np.int32), np.array([1, 1, 0, 1], np.int32)
    listed = None if movers is None else np.array(movers)
    places = np.arange(4, dtype=np.uint64)
    part = (points, weights, 0, None, places, False, labels, chosen, np.zeros(4), listed)
    sums = (np.array([40.0]), 1.0, 4.0, 4, True, 1.0)
    totals = compiled.sum_moves([part], 2, sums).reshape(2, -1, 4).sum(axis=1)
    assert totals.tolist() == [[-3.0, -50.0, -900.0, 0.0], [7.0, 210.0, 7300.0, 0.0]]


def test_rows_that_came_unaligned_from_another_worker_are_hashed():
    there = np.zeros(8 * 20 + 1, dtype=np.uint8)[1:].view(np.float64).reshape(10, 2)
    weights = np.zeros(8 * 10 + 1, dtype=np.uint8)[1:].view(np.float64)
    assert not there.flags.aligned
    piece = Piece([], [RowBlock(0, there, weights)])
    (hashes,) = piece.hashes((1, 0))
    np.testing.assert_array_equal(hashes, compiled.hash_rows(np.zeros((10, 2)), 1, 0))
    assert piece.magnitudes()[1:] == (np.inf, 0.0)


def test_different_rows_of_equal_hashes_equal_the_whole_batch():
    rows = colliding_rows(3, 0)
    for penalty in (0.01, 0.5, 3.0):
        batch = (rows, None, VisitingOrders(3, 2), 1.0)
        check_batches([batch], Penalties(penalty, max_gap=3, reach=1), "paper", 0)
