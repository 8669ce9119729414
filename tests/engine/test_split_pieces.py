"""Splits of whole sets whose rows lie in pieces, without a cluster: the bits of the whole batch."""

import numpy as np
import pytest
from batch_in_pieces import step_in_pieces

from dynmeans import ClusterState, Penalties, VisitingOrders, step
from dynmeans.engine.dask import splits
from dynmeans.engine.dask.piece import Piece
from dynmeans.engine.dask.piece_run import PieceRun

N_STREAMS, N_STREAMS_SLOW = 12, 300


def clouds(rng, n, d, n_clouds, apart):
    """Small clouds, several of which lie within the reach of one center."""
    centers = 50.0 * apart * rng.integers(-1, 2, size=(n_clouds, d))
    centers += 0.5 * apart * rng.choice([-1.0, 0.0, 1.0], size=(n_clouds, d)) / np.sqrt(d)
    points = centers[rng.integers(n_clouds, size=n)] + 0.03 * apart * rng.normal(size=(n, d))
    return np.round(points, 2) if rng.random() < 0.5 else points


def check_stream(seed):
    """Return how many sets were split."""
    rng, n_splits = np.random.default_rng(seed), 0
    d, n_clouds = int(rng.integers(1, 5)), int(rng.integers(2, 30))
    penalty = float(rng.choice([2.0, 8.0, 30.0])) * d
    penalties = Penalties(penalty, revival_penalty=0.1 * penalty, drift=float(rng.choice([0, 0.5])))
    state = ClusterState.empty(d)
    for _ in range(int(rng.integers(1, 4))):
        n = int(rng.choice([30, 200, 3_000, 9_000]))
        points = clouds(rng, n, d, n_clouds, 0.9 * penalty**0.5)
        points = points.astype(rng.choice([np.float32, np.float64]))
        weights = rng.choice([0, 0.5, 1, 2.0], size=n) if rng.random() < 0.4 else None
        orders = VisitingOrders(int(rng.integers(2**63)), int(rng.integers(1, 4)), "split")
        cuts = rng.integers(n, size=5).tolist()
        found = step_in_pieces((points, weights, orders, 1.0), state, penalties, cuts)
        after, alone = step(points, state, penalties, orders=orders, sample_weight=weights)
        np.testing.assert_array_equal(found.cost_trace, alone.cost_trace)
        seen = found.counts > 0
        np.testing.assert_array_equal(found.centers[seen], alone.centers)
        np.testing.assert_array_equal(found.counts[seen], alone.counts)
        slots = np.concatenate([state.ids, state.next_id + np.arange(len(seen) - len(state.ids))])
        takes_part = slice(None) if weights is None else weights > 0
        np.testing.assert_array_equal(slots[found.labels][takes_part], alone.labels[takes_part])
        paper = VisitingOrders(orders.seed, orders.n_init)
        ended = step(points, state, penalties, orders=paper, sample_weight=weights)[1]
        n_splits += len(alone.ids) > len(ended.ids)
        state = after
    return n_splits


@pytest.mark.parametrize("seed", range(N_STREAMS))
def test_splits_in_pieces_equal_the_whole_batch_to_the_bit(seed):
    check_stream(seed)


def test_the_streams_split_sets():
    assert sum(check_stream(seed) for seed in range(4, 8)) > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(N_STREAMS, N_STREAMS_SLOW))
def test_splits_in_pieces_equal_the_whole_batch_many_times(seed):
    check_stream(seed)


@pytest.mark.parametrize("seed", range(4, 8))
def test_splits_of_workers_without_memory_equal_the_whole_batch(seed, monkeypatch):
    monkeypatch.setattr(
        Piece, "run", lambda piece, run, kept, positions, _=None: PieceRun(piece, run, positions)
    )
    monkeypatch.setattr(Piece, "run_of", lambda piece, run: PieceRun(piece, run, None))
    check_stream(seed)


def test_few_rows_of_a_large_set_come_to_the_client(monkeypatch):
    rng, asked = np.random.default_rng(0), []
    original = splits.Members.merge.__func__

    def watch(cls, parts, wanted):
        asked.append(sum(len(part.slots) for part in parts))
        return original(cls, parts, wanted)

    monkeypatch.setattr(splits.Members, "merge", classmethod(watch))
    points = np.array([[0.0, 0.0], [2.0, 0.0]])[rng.integers(2, size=50_000)]
    points += 0.01 * rng.normal(size=points.shape)
    orders, penalties = VisitingOrders(1, 1, "split"), Penalties(9.0, max_gap=3, reach=1)
    batch = (points, None, orders, 1.0)
    found = step_in_pieces(batch, ClusterState.empty(2), penalties, [20_000, 40_000])
    assert len(found.counts) == 2
    assert sum(asked) < 10_000
