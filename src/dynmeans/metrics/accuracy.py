"""Label accuracy: in each step, with correct tracking, over all time; optionally weighted."""

import numpy as np

from dynmeans.metrics.check_labels import Batches
from dynmeans.metrics.label_streams import LabelStreams, read_label_streams
from dynmeans.metrics.matching import BoolArray, match_frozen, match_over_history, match_per_step
from dynmeans.records.arrays import FloatArray


def accuracy_per_step(true: Batches, found: Batches, weights: Batches | None = None) -> float:
    """Share of points labeled correctly, each step matched separately, averaged over steps.

    IDs need not last: this measures how well each batch was partitioned, not how well
    clusters were followed.

    Parameters
    ----------
    true : sequence of array-like of shape (n_points,)
        True labels, one array for each batch. Points labeled -1 are unlabeled and left out.
    found : sequence of array-like of shape (n_points,)
        Found labels of the same points. -1 is no cluster, and never correct.
    weights : sequence of array-like of shape (n_points,), optional
        Confidence in each true label, 0 or more. The share becomes the ratio between the sum
        of the weights of correctly labeled points and the sum of all weights.

    Returns
    -------
    float
        Between 0 and 1. Steps without points count for nothing.

    Raises
    ------
    ValueError
        If batches or rows do not correspond, a weight is negative, or no point is left to score.

    See Also
    --------
    accuracy_global : The same, with one match for all steps.
    accuracy_frozen : The measure of the paper.
    ari_per_step : Agreement of pairs of points.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    In both steps 3 of 4 points are right, though the two found labels change places.

    >>> accuracy_per_step([[0, 0, 1, 1], [0, 0, 1, 1]], [[5, 5, 6, 5], [6, 6, 5, 6]])
    0.75
    """
    streams = read_label_streams(true, found, weights)
    return score_steps(streams, match_per_step(streams))


def accuracy_frozen(true: Batches, found: Batches, weights: Batches | None = None) -> float:
    """Share of points labeled correctly when a match, once made, stays, averaged over steps.

    The measure of the paper's authors. In each step the labels that were never matched before
    are matched as well as that step allows; a true and a found label that share points are
    then one cluster for good, and neither is ever matched with another. A cluster that is
    lost and found under a new label is wrong from then on. Of equally good matches of a
    step, the one that gains most from there on is made: the score does not depend on the names of
    the labels. Parameters and result are those of `accuracy_per_step`.

    See Also
    --------
    accuracy_per_step : The same, with each step matched separately.
    accuracy_global : The same, with one match for all steps.

    Notes
    -----
    This is the measure of the experiments in [1]_.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    The first step makes 5 stand for 0 and 6 for 1; in the second one point of four agrees.

    >>> accuracy_frozen([[0, 0, 1, 1], [0, 0, 1, 1]], [[5, 5, 6, 5], [6, 6, 5, 6]])
    0.5
    """
    streams = read_label_streams(true, found, weights)
    return score_steps(streams, match_frozen(streams))


def accuracy_global(true: Batches, found: Batches, weights: Batches | None = None) -> float:
    """Share of all points labeled correctly under the one best match over all time.

    Every true label is matched with at most one found label for the whole history. Large
    batches count for more than small ones. Parameters are those of `accuracy_per_step`.

    See Also
    --------
    accuracy_per_step : The same, with each step matched separately.
    idf1 : The share of clusters instead of points.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    The best is 5 for 0 and 6 for 1 in the long run: 3 points in the first step, 1 in the second.

    >>> accuracy_global([[0, 0, 1, 1], [0, 1]], [[5, 5, 6, 5], [6, 6]])
    0.6666666666666666
    """
    streams = read_label_streams(true, found, weights)
    return score_history(streams, match_over_history(streams))


def score_steps(streams: LabelStreams, uses_matching: BoolArray) -> float:
    """Average over the steps that have points of the share of matched points."""
    steps, n_steps = streams.true.steps, streams.points.n_steps
    correct = np.bincount(steps, _correct(streams, uses_matching), n_steps)
    total = np.bincount(steps, streams.true.sizes, n_steps)
    has_points = total > 0
    return float(np.mean(correct[has_points] / total[has_points]))


def score_history(streams: LabelStreams, uses_matching: BoolArray) -> float:
    """Share of matched points among all."""
    return float(_correct(streams, uses_matching).sum() / streams.true.sizes.sum())


def _correct(streams: LabelStreams, uses_matching: BoolArray) -> FloatArray:
    """Matched points of each true cluster in each step; never more than its size."""
    correct = np.zeros(len(streams.true.sizes))
    correct[streams.pair_true[uses_matching]] = streams.overlaps[uses_matching]
    return correct
