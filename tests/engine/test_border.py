"""Late passes over the rows in doubt alone give the bits of passes over all rows."""

import numpy as np
import pytest
from batch_in_pieces import check_batches, check_stream, solve

from dynmeans import ClusterState, Penalties, VisitingOrders
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask import cluster
from dynmeans.engine.dask.piece import Piece
from dynmeans.engine.dask.piece_run import PieceRun
from dynmeans.engine.dask.turns import END, to_words


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
    return [(plain(n_rows, **options), None, VisitingOrders(3), 1.0)]


def gather(monkeypatch, n_bytes):
    """Let so much be gathered whenever no slot changes, whether it pays or not."""
    for name, value in {"_MAX_BYTES": n_bytes, "_MOVERS": 0, "_PAYS": 0}.items():
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
    penalties = Penalties(0.02, max_gap=3, reach=1)
    batch = (plain(60_000), None, VisitingOrders(0), 1.0)
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
        batches.append((points, weights, VisitingOrders(seed), 1.0))
    penalties = Penalties(0.05, revival_penalty=0.004, drift=0.5).with_motion("constant_velocity")
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
        Piece, "run", lambda piece, run, kept, positions, _=None: PieceRun(piece, run, positions)
    )
    check_batches(slow_batch(9_000), Penalties(0.05, max_gap=3, reach=1), "paper", 0)
    assert sum(passes_alone) > 5


LINE = np.array([0.0, 1.0, 2.0, 3.0, 5.4, 5.6, 8.0, 9.0, 10.0, 11.0])[:, None]
# The row at 3 is in slot 1, whose center is 52/7; 1, the center of slot 0, is nearer. Once it has
# moved, the centers are 1.5 and 49/6, and nobody else wants to move.
AT_FIRST = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
NOTHING = (np.empty((0, 1)), np.empty(0), np.empty(0), np.empty(0), False)


def pass_border(labels, in_doubt, slack=np.inf, reach=6.0, new_penalty=100.0):
    """Passes over some rows of the line, with the sums of all of them."""
    labels = np.array(labels, dtype=np.int32)
    unlabeled, n_slots = np.full(10, -1, np.int32), int(labels.max()) + 1
    sums = (np.array([11.0]), 1.0, 1.0, 10, False, new_penalty)
    places = np.arange(10, dtype=np.uint64)
    part = (LINE, None, 0, None, places, False, unlabeled, labels, np.zeros(10), None)
    bins = compiled.sum_moves([part], n_slots, sums)
    names = ("labels", "n_members", "bins", "has_moved", "last_centers", "costs", "n_passes")
    found = compiled.pass_border(
        LINE[in_doubt],
        None,
        labels[in_doubt],
        np.bincount(labels),
        bins,
        np.full((1, n_slots), slack),
        np.full((1, n_slots), reach),
        NOTHING,
        sums,
        new_penalty,
        1,
    )
    return dict(zip((*names, "is_over"), found, strict=True))


def test_passes_alone_have_the_members_and_sums_of_the_whole_batch():
    found = pass_border(AT_FIRST, in_doubt=[3])
    assert found["labels"].tolist() == [0]
    assert found["n_members"].tolist() == [4, 6]
    np.testing.assert_allclose(found["last_centers"], [[1.0], [52 / 7]])
    # Slot 0 at 1 costs 2, slot 1 at 52/7 costs 46.99; then 5 and 24.15, and lambda twice.
    rows = LINE[:, 0]
    at_first = 200 + 2 + ((rows[3:] - 52 / 7) ** 2).sum()
    after = 200 + 5 + ((rows[4:] - 49 / 6) ** 2).sum()
    np.testing.assert_allclose(found["costs"], [at_first, after, after])
    assert (found["n_passes"], found["is_over"]) == (1, True)
    assert found["has_moved"].tolist() == [1, 1]


# The centers move by 0.5 and 31/42 = 0.738, 1.238 in all, and are then 6.67 apart.
@pytest.mark.parametrize(
    ("slack", "reach", "is_over"),
    [
        (1.25, 6.0, True),
        (1.23, 6.0, False),
        (1.23, 2.5, True),
        (1.23, 2.7, False),
        (0.7, 0.1, False),
    ],
)
def test_passes_alone_end_when_a_row_that_stayed_behind_may_follow(slack, reach, is_over):
    found = pass_border(AT_FIRST, [3], slack, reach)
    assert (found["n_passes"], found["is_over"]) == (1, is_over)


