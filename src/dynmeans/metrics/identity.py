"""Identities kept: IDF1, HOTA, identity switches and fragmentations, as TrackEval defines them.

In every step each true cluster is an object to be tracked and each found cluster an object of
the tracker. Two objects are as similar as their point sets overlap: points in both, divided by
points in either (Jaccard), with the weights of the points if there are any.
"""

from typing import NamedTuple

import numpy as np

from dynmeans.metrics.check_labels import Batches
from dynmeans.metrics.label_streams import LabelStreams, StepOverlaps, read_label_streams
from dynmeans.metrics.matching import assign, best_match
from dynmeans.records.arrays import FloatArray, IntArray

THRESHOLD = 0.5  # similarity from which two objects can be the same one
ALPHAS = np.arange(0.05, 0.99, 0.05)  # thresholds over which HOTA is averaged
_EPS = np.finfo(np.float64).eps
_CONTINUING = 1000.0  # outweighs any similarity: a match of the step before is kept if it can be


class HotaScores(NamedTuple):
    """HOTA and its two parts, each the mean over the thresholds 0.05, 0.10, ..., 0.95.

    See Also
    --------
    hota : Returns them.
    """

    hota: float
    assa: float
    deta: float


class Continuity(NamedTuple):
    """How often the true clusters changed their found identity, and were lost and regained."""

    id_switches: int
    fragmentations: int


def idf1(true: Batches, found: Batches, weights: Batches | None = None) -> float:
    """IDF1: share of clusters, over all steps, that were given their one right identity.

    True identities are matched with found ones once for all time. A true and a found cluster
    agree in a step if their identities are matched and their overlap is at least 0.5; IDF1
    is twice the number of agreements, divided by the number of true and found clusters.

    Parameters
    ----------
    true : sequence of array-like of shape (n_points,)
        True labels, one array for each batch. Points labeled -1 are unlabeled and left out.
    found : sequence of array-like of shape (n_points,)
        Found labels of the same points. -1 is no cluster: no object of the tracker.
    weights : sequence of array-like of shape (n_points,), optional
        Weight of each point in the overlap of clusters, 0 or more.

    Returns
    -------
    float
        Between 0 and 1; 0 if no cluster was found at all.

    Raises
    ------
    ValueError
        If batches or rows do not correspond, a weight is negative, or no point is left to score.

    See Also
    --------
    hota : Detection and association in one score.
    id_switches : Number of changes of ID.

    Notes
    -----
    IDF1 is defined in [1]_.

    References
    ----------
    .. [1] E. Ristani, F. Solera, R. Zou, R. Cucchiara and C. Tomasi, "Performance Measures and a
       Data Set for Multi-Target, Multi-Camera Tracking", ECCV Workshops, 2016.

    Examples
    --------
    One cluster, called 7 twice and 8 once: 2 agreements among 3 true and 3 found clusters.

    >>> idf1([[0, 0], [0, 0], [0, 0]], [[7, 7], [7, 7], [8, 8]])
    0.6666666666666666
    """
    return score_idf1(read_label_streams(true, found, weights))


