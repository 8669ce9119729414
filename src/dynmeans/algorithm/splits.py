"""A move of the deeper search: one set becomes two.

Algorithm 2 moves one point at a time, so two clouds under one center stay together as long as no
point is farther than sqrt(lambda) from it. Two means of the set (Lloyd's) tell them apart.

L_t alone would not do: the scatter of a set grows with its points while lambda does not, and with
enough points any cloud is cheaper in two. So the division must also be clearer than what cutting an
even spread in half would give: two means of that explain 3/4 of the variance along the line
between them, of a Gaussian 2/pi, of two clouds far apart all.

`search="split"` asks for more, so that lambda keeps the meaning it has in Algorithm 2: the two must
be plain. Two means explain 9/10 of all scatter if they are six radii (root mean square) apart.
"""

import numpy as np

from dynmeans.algorithm.sets import NEW, Batch, Sets
from dynmeans.algorithm.sums import squared_distances
from dynmeans.records.arrays import FloatArray, IntArray

# So many members, the first in the visiting order, decide whether more are asked.
SAMPLES = (64, 1024)
FIRST_TURNS, TURNS = 8, 4
FEWEST, FEWEST_OF_PART = 20, 5  # points of what is plain


class _Halves:
    """Two parts of some rows: which are in the second, n and mean of each."""

    def __init__(self, batch: Batch, rows: IntArray, a: FloatArray, b: FloatArray, turns: int):
        """Lloyd's turns from the centers a and b; ties stay in the first part."""
        self.batch, self.rows, self.means = batch, rows, np.stack([a, b])
        self.is_second = np.zeros(len(rows), dtype=bool)
        for _ in range(turns):
            near, far = self._distances()
            is_second = far < near
            if np.array_equal(is_second, self.is_second):
                break
            self.is_second = is_second
            if is_second.all():
                break
            self.n, sums = self.batch.sums(rows, is_second.astype(np.int64), 2)
            self.means = sums / self.n[:, None]

    @property
    def are_two(self) -> bool:
        """Whether both parts have members."""
        return bool(self.is_second.any() and not self.is_second.all())

    def _distances(self) -> tuple[FloatArray, FloatArray]:
        points = self.batch.points[self.rows]
        return squared_distances(points, self.means[0]), squared_distances(points, self.means[1])

    @property
    def fall(self) -> float:
        """n1 n2/(n1 + n2) |m1 - m2|^2: by how much the scatter falls."""
        apart = float(squared_distances(self.means[0], self.means[1]))
        return float(self.n[0] * self.n[1] / (self.n[0] + self.n[1]) * apart)

    def is_clear(self, times: float = 3.0) -> bool:
        """Whether the two means explain `times` the rest of the variance along their line: 3/4.

        A point at squared distances e and f from them lies (e - f)^2 / (4 |m1 - m2|^2) from the
        plane midway, squared.
        """
        apart = float(squared_distances(self.means[0], self.means[1]))
        if not apart > 0.0:
            return False
        e, f = self._distances()
        along, most = (e - f) * (e - f) / (4.0 * apart), 0.5 * (e + f)  # it is no more than that
        along = np.where(along < most, along, most)
        total = self.batch.weighted_sum(self.rows, along)
        within = total - 0.25 * (self.n[0] + self.n[1]) * apart
        return bool(times * within < self.fall)

    def is_plain(self, times: float = 9.0) -> bool:
        """Whether they explain 9/10 of the whole scatter; a few points may do so by chance."""
        e, f = self._distances()
        left = self.batch.weighted_sum(self.rows, np.where(self.is_second, f, e))
        n_second = int(self.is_second.sum())
        fewest = min(n_second, len(self.rows) - n_second)
        if len(self.rows) < FEWEST or fewest < FEWEST_OF_PART:
            return False
        return bool(times * left < self.fall)


def split_sets(sets: Sets, least: float, *, asks_plain: bool = False) -> bool:
    """Split every set that is clearly (plainly) two, and the parts again; say whether L_t fell."""
    k, has_changed = 0, False
    while k < len(sets):
        if _split(sets, k, least, asks_plain):
            has_changed = True
        else:
            k += 1
    return has_changed


def _split(sets: Sets, k: int, least: float, asks_plain: bool) -> bool:
    """Split set k if L_t falls by more than `least`: the second part becomes another set."""
    halves = halves_of(sets, k, asks_plain=asks_plain)
    if halves is None:
        return False
    owner, (m1, m2), (n1, n2) = sets.owners[k], halves.means, halves.n
    ways = []
    for n, m, n_other, m_other in ((n1, m1, n2, m2), (n2, m2, n1, m1)):
        term, taken = sets.cheapest_free(n_other, m_other)
        ways.append((sets.batch.term(n, m, owner) + term, taken))
    is_second_kept = ways[1][0] < ways[0][0]
    terms, taken = ways[1] if is_second_kept else ways[0]
    if not halves.fall + sets.term(k) - terms > least:
        return False
    rows = sets.members[k]
    sets.replace(k, rows[~halves.is_second])
    added = sets.append(rows[halves.is_second])
    kept, other = (added, k) if is_second_kept else (k, added)
    sets.own(k, NEW)
    sets.own(kept, owner)
    sets.own(other, taken)
    return True


def halves_of(sets: Sets, k: int, *, asks_plain: bool = False) -> _Halves | None:
    """Return set k in two, where that is clear (plain) in samples of it and in the whole."""
    batch, rows = sets.batch, sets.members[k]
    if len(rows) < 2:
        return None
    halves = first_halves(batch, rows[: SAMPLES[0]], sets.center(k))
    for n_asked in (*(n for n in SAMPLES if n < len(rows)), len(rows)):
        if n_asked > SAMPLES[0]:
            a, b = halves.means
            halves = _Halves(batch, rows[:n_asked], a, b, TURNS)
        if not halves.are_two or not (halves.is_plain() if asks_plain else halves.is_clear()):
            return None
    return halves


def first_halves(batch: Batch, rows: IntArray, center: FloatArray) -> _Halves:
    """Return the first members of a set in two, from the farthest of them."""
    first = batch.points[rows]
    a = first[np.argmax(squared_distances(first, center))]
    b = first[np.argmax(squared_distances(first, a))]
    return _Halves(batch, rows, a, b, FIRST_TURNS)
