"""Links: clusters born where a forgotten one had been, proposed and never made silently.

Accepting a link is an edit of the run, `merge_clusters`: the log has it, and it can be undone.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dynmeans.follow.clusterers import DETECTIONS, NOISE
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.format_count import format_count
from dynmeans.records.arrays import FloatArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.run import Run
from dynmeans.spaces.space import Space

_MIN_WINDOWS = 2  # windows: what was seen once is no place that one comes back to
_MAX_FORGOTTEN = 2_000  # forgotten clusters that are looked at, the last ones
_ROOM = 1.1  # over the longest gap
_AT_ONCE = 1_000  # windows whose centers are mapped in one call
_MAX_NUMBERS = 1_000_000  # of these centers
_READ = 20  # windows that are read together


class SuggestedMatch(NamedTuple):
    """A cluster that may be one that was forgotten."""

    cluster_id: int  # the one that was forgotten
    other_id: int  # the one that was born in its place
    step: int  # number of the window in which that was
    gap: float  # steps of time since the first was last seen
    distance: float  # between the two places, in the unit of the space


class _Life:
    """What is known of an identity."""

    def __init__(self, time: float, step: int) -> None:
        self.begin, self.end, self.step, self.n_windows = time, time, step, 0
        self.place: FloatArray = np.empty(0)


def suggested_matches_of_run(
    run: Run, records: Iterable[StepRecord] | None = None
) -> list[SuggestedMatch]:
    """Return the links that no one has accepted yet, in the order of births.

    Of single objects there are none: a longer memory would join strangers. With `records`, the
    run's history need not be read again.
    """
    memory, penalties = run.memory, run.penalties
    if memory is None or penalties is None or not math.isfinite(penalties.max_gap):
        return []
    if memory.method == DETECTIONS:
        return []
    records = _records(run) if records is None else records
    return find_suggested_matches(records, penalties, memory.space_or_raw, run.edits.merged)


def _records(run: Run) -> Iterator[StepRecord]:
    """Yield the records of a run, a few windows at a time: they may be wide and many."""
    for first in range(0, run.status().n_windows, _READ):
        yield from run.history(labels=False, first_step=first, last_step=first + _READ - 1)


def find_suggested_matches(
    records: Iterable[StepRecord],
    penalties: Penalties,
    space: Space,
    shown: Mapping[int, int] = MappingProxyType({}),
) -> list[SuggestedMatch]:
    """Match clusters that are born one to one to forgotten ones within `reach` of their places.

    `shown` has the cluster of each subcluster: of those shown the one must have ended before the
    other began.
    """
    lifetimes: dict[int, _Life] = {}
    away: dict[int, _Life] = {}
    pairs: dict[int, tuple[int, float]] = {}  # from the one born to the one forgotten
    time, gate = 0.0, penalties.reach * penalties.new_penalty
    for record, points in _with_points(records, space):
        time = record.time
        born = [row for row, k in enumerate(record.ids.tolist()) if k not in lifetimes]
        looked_at = away.items() if born else ()
        gone = [k for k, life in looked_at if time - life.end >= penalties.max_gap]
        gone = gone[-_MAX_FORGOTTEN:]
        if gone:
            squares = cdist(points[born], [away[k].place for k in gone], "sqeuclidean")
            gains = np.minimum(squares - gate, 0.0)
            for row, column in zip(*linear_sum_assignment(gains), strict=True):
                if gains[row, column] < 0.0:
                    newborn = int(record.ids[born[row]])
                    pairs[newborn] = gone[column], math.sqrt(squares[row, column])
                    del away[gone[column]]
        for row, k in enumerate(record.ids.tolist()):
            life = lifetimes.setdefault(k, _Life(time, record.step))
            life.end, life.place, life.n_windows = time, points[row].copy(), life.n_windows + 1
            away.pop(k, None)  # those seen last come last
            if life.n_windows >= _MIN_WINDOWS:
                away[k] = life
    found = [
        SuggestedMatch(
            k, other, lifetimes[other].step, lifetimes[other].begin - lifetimes[k].end, distance
        )
        for other, (k, distance) in pairs.items()
        if lifetimes[other].n_windows >= _MIN_WINDOWS or lifetimes[other].begin == time
    ]
    ends: dict[int, tuple[float, float]] = {}
    for k, life in lifetimes.items():
        begin, end = ends.get(shown.get(k, k), (life.begin, life.end))
        ends[shown.get(k, k)] = min(begin, life.begin), max(end, life.end)
    return [link for link in found if _is_of_others(link, ends, shown)]


def _is_of_others(
    link: SuggestedMatch, ends: Mapping[int, tuple[float, float]], shown: Mapping[int, int]
) -> bool:
    """Return whether two clusters are shown, of which the one ended before the other began."""
    old, new = (shown.get(k, k) for k in (link.cluster_id, link.other_id))
    return NOISE not in (old, new) and ends[old][1] < ends[new][0]


def _with_points(
    records: Iterable[StepRecord], space: Space
) -> Iterator[tuple[StepRecord, FloatArray]]:
    """Yield records and their centers as points of the space."""
    for some in _together(records):
        points = np.asarray(space.to_points(np.concatenate([record.centers for record in some])))
        ends = np.cumsum([len(record.ids) for record in some])[:-1]
        yield from zip(some, np.split(points, ends), strict=True)


def _together(records: Iterable[StepRecord]) -> Iterator[list[StepRecord]]:
    """Yield records of many small windows together, of few large ones."""
    some: list[StepRecord] = []
    size = 0
    for record in records:
        some.append(record)
        size += record.centers.size
        if size >= _MAX_NUMBERS or len(some) == _AT_ONCE:
            yield some
            some, size = [], 0
    if some:
        yield some


def format_suggested_matches(links: list[SuggestedMatch], max_gap: float) -> ArgumentText | None:
    """Return how many links there are, and what keeps such clusters from being forgotten."""
    if not links:
        return None
    longest = max(link.gap for link in links)
    them = "it" if len(links) == 1 else "them"
    return ArgumentText(
        f"{format_count(len(links), 'new cluster')} appeared near a forgotten one, after up to "
        f"{longest:.4g} inactive steps, and may be the same. {{suggested_matches}} lists {them}; "
        f"{{max_gap={math.ceil(_ROOM * longest + 1)}}} instead of {max_gap:.3g} would have "
        f"remembered {them}."
    )
