"""A move of the deeper search: one set becomes two.

Algorithm 2 moves one point at a time, so two clouds under one center stay together as long as no
point is farther than sqrt(lambda) from it. Two means of the set (Lloyd's) separate them.

L_t alone would not do: the scatter of a set grows with its points while lambda does not, and with
enough points any cloud is cheaper in two. So the division must also be clearer than what cutting an
even spread in half would give: two means of that explain 3/4 of the variance along the line
between them, of a Gaussian 2/pi, of two clouds far apart all.

`search="split"` asks for more, so that lambda keeps the meaning it has in Algorithm 2: the two must
be plain. Two means explain 9/10 of all scatter if they are six radii (root mean square) apart.
"""

from typing import NamedTuple

import numpy as np

from dynmeans.algorithm.sets import NEW, Sets, SetsBatch
from dynmeans.algorithm.sums import squared_distances
from dynmeans.records.arrays import FloatArray, IntArray

# So many members, the first in the visiting order, decide whether more are asked.
SAMPLES = (64, 1024)
FIRST_TURNS, TURNS = 8, 4
FEWEST, MIN_OF_PART = 20, 5  # points of what is plain


class Halves:
    """Two parts of some rows: which are in the second, n and mean of each.

    `parted_by` are the means by which the rows were last divided.
    """

    def __init__(self, batch: SetsBatch, rows: IntArray, a: FloatArray, b: FloatArray, turns: int):
        """Lloyd's turns from the centers a and b; ties stay in the first part."""
        self.batch, self.rows, self.means = batch, rows, np.stack([a, b])
        self.is_second = np.zeros(len(rows), dtype=bool)
        for _ in range(turns):
            near, far = self._distances()
            is_second = far < near
            if np.array_equal(is_second, self.is_second):
                break
            self.is_second, self.parted_by = is_second, self.means
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
        """By how much the scatter falls."""
        return fall_of(self.n, self.means)

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
        if len(self.rows) < FEWEST or fewest < MIN_OF_PART:
            return False
        return bool(times * left < self.fall)


def split_sets(sets: Sets, least: float, *, require_clear_gap: bool = False) -> bool:
    """Split every set that is clearly two, and the parts again; return whether L_t fell."""
    k, has_changed = 0, False
    while k < len(sets):
        if _split(sets, k, least, require_clear_gap):
            has_changed = True
        else:
            k += 1
    return has_changed


def _split(sets: Sets, k: int, least: float, require_clear_gap: bool) -> bool:
    """Split set k if L_t falls by more than `least`: the second part becomes another set."""
    halves = halves_of(sets, k, require_clear_gap=require_clear_gap)
    if halves is None:
        return False
    way = cheapest_way(sets, k, halves.n, halves.means)
    if not halves.fall + sets.term(k) - way.terms > least:
        return False
    rows = sets.members[k]
    sets.replace(k, rows[~halves.is_second])
    way.take(sets, k, sets.append(rows[halves.is_second]))
    return True


class Way(NamedTuple):
    """Who keeps the identity of a set that becomes two, and which one the other part takes."""

    terms: float  # what the two parts cost beyond their scatter
    is_second_kept: bool
    taken: int

    def take(self, sets: Sets, k: int, added: int) -> None:
        """Give set k, now the first part, and the second, `added`, their identities."""
        owner = sets.owners[k]
        kept, other = (added, k) if self.is_second_kept else (k, added)
        sets.own(k, NEW)
        sets.own(kept, owner)
        sets.own(other, self.taken)


def cheapest_way(sets: Sets, k: int, n: FloatArray, means: FloatArray) -> Way:
    """Return the cheaper of two ways: the first part keeps the identity, or the second does."""
    ways = []
    for kept, other in ((0, 1), (1, 0)):
        term, taken = sets.cheapest_free(n[other], means[other])
        terms = sets.batch.term(n[kept], means[kept], sets.owners[k]) + term
        ways.append(Way(terms, kept == 1, taken))
    return ways[1] if ways[1].terms < ways[0].terms else ways[0]


def fall_of(n: FloatArray, means: FloatArray) -> float:
    """n1 n2/(n1 + n2) |m1 - m2|^2: by how much the scatter of two parts is below that of all."""
    return float(n[0] * n[1] / (n[0] + n[1]) * float(squared_distances(means[0], means[1])))


def halves_of(sets: Sets, k: int, *, require_clear_gap: bool = False) -> Halves | None:
    """Return set k in two, where that is clear (plain) in samples of it and in the whole."""
    batch, rows = sets.batch, sets.members[k]
    if len(rows) < 2:
        return None
    halves = first_halves(batch, rows[: SAMPLES[0]], sets.center(k))
    for n_asked in (*(n for n in SAMPLES if n < len(rows)), len(rows)):
        if n_asked > SAMPLES[0]:
            a, b = halves.means
            halves = Halves(batch, rows[:n_asked], a, b, TURNS)
        if not halves.are_two or not (
            halves.is_plain() if require_clear_gap else halves.is_clear()
        ):
            return None
    return halves


def first_halves(batch: SetsBatch, rows: IntArray, center: FloatArray) -> Halves:
    """Return the first members of a set in two, from the farthest of them."""
    first = batch.points[rows]
    a = first[np.argmax(squared_distances(first, center))]
    b = first[np.argmax(squared_distances(first, a))]
    return Halves(batch, rows, a, b, FIRST_TURNS)
