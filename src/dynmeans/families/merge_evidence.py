"""The evidence of two streams as that of one, once their identities are matched."""

from collections import deque
from dataclasses import replace

import numpy as np

from dynmeans.families.batch_cells import NearPairs
from dynmeans.families.evidence import Array, Evidence
from dynmeans.records.arrays import IntArray

_FLIPPED = ("error", "other_error")  # columns of a pair that belong to one of its sides


def merge_evidence(evidence: Evidence, other: Evidence, new_ids: IntArray) -> Evidence:
    """Return the sums of both; `new_ids` are the identities of `other` in the first stream."""
    merged, other = evidence.copy(), other.copy()
    merged.settle()
    other.settle()
    if not len(other.ids):
        return merged
    ids = np.concatenate([merged.ids, new_ids[other.ids]])
    names, rows = np.unique(ids, return_inverse=True)

    def both(name: str) -> Array:
        own, added = getattr(merged, name), getattr(other, name)
        return np.concatenate([own.reshape(-1, *added.shape[1:]), added])

    def total(name: str) -> Array:
        values = both(name)
        sums = np.zeros((len(names), *values.shape[1:]), values.dtype)
        np.add.at(sums, rows, values)
        return sums

    last_times = both("last_times")
    first, last = (
        order[np.unique(rows[order], return_index=True)[1]]
        for order in (
            np.argsort(both("first_times"), kind="stable"),
            np.argsort(-last_times, kind="stable"),
        )
    )
    # Each pair has the smaller number first.
    pair_ids = np.concatenate([merged.pair_ids, new_ids[other.pair_ids]])
    pairs = np.concatenate([merged.pairs, other.pairs])
    flipped = np.flatnonzero(pair_ids[:, 0] > pair_ids[:, 1])
    sides = np.array([NearPairs.COLUMNS.index(name) for name in _FLIPPED])
    pairs[np.ix_(flipped, sides)] = pairs[np.ix_(flipped, sides[::-1])]
    pair_ids, places = np.unique(np.sort(pair_ids, axis=1), axis=0, return_inverse=True)
    summed = np.zeros((len(pair_ids), pairs.shape[1]))
    np.add.at(summed, places.ravel(), pairs)
    n_batches = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(n_batches, rows, both("n_batches"))
    fields = {name: total(name) for name in ("n", "free", "squares", "sums")}
    fields |= {f"first_{name}": both(f"first_{name}")[first] for name in ("means", "times")}
    fields |= {f"last_{name}": both(f"last_{name}")[last] for name in ("means", "times")}
    fields |= {"ids": names, "n_batches": n_batches, "pair_ids": pair_ids, "pairs": summed}
    for name, values in fields.items():
        setattr(merged, name, values)
    renamed = (
        replace(batch, labels=new_ids[batch.labels], ids=new_ids[batch.ids])
        for batch in other.sample
    )
    merged.sample = deque(sorted([*merged.sample, *renamed], key=lambda batch: batch.time))
    merged.n_added = max(merged.n_added, other.n_added)
    merged.advance_to(other)
    return merged