def hota(true: Batches, found: Batches, weights: Batches | None = None) -> HotaScores:
    """Score how well clusters were found (DetA) and followed (AssA), and both (HOTA).

    The objects are those of `idf1`. In every step true and found clusters are matched, similar
    ones and ones that are together often first. At a threshold alpha, the matches whose overlap
    is at least alpha are true positives. DetA is their share of all true and found clusters,
    a matched pair counted once. AssA is the mean over them of the same share among the
    appearances of their two identities. HOTA is the geometric mean of both. All three are
    averaged over the thresholds, between 0 and 1; 0 if no cluster was found at all.

    Parameters are those of `idf1`. One step needs a table of its true clusters times its found
    clusters. Between equally good matches the solver's choice stands, with labels in sorted order,
    as in TrackEval.

    See Also
    --------
    idf1 : The share of clusters with the right ID.
    tracking_report : All scores at once.

    Notes
    -----
    HOTA is defined in [1]_.

    References
    ----------
    .. [1] J. Luiten, A. Osep, P. Dendorfer, P. Torr, A. Geiger, L. Leal-Taixe and B. Leibe, "HOTA:
       A Higher Order Metric for Evaluating Multi-Object Tracking", International Journal of
       Computer Vision 129, 2021.

    Examples
    --------
    One cluster, always found whole, called 7 twice and 8 once. Detection is perfect. The
    identities 0 and 7 meet in 2 of 3 steps, 0 and 8 in 1 of 3: AssA = (2/3 + 2/3 + 1/3) / 3.

    >>> scores = hota([[0, 0], [0, 0], [0, 0]], [[7, 7], [7, 7], [8, 8]])
    >>> round(scores.assa, 4), round(scores.deta, 4), round(scores.hota, 4)
    (0.5556, 1.0, 0.7454)
    """
    return score_hota(read_label_streams(true, found, weights))


def id_switches(true: Batches, found: Batches, weights: Batches | None = None) -> int:
    """Count how often a true cluster is found under another identity than the last time.

    In each step true and found clusters that overlap by at least 0.5 are matched, those of
    the step before first. A cluster unseen for some steps is compared with its last match.
    Parameters are those of `idf1`.

    See Also
    --------
    fragmentations : Number of interruptions.
    idf1 : The share of clusters with the right ID.

    References
    ----------
    .. [1] K. Bernardin and R. Stiefelhagen, "Evaluating Multiple Object Tracking Performance: The
       CLEAR MOT Metrics", EURASIP Journal on Image and Video Processing, 2008.

    Examples
    --------
    >>> id_switches([[0, 0], [0, 0], [0, 0]], [[7, 7], [7, 7], [8, 8]])
    1
    """
    return score_continuity(read_label_streams(true, found, weights)).id_switches


def fragmentations(true: Batches, found: Batches, weights: Batches | None = None) -> int:
    """Count how often a true cluster is matched again after steps in which it was not.

    Clusters are matched as for `id_switches`. A step with no true or no found cluster at all
    interrupts nothing, as in TrackEval. Parameters are those of `idf1`.

    See Also
    --------
    id_switches : Number of changes of ID.

    References
    ----------
    .. [1] K. Bernardin and R. Stiefelhagen, "Evaluating Multiple Object Tracking Performance: The
       CLEAR MOT Metrics", EURASIP Journal on Image and Video Processing, 2008.

    Examples
    --------
    Cluster 0 is missed in the second step and found again in the third.

    >>> fragmentations([[0, 0, 1], [0, 0, 1], [0, 0, 1]], [[7, 7, 9], [-1, -1, 9], [7, 7, 9]])
    1
    """
    return score_continuity(read_label_streams(true, found, weights)).fragmentations


def score_idf1(streams: LabelStreams) -> float:
    """IDF1 = 2 IDTP / (true objects + found objects)."""
    agreeing = streams.pair_links[streams.similarities() >= THRESHOLD]
    agreements = np.bincount(agreeing, minlength=len(streams.link_true)).astype(np.float64)
    links = np.flatnonzero(agreements)
    kept = best_match(streams.link_true[links], streams.link_found[links], agreements[links])
    n_objects = len(streams.true.ids) + len(streams.found.ids)
    return float(2 * agreements[links][kept].sum() / n_objects)


