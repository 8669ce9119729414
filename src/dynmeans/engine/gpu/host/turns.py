"""Turns: when a row is visited, as a value that can be compared without sorting all rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

# By key, then by a second hash, of content and weight, then by row (algorithm/visiting_orders.py).
TURN = np.dtype([("key", np.uint64), ("tie", np.uint64), ("row", np.int64)])
TurnArray = npt.NDArray[Any]

FIRST = np.array((0, 0, -1), dtype=TURN)  # before every row
NEVER = np.array((2**64 - 1, 2**64 - 1, 2**63 - 1), dtype=TURN)  # after every row


def in_order(turns: TurnArray) -> npt.NDArray[np.intp]:
    """Return where each turn stands, from the first to the last."""
    order = np.argsort(turns["key"])
    keys = turns["key"][order]
    if (keys[1:] != keys[:-1]).all():
        return order
    return np.lexsort((turns["row"], turns["tie"], turns["key"]))


def join(*parts: TurnArray) -> TurnArray:
    """Put turns one after the other, as plain bytes: NumPy is slow to join records."""
    return np.concatenate([part.view(f"V{TURN.itemsize}") for part in parts]).view(TURN)


def is_before(a: TurnArray, b: TurnArray) -> npt.NDArray[np.bool_]:
    """Return, pair by pair, whether `a` is visited before `b`."""
    same_key, same_tie = a["key"] == b["key"], a["tie"] == b["tie"]
    by_row = same_tie & (a["row"] < b["row"])
    found: npt.NDArray[np.bool_] = (a["key"] < b["key"]) | (
        same_key & ((a["tie"] < b["tie"]) | by_row)
    )
    return found
