"""A move of the deeper search: one point to another set, at what that truly costs.

Eq. 5 compares a point with centers that stand still. Hartigan's rule lets them follow: a set of
mass g = gamma + n that a point of weight w leaves saves g w/(g - w) |y - theta|^2, one that it
joins pays g w/(g + w) |y - theta|^2. The two rules differ by about w/g, so only the members of sets
with few points are tried.
"""

import numpy as np

from dynmeans.algorithm.sets import NEW, Sets
from dynmeans.algorithm.sums import squared_distances

FEW = 16  # points


def move_single_points(sets: Sets, least: float) -> bool:
    """Ask the members of small sets, in visiting order; return whether L_t fell."""
    small = [k for k in range(len(sets)) if 0 < len(sets.members[k]) <= FEW]
    home = {int(i): k for k in small for i in sets.members[k]}
    has_changed = False
    for i in sets.in_order(small).tolist():
        has_changed |= _move(sets, i, home[i], least)
    return has_changed


def _move(sets: Sets, i: int, k: int, least: float) -> bool:
    """Put point i of set k where L_t falls most, if by more than `least`."""
    y, w = sets.batch.points[i], float(sets.batch.weights[i])
    is_alone = len(sets.members[k]) == 1
    left = sets.mass(k) - w
    if not is_alone and not left > 0.0:
        return False
    away = float(squared_distances(y, sets.center(k)))
    saved = sets.term(k) if is_alone else sets.mass(k) * w / left * away
    lowest, best = np.inf, NEW
    for b in range(len(sets)):
        if b == k or not len(sets.members[b]):
            continue
        g = sets.mass(b)
        paid = g * w / (g + w) * float(squared_distances(y, sets.center(b)))
        if paid < lowest:
            lowest, best = paid, b
    owner = NEW
    if not is_alone:
        term, owner = sets.cheapest_free(w, y)
        if term < lowest:
            lowest, best = term, NEW
    if not saved - lowest > least:
        return False
    rows = sets.members[k]
    sets.replace(k, rows[rows != i])
    if best == NEW:
        sets.own(sets.append(np.array([i])), owner)
    else:
        sets.replace(best, np.append(sets.members[best], i))
    return True
