"""Late passes over the rows in doubt alone give the bits of passes over all rows."""

import numpy as np
import pytest
from batch_in_pieces import check_batches, check_stream, solve

from dynmeans import ClusterState, Penalties, VisitingOrders, step
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask import cluster
from dynmeans.engine.dask.piece import Piece
from dynmeans.engine.dask.piece_run import PieceRun


@pytest.fixture
def passes_alone(monkeypatch):
    """Count, for each gathering, the passes that were made without the workers."""
    made, original = [], cluster._pass_border

    def watch(before, *arguments):
        alone = original(before, *arguments)
        if alone is not None:
            made.append(alone[0].n_passes - before.n_passes)
        return alone

    monkeypatch.setattr(cluster, "_pass_border", watch)
    return made


def plain(n_rows, n_features=2, seed=0):
    """Rows without gaps between clusters: hundreds of passes, in which few rows move."""
    return np.random.default_rng(seed).random((n_rows, n_features))


def slow_batch(n_rows=20_000, **options):
    return [(plain(n_rows, **options), None, VisitingOrders(3, by="row"), 1.0)]


def gather(monkeypatch, n_bytes):
    """Let so much be gathered whenever no slot changes, whether it pays or not."""
    for name, value in {"_MOST_BYTES": n_bytes, "_MOVERS": 0, "_PAYS": 0}.items():
        monkeypatch.setattr(cluster, name, value)


@pytest.mark.parametrize("n_bytes", [1e3, 1e4, 1e5, 1e7])
@pytest.mark.parametrize("seed", range(12))
def test_any_number_of_rows_in_doubt_gives_the_same_bits(seed, n_bytes, monkeypatch):
    gather(monkeypatch, int(n_bytes))
    check_stream(seed)


@pytest.mark.parametrize(
    ("n_features", "n_bytes"), [(1, 50_000), (2, 20_000), (2, 100_000), (5, 80_000), (9, 10**6)]
)
def test_rows_in_doubt_of_a_slow_batch_give_the_same_bits(
    n_features, n_bytes, monkeypatch, passes_alone
):
    gather(monkeypatch, n_bytes)
    penalties = Penalties(0.04 * n_features**1.5, max_gap=3, reach=1)
    check_batches(slow_batch(n_features=n_features), penalties, "paper", 0)
    assert sum(passes_alone) > 3


def test_hundreds_of_passes_take_tens_of_rounds():
    points, weights, orders, _ = slow_batch(60_000)[0]
    penalties = Penalties(0.02, max_gap=3, reach=1)
    batch = (points, weights, orders, 1.0)
    cuts = [7_000, 30_000]
    ((found, workers),) = solve(batch, ClusterState.empty(2), penalties, "paper", cuts)
    assert len(found.cost_trace) > 100
    assert len(workers.rounds) < 10


def test_gathered_rows_with_weights_and_memory_give_the_same_bits(monkeypatch, passes_alone):
    gather(monkeypatch, 50_000)
    rng, batches = np.random.default_rng(1), []
    for seed in range(3):
        weights = rng.choice([0.0, 0.3, 1.0, 5.0], size=9_000)
        points = plain(9_000, seed=seed).astype(np.float32 if seed == 1 else np.float64)
        batches.append((points, weights, VisitingOrders(seed, by="row"), 1.0))
    penalties = Penalties(0.05, revival_penalty=0.004, drift=0.5).with_motion("steady")
    check_batches(batches, penalties, "exact", 0)
    assert sum(passes_alone) > 10


def test_gathered_rows_of_a_given_order_give_the_same_bits(monkeypatch, passes_alone):
    gather(monkeypatch, 50_000)
    order = np.random.default_rng(0).permutation(9_000)[None]
    penalties = Penalties(0.05, max_gap=3, reach=1)
    check_batches([(plain(9_000), None, order, 1.0)], penalties, "paper", 0)
    assert sum(passes_alone) > 5


def test_workers_that_forgot_what_they_sent_label_their_rows_again(monkeypatch, passes_alone):
    gather(monkeypatch, 50_000)
    monkeypatch.setattr(
        Piece, "run", lambda piece, run, kept, positions: PieceRun(piece.parts, run, positions)
    )
    check_batches(slow_batch(9_000), Penalties(0.05, max_gap=3, reach=1), "paper", 0)
    assert sum(passes_alone) > 5


# Two clusters on a line, of five rows each, the border at 5.5; the row at 5.4 is in doubt.
LINE = np.array([0.0, 1.0, 2.0, 3.0, 5.4, 5.6, 8.0, 9.0, 10.0, 11.0])[:, None]
SUMS = (np.array([11.0]), 1.0, 1.0, 10, False, 100.0)
NOTHING = (np.empty((0, 1)), np.empty(0), np.empty(0), np.empty(0))


def pass_border(labels, slacks=np.inf, in_doubt=slice(None), new_penalty=100.0):
    labels = np.array(labels, dtype=np.int32)
    n_slots = labels.max() + 1
    nobody = np.full(10, -1, np.int32)
    part = (LINE, None, 0, None, nobody, labels, np.zeros(10), None)
    bins = compiled.sum_moves([part], n_slots, SUMS)
    return compiled.pass_border(
        LINE[in_doubt],
        None,
        labels[in_doubt],
        np.bincount(labels),
        bins,
        np.full((1, n_slots), slacks),
        np.full((1, n_slots), 6.0),
        NOTHING,
        SUMS,
        new_penalty,
        1,
    )


def test_border_passes_go_on_until_nothing_changes():
    # Centers 1.5 and 49/6: 5.4 and 5.6 are nearer to the second; so it stands, with 4 and 6 rows.
    labels, n_members, _, has_moved, last, costs, n_passes, is_over = pass_border(
        [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    )
    # Before: centers 17/6 and 9.5, 5.4 at 2.57 and 4.1: nobody would move.
    assert labels.tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert n_members.tolist() == [6, 4]
    assert (n_passes, is_over, has_moved.any(), last.size) == (0, True, False, 0)
    assert costs[0] == costs[1]
