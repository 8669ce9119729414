"""What is told to workers: the clusters at the start of a pass, and what happened to them."""

import numpy as np

from dynmeans.engine.dask.messages import Moves, Proposals
from dynmeans.engine.dask.pass_log import ClusterTable, PassLog, SlotChanges


def keys(*values):
    return np.array(values, dtype=np.uint64)


def opened(*pairs):
    """Clusters at their own slot number, opened at these keys."""
    slots = np.array([slot for _, slot in pairs])
    return SlotChanges.opened(keys(*[key for key, _ in pairs]), slots, slots[:, None].astype(float))


START = PassLog.start(
    ClusterTable(
        np.zeros((2, 1)), np.array([0.5, 0.0]), np.ones(2), np.array([0, 1], dtype=np.uint8)
    )
)
LOG = START.add(opened((10, 2), (20, 0), (30, 3)))


def test_row_sees_only_what_happened_before_its_key():
    assert LOG.table_before(10).n_slots == 2
    assert LOG.table_before(11).n_slots == 3
    assert LOG.table_before(20).is_active.tolist() == [0, 1, 1]
    assert LOG.table_before(21).is_active.tolist() == [1, 1, 1]
    assert LOG.table_before(2**64).centers.ravel().tolist() == [0.0, 0.0, 2.0, 3.0]


def test_emptied_cluster_is_told_in_its_place_and_after_what_the_same_row_opened():
    log = LOG.add_emptied(20, 1, asleep=None)
    assert log.changes.slots.tolist() == [2, 0, 1, 3]
    assert log.table_before(21).offsets.tolist() == [0.0, np.inf, 0.0]
    assert log.table_before(20).offsets[1] == 0.0


def test_emptied_memory_falls_back_to_its_old_cost():
    asleep = ClusterTable(
        np.array([[7.0]]), np.array([0.5]), np.array([0.25]), np.zeros(1, np.uint8)
    )
    table = LOG.add_emptied(25, 0, asleep).table_before(26)
    assert (table.centers[0, 0], table.offsets[0], table.scales[0]) == (7.0, 0.5, 0.25)
    assert table.is_active.tolist() == [0, 1, 1]


def test_what_is_void_is_forgotten():
    assert LOG.until(21).changes.slots.tolist() == [2, 0]
    assert LOG.until(21).n_slots == 3


def test_proposals_count_up_to_where_every_list_is_complete():
    first = Proposals(keys(5, 40), np.array([[0.5], [4.0]]), last=40)
    second = Proposals(keys(2, 50), np.array([[0.2], [5.0]]), last=99)
    merged = Proposals.merged([first, second])
    assert (merged.keys.tolist(), merged.last) == ([2, 5, 40], 40)
    assert merged.rows.ravel().tolist() == [0.2, 0.5, 4.0]


def test_moves_in_all_pieces_are_added_and_their_outermost_keys_kept():
    zero, one = np.array([0]), np.array([1])
    first = Moves(2, zero, one, 2 * one, keys(9), keys(8), np.array([[0.5, 0.25]]))
    second = Moves(2, zero, 3 * one, zero, keys(4), keys(0), np.array([[1.0, -2.0]]))
    merged = Moves.merged([first, second])
    assert (merged.n_joined.tolist(), merged.n_left.tolist()) == ([4, 0], [2, 0])
    assert (merged.first_join[0], merged.last_leave[0]) == (4, 8)
    assert merged.sums.tolist() == [[1.5, -1.75], [0.0, 0.0]]


def test_moves_have_no_sums_until_every_piece_may_be_over():
    zero, one = np.array([0]), np.array([1])
    first = Moves(1, zero, one, zero, keys(9), keys(8), np.array([[0.5]]))
    second = Moves(1, zero, one, zero, keys(9), keys(8), None)
    assert Moves.merged([first, second]).sums is None
