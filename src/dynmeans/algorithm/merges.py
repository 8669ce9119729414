"""A move of the deeper search: two sets become one.

Scatter rises by n1 n2/(n1 + n2) |m1 - m2|^2, and of two terms one is left: that of either identity,
or lambda.
"""

from dynmeans.algorithm.sets import NEW, Sets
from dynmeans.algorithm.sums import squared_distances


def merge_sets(sets: Sets, least: float) -> bool:
    """Merge pairs for which L_t falls by more than `least`, the best first; return whether any did.

    Each set takes part in one merge at most: after it, other pairs stand differently.
    """
    pairs = []
    for a in range(len(sets)):
        for b in range(a + 1, len(sets)):
            gain, owner = _gain(sets, a, b)
            if gain > least:
                pairs.append((-gain, a, b, owner))
    merged: set[int] = set()
    for _, a, b, owner in sorted(pairs):
        if a in merged or b in merged:
            continue
        merged |= {a, b}
        rows = sets.in_order([a, b])
        sets.own(a, NEW)
        sets.replace(b, rows[:0])
        sets.replace(a, rows)
        sets.own(a, owner)
    return bool(merged)


def _gain(sets: Sets, a: int, b: int) -> tuple[float, int]:
    """By how much L_t falls, and who owns the union; ties go to a new cluster, then to a."""
    batch, n = sets.batch, sets.n[a] + sets.n[b]
    rise = sets.n[a] * sets.n[b] / n * float(squared_distances(sets.mean(a), sets.mean(b)))
    mean = (sets.sums[a] + sets.sums[b]) / n
    term, owner = batch.new_penalty, NEW
    for candidate in (sets.owners[a], sets.owners[b]):
        if candidate != NEW and (other := batch.term(n, mean, candidate)) < term:
            term, owner = other, candidate
    return float(sets.term(a) + sets.term(b) - term - rise), owner
