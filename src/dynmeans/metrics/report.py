"""All scores of one clustering in one dictionary."""

from typing import Any

import numpy.typing as npt

from dynmeans.metrics.accuracy import score_history, score_steps
from dynmeans.metrics.agreement import score_ari_global, score_ari_per_step
from dynmeans.metrics.check_labels import Batches, ScoredPoints, check_counts, check_labels
from dynmeans.metrics.identity import score_continuity, score_hota, score_idf1
from dynmeans.metrics.label_streams import count_overlaps
from dynmeans.metrics.matching import match_frozen, match_over_history, match_per_step
from dynmeans.records.arrays import IntArray


def tracking_report(
    true: Batches, found: Batches, weights: Batches | None = None
) -> dict[str, float]:
    """Score found labels against true ones by every measure of this package.

    Parameters
    ----------
    true : sequence of array-like of shape (n_points,)
        True labels, one array for each batch; integers or strings. Points labeled -1 are
        unlabeled and left out of every score.
    found : sequence of array-like of shape (n_points,)
        Found labels of the same points. -1 is no cluster: never correct, and no object.
    weights : sequence of array-like of shape (n_points,), optional
        Weight of each point, 0 or more, such as the confidence in its true label. Accuracy
        and identity scores use it; a point of weight 0 is left out of them. ARI, which knows no
        weights, counts every labeled point alike.

    Returns
    -------
    dict of str to float
        ``accuracy_per_step``, ``accuracy_frozen``, ``accuracy_global``, ``idf1``, ``hota``,
        ``assa``, ``deta``, ``id_switches``, ``fragmentations``, ``ari_per_step`` and
        ``ari_global``; see the function of each name (`hota` for ``assa`` and ``deta``). All are
        shares but the two counts, which are int.

    Raises
    ------
    TypeError
        If labels are neither integers nor strings, or weights are not numbers.
    ValueError
        If batches or rows do not correspond, a weight is negative or not finite, or no
        point is left to score.

    See Also
    --------
    tune : Choose the penalties by one of these scores.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    Two clusters, well divided in both batches, but their identities change places.

    >>> true = [[0, 0, 0, 1, 1], [0, 0, 0, 1, 1]]
    >>> found = [[7, 7, 7, 8, 8], [8, 8, 8, 7, 7]]
    >>> for name, score in tracking_report(true, found).items():
    ...     print(f"{name:<17} {score:.2f}")
    accuracy_per_step 1.00
    accuracy_frozen   0.50
    accuracy_global   0.50
    idf1              0.50
    hota              0.58
    assa              0.33
    deta              1.00
    id_switches       2.00
    fragmentations    0.00
    ari_per_step      1.00
    ari_global        -0.12
    """
    labeled = check_labels(true, found)
    points = labeled if weights is None else check_labels(true, found, weights)
    return _scores(points, labeled)


def report_of_counts(
    steps: IntArray, true: npt.NDArray[Any], found: IntArray, counts: IntArray
) -> dict[str, float]:
    """As `tracking_report`, from how many points have each step, true and found label.

    The scores are the same to the last bit; memory grows with the number of different triples, not
    with that of the points.

    >>> import numpy as np
    >>> steps, true, found = np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([7, 8, 8])
    >>> round(report_of_counts(steps, true, found, np.array([3, 2, 3]))["idf1"], 3)
    0.667
    """
    points = check_counts(steps, true, found, counts)
    return _scores(points, points)


def _scores(points: ScoredPoints, labeled: ScoredPoints) -> dict[str, float]:
    streams = count_overlaps(points)
    hota, continuity = score_hota(streams), score_continuity(streams)
    return {
        "accuracy_per_step": score_steps(streams, match_per_step(streams)),
        "accuracy_frozen": score_steps(streams, match_frozen(streams)),
        "accuracy_global": score_history(streams, match_over_history(streams)),
        "idf1": score_idf1(streams),
        "hota": hota.hota,
        "assa": hota.assa,
        "deta": hota.deta,
        "id_switches": continuity.id_switches,
        "fragmentations": continuity.fragmentations,
        "ari_per_step": score_ari_per_step(labeled),
        "ari_global": score_ari_global(labeled),
    }
