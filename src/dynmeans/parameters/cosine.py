"""lambda for vectors on the unit sphere: the cosine below which a row starts a cluster.

The scale comes from pairs of rows. Pairs from one cluster have a high cosine, so the low cosines
are of unrelated pairs: `unrelated` is as far above the median as the lowest hundredth is below it.
Five cosines from half to twice of it are tried. The one is chosen at which a row is most similar to
the other rows of its cluster, where a row that is alone counts as unrelated and twice as many
clusters must make rows more similar by 5 % (decision 0026).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.blas import one_thread
from dynmeans.engine.orders import content_order
from dynmeans.engine.sequence import label_sequence
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.numbers import check_range
from dynmeans.parameters.hint import Hint
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties, penalties_with_defaults
from dynmeans.records.suggestion import Candidate, Suggestion

_MOST_ROWS, _LEAST_ROWS = 3_000, 20  # that are clustered; with fewer, nothing is learned
_PAIRED = 1_000  # rows of which all pairs are looked at
_UNRELATED = 0.01  # share of unrelated pairs above the scale
_STEPS = (0.5, 0.7, 1.0, 1.4, 2.0)  # cosines that are tried, in units of the scale
_FOR_NUMBER = tuple(0.25 * 1.25**k for k in range(16))  # the same where a number is asked for
_HIGHEST = 0.9  # of the way from the median to 1
_GAIN = 1.05  # times the similarity, that twice as many clusters must give
_EQUAL = 0.99  # of the best: the lowest cosine of equally good ones is taken
_CLEAR = 1.25  # times the scale, for the similarity within clusters that are groups
_MOST_ALONE, _MOST_TOGETHER = 0.3, 0.8  # of the rows: more is no clustering
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class _Trial:
    cosine: float
    labels: IntArray
    n_clusters: float  # in a batch, on average
    similarity: float  # mean cosine of a row to the other rows of its cluster


@one_thread()
def choose_cosine(
    batches: Sequence[Batch],
    gaps: Sequence[float],
    *,
    usual: float,
    max_gap: float | None = None,
    reach: float | None = None,
    n_clusters: float | tuple[float, float] | None = None,
    batch_noun: str = "batch",
) -> Suggestion:
    """Choose lambda for the first batches, which are rows of length 1.

    `usual` is the lambda that is taken where the rows are too few, or all alike.
    """
    given = {name: value for name, value in (("max_gap", max_gap), ("reach", reach)) if value}

    def penalties_at(cosine: float) -> Penalties:
        found = penalties_with_defaults(2.0 * (1.0 - cosine), **given)
        return found.with_centers("sphere")

    sample, times = _sample(batches, gaps)
    n_points = sum(batch.n_points for batch in batches)
    rows = np.concatenate([batch.points for batch in sample]).astype(np.float64)
    low, unrelated = _scale(rows)
    is_known = len(rows) >= _LEAST_ROWS and unrelated - low > 1e-6
    cosines, hint = [1.0 - usual / 2.0], None
    if is_known:
        most = low + _HIGHEST * (1.0 - low)
        steps = _STEPS if n_clusters is None else _FOR_NUMBER
        tried = [round(min(low + f * (unrelated - low), most), _DIGITS) for f in steps]
        cosines = list(dict.fromkeys(tried))
        hint = None if n_clusters is None else Hint(*check_range("n_clusters", n_clusters), False)
    trials: list[_Trial] = []
    for cosine in cosines:
        trials.append(_try(sample, times, rows, cosine, low, penalties_at(cosine)))
        if _is_past_best(trials, hint):
            break
    best = _best(trials, hint, low)
    doubts = _doubts(best, low, unrelated, is_known=is_known, is_free=hint is None)
    tried_out = {one.cosine: _candidate(one, penalties_at(one.cosine)) for one in trials}
    return Suggestion(
        tried_out[best.cosine],
        tuple(tried_out.values()),
        len(batches),
        n_points,
        len(rows),
        warnings=doubts,
        batch_noun=batch_noun,
        reason=_reason(best, len(trials), unrelated) if is_known else "",
    )


def _sample(batches: Sequence[Batch], gaps: Sequence[float]) -> tuple[list[Batch], list[float]]:
    """Return the first batches that hold enough rows, in a part of each where these are many."""
    kept, times, n = [], [], 0
    for batch, gap in zip(batches, gaps, strict=True):
        kept.append(batch if batch.weights is None else batch.take_rows(batch.weights > 0))
        times.append(gap)
        n += kept[-1].n_points
        if n >= _MOST_ROWS and len(kept) > 1:
            break
    if n > _MOST_ROWS:
        parts = [math.ceil(batch.n_points * _MOST_ROWS / n) for batch in kept]
        kept = [
            batch.take_rows(np.sort(content_order(batch.points)[:part]))
            for batch, part in zip(kept, parts, strict=True)
        ]
    return [Batch(batch.points) for batch in kept], times


def _scale(rows: BatchArray) -> tuple[float, float]:
    """Return the usual cosine of unrelated rows, 0 at least, and one that few pairs of them exceed.

    >>> rows = np.random.default_rng(0).normal(size=(600, 100))
    >>> low, unrelated = _scale(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    >>> round(low, 1), round(unrelated, 2)  # 2.3 standard deviations of 0.1
    (0.0, 0.23)
    """
    if len(rows) < 2:
        return 0.0, 0.0
    some = rows[content_order(rows)[:_PAIRED]]
    cosines = (some @ some.T)[np.triu_indices(len(some), 1)]
    lowest, median = np.quantile(cosines, [_UNRELATED, 0.5])
    low = max(float(median), 0.0)
    return low, 2.0 * low - float(lowest)


def _try(
    batches: list[Batch],
    gaps: list[float],
    rows: FloatArray,
    cosine: float,
    low: float,
    penalties: Penalties,
) -> _Trial:
    labels, n_in_batches, _ = label_sequence(batches, penalties, VisitingOrders(0), gaps)
    n_clusters = n_in_batches / max(sum(batch.n_points > 0 for batch in batches), 1)
    return _Trial(cosine, labels, n_clusters, _similarity(rows, labels, low))


def _similarity(rows: FloatArray, labels: IntArray, low: float) -> float:
    """Return the mean cosine of a row to the sum of the other rows of its cluster.

    >>> rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> round(_similarity(rows, np.array([0, 0, 1]), 0.0), 3)
    0.667
    """
    _, places = np.unique(labels, return_inverse=True)
    sums = np.zeros((places.max(initial=-1) + 1, rows.shape[1]))
    np.add.at(sums, places, rows)
    others = sums[places] - rows
    lengths = np.sqrt((others * others).sum(axis=1))
    is_alone = np.bincount(places)[places] == 1
    cosines = (others * rows).sum(axis=1) / np.where(lengths > 0, lengths, 1.0)
    return float(np.where(is_alone, low, cosines).mean())


def _is_past_best(trials: list[_Trial], hint: Hint | None) -> bool:
    """Whether a higher cosine, which takes longer, can be left out."""
    if hint is not None:
        return trials[-1].n_clusters > hint.high
    return len(trials) > 1 and trials[-1].similarity < _EQUAL * trials[-2].similarity


def _best(trials: list[_Trial], hint: Hint | None, low: float) -> _Trial:
    if hint is not None:
        return min(trials, key=lambda one: _away(one.n_clusters, hint))
    scores = [_score(one, low) for one in trials]
    return next(
        one for one, score in zip(trials, scores, strict=True) if score >= _EQUAL * max(scores)
    )


def _score(trial: _Trial, low: float) -> float:
    n_clusters = len(np.unique(trial.labels))
    return float(max(trial.similarity - low, 0.0) / _GAIN ** math.log2(n_clusters))


def _away(n_clusters: float, hint: Hint) -> float:
    """How far a number of clusters is from the range asked for, as a ratio."""
    wanted = min(max(n_clusters, hint.low), hint.high)
    return abs(math.log(max(n_clusters, 1e-9) / wanted))


def _candidate(trial: _Trial, penalties: Penalties) -> Candidate:
    return Candidate(penalties, math.nan, trial.n_clusters, len(np.unique(trial.labels)))


def _reason(best: _Trial, n_trials: int, unrelated: float) -> str:
    return (
        f"{n_trials} cosines were tried; this one gives the most similar clusters for their "
        f"number: a row has a cosine of {best.similarity:.2g} to the rest of its cluster, "
        f"unrelated rows less than {unrelated:.2g}."
    )


def _doubts(
    best: _Trial, low: float, unrelated: float, *, is_known: bool, is_free: bool
) -> tuple[ArgumentText, ...]:
    """Return why the choice should not be trusted."""
    n_rows = len(best.labels)
    if not is_known:
        text = (
            f"{n_rows:,} rows are too few, or too similar, to learn a scale: a cosine of "
            f"{best.cosine:.2g} is used. Set {{new_penalty}}."
        )
        return (ArgumentText(text),)
    _, counts = np.unique(best.labels, return_counts=True)
    alone = float(np.count_nonzero(counts == 1)) / n_rows
    together = float(counts.max()) / n_rows
    doubts = []
    if alone > _MOST_ALONE:
        text = "{:.0%} of the rows are alone in their cluster. Use {n_clusters} to join them."
        doubts.append(ArgumentText(text, alone))
    if together > _MOST_TOGETHER and is_free:
        text = "one cluster holds {:.0%} of the rows. A smaller {new_penalty} gives more clusters."
        doubts.append(ArgumentText(text, together))
    if is_free and best.similarity - low < _CLEAR * (unrelated - low):
        text = (
            "the rows form no clear groups: a row has a cosine of {:.2g} to the rest of its "
            "cluster, and unrelated rows have up to {:.2g}. Use other vectors, or fewer dimensions."
        )
        doubts.append(ArgumentText(text, best.similarity, unrelated))
    return tuple(doubts)
