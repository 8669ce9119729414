"""What is told to workers: the clusters at the start of a pass, and what happened to them."""

import numpy as np

from dynmeans.engine.dask.messages import Moves, Proposals
from dynmeans.engine.dask.pass_log import ClusterTable, PassLog, SlotChanges
from dynmeans.engine.dask.turns import (
    END,
    ROOM,
    are_before,
    count_below,
    to_array,
    to_turn,
    to_words,
    turn_order,
)


def turns(*keys):
    """The turns of rows without ties, all of number 0."""
    return to_array([key * ROOM for key in keys])


def at(key):
    return key * ROOM


def new_slots(*pairs):
    """Clusters at their own slot number, opened at the turns with these keys."""
    slots = np.array([slot for _, slot in pairs])
    return SlotChanges.new_slots(
        turns(*[key for key, _ in pairs]), slots, slots[:, None].astype(float)
    )


START = PassLog.start(
    ClusterTable(
        np.zeros((2, 1)), np.array([0.5, 0.0]), np.ones(2), np.array([0, 1], dtype=np.uint8)
    )
)
LOG = START.add(new_slots((10, 2), (20, 0), (30, 3)))


def test_row_sees_only_what_happened_before_its_key():
    assert LOG.table_before(at(10)).n_slots == 2
    assert LOG.table_before(at(11)).n_slots == 3
    assert LOG.table_before(at(20)).is_active.tolist() == [0, 1, 1]
    assert LOG.table_before(at(21)).is_active.tolist() == [1, 1, 1]
    assert LOG.table_before(END).centers.ravel().tolist() == [0.0, 0.0, 2.0, 3.0]


def test_emptied_cluster_is_told_in_its_place_and_after_what_the_same_row_opened():
    log = LOG.add_emptied(at(20), 1, asleep=None)
    assert log.changes.slots.tolist() == [2, 0, 1, 3]
    assert log.table_before(at(21)).offsets.tolist() == [0.0, np.inf, 0.0]
    assert log.table_before(at(20)).offsets[1] == 0.0


def test_emptied_memory_falls_back_to_its_old_cost():
    asleep = ClusterTable(
        np.array([[7.0]]), np.array([0.5]), np.array([0.25]), np.zeros(1, np.uint8)
    )
    table = LOG.add_emptied(at(25), 0, asleep).table_before(at(26))
    assert (table.centers[0, 0], table.offsets[0], table.scales[0]) == (7.0, 0.5, 0.25)
    assert table.is_active.tolist() == [0, 1, 1]


def test_what_is_void_is_forgotten():
    assert LOG.until(at(21)).changes.slots.tolist() == [2, 0]
    assert LOG.until(at(21)).n_slots == 3


def test_proposals_count_up_to_where_every_list_is_complete():
    first = Proposals(turns(5, 40), np.array([[0.5], [4.0]]), last=at(40))
    second = Proposals(turns(2, 50), np.array([[0.2], [5.0]]), last=at(99))
    merged = Proposals.merge([first, second])
    assert (merged.turns[:, 0].tolist(), merged.last) == ([2, 5, 40], at(40))
    assert merged.rows.ravel().tolist() == [0.2, 0.5, 4.0]


def test_moves_in_all_pieces_are_added_and_their_outermost_keys_kept():
    zero, one = np.array([0]), np.array([1])
    first = Moves(2, zero, one, 2 * one, turns(9), turns(8), np.array([[0.5, 0.25]]))
    second = Moves(2, zero, 3 * one, zero, turns(4), turns(0), np.array([[1.0, -2.0]]))
    merged = Moves.merge([first, second])
    assert (merged.n_joined.tolist(), merged.n_left.tolist()) == ([4, 0], [2, 0])
    assert (merged.first_join[0, 0], merged.last_leave[0, 0]) == (4, 8)
    assert merged.sums.tolist() == [[1.5, -1.75], [0.0, 0.0]]


def test_moves_have_no_sums_until_every_piece_may_be_over():
    zero, one = np.array([0]), np.array([1])
    first = Moves(1, zero, one, zero, turns(9), turns(8), np.array([[0.5]]))
    second = Moves(1, zero, one, zero, turns(9), turns(8), None)
    assert Moves.merge([first, second]).sums is None


def test_turns_go_by_key_then_tie_then_row():
    rng = np.random.default_rng(0)
    some = rng.choice(np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64), size=(200, 3))
    numbers = [to_turn(turn) for turn in some]
    assert [tuple(to_words(number)) for number in numbers] == [tuple(t) for t in some.tolist()]
    np.testing.assert_array_equal(to_array(numbers), some)
    in_order = some[turn_order(some)]
    assert [to_turn(turn) for turn in in_order] == sorted(numbers)
    for bound in [*numbers[:20], 0, END]:
        assert count_below(in_order, bound) == sum(number < bound for number in numbers)
    others = some[::-1]
    expected = [one < other for one, other in zip(numbers, numbers[::-1], strict=True)]
    assert are_before(some, others).tolist() == expected


def test_equal_rows_count_once_among_proposals():
    some = to_array([5 * ROOM, 5 * ROOM + 1, 7 * ROOM + 2, 7 * ROOM + (1 << 64)])
    assert Proposals(some, np.zeros((4, 1)), last=END - 1).n_unlike == 3
    assert Proposals(some[:0], np.zeros((0, 1)), last=END - 1).n_unlike == 0