def score_continuity(streams: LabelStreams) -> Continuity:
    """Follow each true identity through the steps (CLEAR) and count what interrupts it."""
    similarities = streams.similarities()
    last_match = np.full(streams.true.n_ids, -1)  # however long ago
    current_match = np.full(streams.true.n_ids, -1)  # in the step before
    n_beginnings = np.zeros(streams.true.n_ids, dtype=np.int64)
    n_switches, true_ids = 0, np.zeros(0, dtype=np.int64)
    for step in streams.each_step():
        if not len(step.true_ids) or not len(step.found_ids):
            continue
        previous_ids = true_ids
        true_ids, found_ids = _match_step(step, similarities[step.pairs], current_match)
        before = last_match[true_ids]
        n_switches += int(np.sum((before != -1) & (before != found_ids)))
        n_beginnings[true_ids] += current_match[true_ids] == -1
        last_match[true_ids] = found_ids
        current_match[previous_ids] = -1
        current_match[true_ids] = found_ids
    return Continuity(n_switches, int(np.maximum(n_beginnings - 1, 0).sum()))


def _match_step(
    step: StepOverlaps, similarities: FloatArray, current_match: IntArray
) -> tuple[IntArray, IntArray]:
    """Match the objects of one step: those matched before first, then the most similar."""
    true_ids, found_ids = step.true_ids[step.rows], step.found_ids[step.cols]
    scores = _CONTINUING * (current_match[true_ids] == found_ids) + similarities
    scores[similarities < THRESHOLD - _EPS] = 0.0
    shape = (len(step.true_ids), len(step.found_ids))
    matched = assign(step.rows, step.cols, scores, shape) & (scores > _EPS)
    return true_ids[matched], found_ids[matched]


def score_hota(streams: LabelStreams) -> HotaScores:
    """HOTA of counted streams; see `hota`."""
    similarities = streams.similarities()
    pairs = _match_steps(streams, similarities)
    matched_similarities, matched_links = similarities[pairs], streams.pair_links[pairs]
    n_appearances = _link_appearances(streams)
    n_objects = len(streams.true.ids) + len(streams.found.ids)
    assa, deta = np.zeros(len(ALPHAS)), np.zeros(len(ALPHAS))
    for a, alpha in enumerate(ALPHAS):
        links = matched_links[matched_similarities >= alpha - _EPS]
        n_meetings = np.bincount(links, minlength=len(n_appearances))
        jaccard = n_meetings / (n_appearances - n_meetings)
        assa[a] = jaccard[links].sum() / max(1, len(links))
        deta[a] = len(links) / (n_objects - len(links))
    return HotaScores(
        hota=float(np.sqrt(deta * assa).mean()), assa=float(assa.mean()), deta=float(deta.mean())
    )


def _match_steps(streams: LabelStreams, similarities: FloatArray) -> IntArray:
    """Match each step for the largest sum of similarity times alignment of the identities."""
    scores = _alignments(streams, similarities)[streams.pair_links] * similarities
    uses_matching = np.zeros(len(scores), dtype=bool)
    for step in streams.each_step():
        shape = (len(step.true_ids), len(step.found_ids))
        uses_matching[step.pairs] = assign(step.rows, step.cols, scores[step.pairs], shape)
    return np.flatnonzero(uses_matching)


def _alignments(streams: LabelStreams, similarities: FloatArray) -> FloatArray:
    """How much of the life of the two identities of each link is spent together."""
    shares = np.zeros(len(similarities))
    for step in streams.each_step():
        table = np.zeros((len(step.true_ids), len(step.found_ids)))
        table[step.rows, step.cols] = similarities[step.pairs]
        # Summed in a table, as TrackEval does: in another order the last bit may differ, and
        # with it the choice between equally good matches.
        totals = table.sum(axis=0)[step.cols] + table.sum(axis=1)[step.rows]
        totals -= similarities[step.pairs]
        np.divide(similarities[step.pairs], totals, out=shares[step.pairs], where=totals > _EPS)
    together = np.bincount(streams.pair_links, shares, len(streams.link_true))
    return together / (_link_appearances(streams) - together)


def _link_appearances(streams: LabelStreams) -> IntArray:
    """Steps in which the true identity of each link appears, plus those of the found one."""
    n_true = np.bincount(streams.true.ids, minlength=streams.true.n_ids)
    n_found = np.bincount(streams.found.ids, minlength=streams.found.n_ids)
    return n_true[streams.link_true] + n_found[streams.link_found]