def test_pass_that_would_empty_a_slot_is_not_made_alone():
    # Slot 2 is at 5.5, of the rows at 3 and 8: 1 and 8.2, the other centers, are nearer to them.
    found = pass_border([0, 0, 0, 2, 1, 1, 2, 1, 1, 1], in_doubt=[3, 6])
    assert (found["n_passes"], found["is_over"], len(found["costs"])) == (0, False, 1)


def test_pass_that_would_open_a_slot_is_not_made_alone():
    # 5.4 is 4.11 from 9.51 at least, and lambda is 4.
    found = pass_border([0, 0, 0, 0, 1, 1, 1, 1, 1, 1], in_doubt=[4], new_penalty=4.0)
    assert (found["n_passes"], found["is_over"]) == (0, False)


@pytest.mark.parametrize("most", [50, 400, 100_000])
@pytest.mark.parametrize("n_features", [1, 2, 6])
def test_rows_that_stay_behind_have_the_slack_of_their_slot(n_features, most):
    rng = np.random.default_rng(n_features)
    points, centers = rng.random((5_000, n_features)), rng.random((30, n_features))
    is_active, new_penalty = np.ones(30, np.uint8), 0.3 * n_features
    is_active[:3] = 0
    offsets, scales = np.where(is_active, 0.0, 0.05 * n_features), np.where(is_active, 1.0, 0.8)
    costs = offsets + scales * ((points[:, None] - centers) ** 2).sum(axis=2)
    labels = np.where(is_active, costs, np.inf).argmin(axis=1).astype(np.int32)
    own = costs[np.arange(5_000), labels]
    highest = np.zeros(30)
    np.maximum.at(highest, labels, own)
    others = np.minimum(np.where(np.arange(30) == labels[:, None], np.inf, costs), new_penalty)
    slack = np.sqrt(others.min(axis=1)) - np.sqrt(own)
    moves, hashes = 0.001 * rng.random(30), compiled.hash_rows(points, 0, 0)
    *_, in_doubt = compiled.propose_labeled(
        [(points, None, 0, None, hashes, True, labels, labels.copy(), own, None)],
        7,
        (centers, offsets, scales, is_active),
        new_penalty,
        to_words(0),
        to_words(END - 1),
        5_000,
        highest,
        most,
        moves,
    )
    numbers, rows, _, sent_labels, places, slacks = in_doubt
    stays = np.ones(5_000, dtype=bool)
    stays[places] = False
    assert 0 < len(numbers) <= most
    assert (slack[stays] >= slacks[labels[stays]]).all()
    np.testing.assert_array_equal(rows, points[places])
    np.testing.assert_array_equal(sent_labels, labels[places])
    assert most < 400 or (slack[places] < 0).sum() == (slack < 0).sum()


@pytest.mark.parametrize("pace", [0.001, 0.005, 0.009])
def test_rows_that_stay_behind_do_not_come_to_revive_a_cluster_first(pace):
    """A sleeping cluster that costs little far off: no rival of any row, but with less to spare."""
    points = np.linspace(-1.0, 1.0, 201)[:, None]
    clusters = (np.array([[0.0], [7.8]]), np.array([0.0, 0.0]), np.array([1.0, 0.04]))
    labels, own = np.zeros(201, np.int32), points[:, 0] ** 2
    hashes = compiled.hash_rows(points, 0, 0)
    *_, in_doubt = compiled.propose_labeled(
        [(points, None, 0, None, hashes, True, labels, labels.copy(), own, None)],
        7,
        (*clusters, np.array([1, 0], np.uint8)),
        100.0,
        to_words(0),
        to_words(END - 1),
        201,
        np.array([1.0, 0.0]),
        201,
        np.array([pace, 0.0]),
    )
    *_, places, slacks = in_doubt
    stays = np.setdiff1d(np.arange(201), places)
    slack = 0.2 * np.abs(points[:, 0] - 7.8) - np.abs(points[:, 0])
    assert (slack[stays] >= slacks[0]).all()
