"""Turns: when a row is visited, as values that can be compared without sorting all rows.

A turn is (key, tie, row), three unsigned numbers of 64 bits (algorithm/visiting_orders.py, and
native/dask/turns.hpp); for an order that was given, the key is the place of the row. In an array
each row is a turn. A single turn, or a bound between turns, is one integer with the key in the
highest bits.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dynmeans.records.arrays import IntArray

TurnArray = npt.NDArray[np.uint64]  # (n, 3)
Words = npt.NDArray[np.uint64]
BoolArray = npt.NDArray[np.bool_]

ROOM = 2**128  # turns of one key
END = 2**64 * ROOM  # after every turn
_WORD = 2**64


class TurnWords(NamedTuple):
    """One turn, as the compiled module takes it."""

    key: int
    tie: int
    row: int


def to_words(turn: int) -> TurnWords:
    """Take a turn apart."""
    return TurnWords(turn // ROOM, turn // _WORD % _WORD, turn % _WORD)


def to_turn(words: Words) -> int:
    """Put a row of an array of turns together."""
    key, tie, row = words.tolist()
    turn: int = key * ROOM + tie * _WORD + row
    return turn


def to_array(turns: list[int]) -> TurnArray:
    """Return these turns as an array."""
    return np.array([to_words(turn) for turn in turns], dtype=np.uint64).reshape(-1, 3)


def turn_order(turns: TurnArray) -> IntArray:
    """Return where each turn is, from the first to the last."""
    order: IntArray = np.lexsort((turns[:, 2], turns[:, 1], turns[:, 0]))
    return order


def count_below(turns: TurnArray, turn: int) -> int:
    """Count the turns before this one, of turns that rise."""
    if turn >= END:
        return len(turns)
    key, tie, row = to_words(turn)
    first, end = (int(np.searchsorted(turns[:, 0], np.uint64(key), s)) for s in ("left", "right"))
    same = turns[first:end]
    is_below = (same[:, 1] < np.uint64(tie)) | (
        (same[:, 1] == np.uint64(tie)) & (same[:, 2] < np.uint64(row))
    )
    return first + int(is_below.sum())


def are_before(these: TurnArray, others: TurnArray) -> BoolArray:
    """Whether each turn is before the other one of its pair."""
    key, tie, row = (these < others).T
    same_key, same_tie, _ = (these == others).T
    found: BoolArray = key | (same_key & (tie | (same_tie & row)))
    return found
