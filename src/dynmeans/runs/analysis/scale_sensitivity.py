"""Clusters that would be split or merged if new_penalty changed by a factor of up to two."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dynmeans.algorithm.sets import Sets, SetsBatch
from dynmeans.algorithm.splits import halves_of
from dynmeans.algorithm.sums import squared_distances
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState
from dynmeans.runs.reading.sampling import Sample
from dynmeans.runs.run import Run

_FACTOR = 2.0  # of lambda: who would not be sure of it by less is told
_SURELY = 9.0  # times the rest of the variance: in few points, halves look clear by chance
_FEWEST = 12  # points
_MAX_PRINTED = 5
_MAX_CLUSTERS = 200  # of a batch; more are not looked at in pairs


def scale_sensitivity(points: FloatArray, labels: IntArray, new_penalty: float) -> dict[int, str]:
    """Return for each cluster of one batch how another lambda, within a factor of two, divides it.

    A cluster looks like two if its points fall in two clear parts (decision 0017), and half of
    lambda would pay for the second. Two look like one if their points together do not fall in two
    clear parts, and all of them are within reach of one center at twice lambda.

    >>> rng = np.random.default_rng(0)
    >>> points = np.repeat([[0.0], [1.0], [9.0]], 20, axis=0) + 0.05 * rng.normal(size=(60, 1))
    >>> scale_sensitivity(points, np.repeat([4, 4, 7], 20), 1.5)
    {4: '4 may be split in two'}
    """
    rows = np.flatnonzero(labels >= 0)
    sentences: dict[int, str] = {}
    if not len(rows):
        return sentences
    sets = _sets(points[rows], labels[rows], new_penalty)
    ids = np.unique(labels[rows]).tolist()
    for k, name in enumerate(ids):
        halves = halves_of(sets, k)
        if halves is None or len(halves.rows) < _FEWEST or not halves.is_clear(_SURELY):
            continue
        if halves.fall > new_penalty / _FACTOR:
            sentences[name] = f"{name} may be split in two"
    for a, b in _near_pairs(sets, _FACTOR * new_penalty):
        if (
            ids[a] not in sentences
            and ids[b] not in sentences
            and _are_one(sets, a, b, new_penalty)
        ):
            sentences[ids[a]] = sentences[ids[b]] = f"{ids[a]} and {ids[b]} may be one cluster"
    return sentences


def scale_sensitivity_of_run(run: Run, last: Iterable[Sample] | None = None) -> dict[int, str]:
    """As `scale_sensitivity`, for the rows that a run keeps of its last window, or of this one.

    Nothing on the sphere, where a lower cost is no better clustering.
    """
    penalties, memory, sentences = run.penalties, run.memory, dict[int, str]()
    if penalties is None or memory is None or penalties.is_on_sphere:
        return sentences
    n_windows = run.status().n_windows
    for sample in run.samples(first_step=max(n_windows - 1, 0)) if last is None else last:
        points = memory.space_or_raw.to_points(np.asarray(sample.points, dtype=np.float64))
        sentences = scale_sensitivity(points, sample.cluster_ids, penalties.new_penalty)
    return sentences


def format_scale_sensitivity(sentences: dict[int, str]) -> ArgumentText | None:
    """Return it as one line, or an empty text."""
    if not sentences:
        return None
    words = list(dict.fromkeys(sentences.values()))
    shown = "; ".join(words[:_MAX_PRINTED]) + ("; and more" if len(words) > _MAX_PRINTED else "")
    return ArgumentText(
        "In the last window, at another {new_penalty} within a factor of two: {}.", shown
    )


def _sets(points: FloatArray, labels: IntArray, new_penalty: float) -> Sets:
    order, ones = np.arange(len(points)), np.ones(len(points))
    penalties = Penalties(new_penalty, revival_penalty=0.0, drift=0.0)
    nothing = ClusterState.empty(points.shape[1])
    slots = np.unique(labels, return_inverse=True)[1]
    return Sets(SetsBatch(np.asarray(points, float), ones, nothing, penalties, order), slots)


def _near_pairs(sets: Sets, limit: float) -> Iterator[tuple[int, int]]:
    """Yield pairs whose means are within reach of what lies between them, the nearest first."""
    n = len(sets) if len(sets) <= _MAX_CLUSTERS else 0
    means = np.array([sets.mean(k) for k in range(n)])
    pairs = [
        (float(squared_distances(means[a], means[b])), a, b) for a in range(n) for b in range(a)
    ]
    for apart, a, b in sorted(pairs):
        if apart <= 4.0 * limit:
            yield b, a


def _are_one(sets: Sets, a: int, b: int, new_penalty: float) -> bool:
    rows: Sequence[int] = sets.in_order([a, b]).tolist()
    points = sets.batch.points[rows]
    if len(rows) < 2 * _FEWEST:
        return False
    if squared_distances(points, points.mean(axis=0)).max() > _FACTOR * new_penalty:
        return False
    return halves_of(_sets(points, np.zeros(len(points), int), new_penalty), 0) is None
