"""Agreement of two partitions beyond chance: the Rand index and mutual information, adjusted."""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from dynmeans.metrics.check_labels import Batches, ScoredPoints, check_labels
from dynmeans.metrics.mutual_information import adjusted_mutual_information


def ari_per_step(true: Batches, found: Batches) -> float:
    """Adjusted Rand index of each step, averaged over the steps that have points.

    Says how well each batch was divided, whatever the clusters are called: 1 for the same
    partition, 0 on average for a random one.

    Parameters
    ----------
    true : sequence of array-like of shape (n_points,)
        True labels, one array for each batch. Points labelled -1 are unlabelled and left out.
    found : sequence of array-like of shape (n_points,)
        Found labels of the same points. Those labelled -1, no cluster, make one group.

    Returns
    -------
    float
        At most 1; may be below 0.

    Raises
    ------
    ValueError
        If batches or rows do not correspond, or no point is labelled.

    Examples
    --------
    >>> ari_per_step([[0, 0, 1, 1], [0, 0, 1, 1]], [[5, 5, 6, 6], [6, 6, 5, 5]])
    1.0
    """
    return score_ari_per_step(check_labels(true, found))


def ari_global(true: Batches, found: Batches) -> float:
    """Adjusted Rand index of all points of all steps together.

    Two points of different steps must share their label if they are of one cluster, so
    identities must last.

    Parameters
    ----------
    true, found
        As for `ari_per_step`.

    Returns
    -------
    float
        At most 1; may be below 0.

    Examples
    --------
    >>> round(ari_global([[0, 0, 1, 1], [0, 0, 1, 1]], [[5, 5, 6, 6], [6, 6, 5, 5]]), 4)
    -0.1667
    """
    return score_ari_global(check_labels(true, found))


def ami_per_step(true: Batches, found: Batches) -> float:
    """Adjusted mutual information of each step, averaged over the steps that have points.

    As `ari_per_step`, but small clusters weigh as much as their points do, where the Rand
    index counts pairs of points and follows the large ones.

    Parameters
    ----------
    true, found
        As for `ari_per_step`.

    Returns
    -------
    float
        At most 1; may be below 0.

    Examples
    --------
    >>> ami_per_step([[0, 0, 1, 1], [0, 0, 1, 1]], [[5, 5, 6, 6], [6, 6, 5, 5]])
    1.0
    """
    return score_ami_per_step(check_labels(true, found))


def ami_global(true: Batches, found: Batches) -> float:
    """Adjusted mutual information of all points of all steps together; identities must last.

    Parameters
    ----------
    true, found
        As for `ari_per_step`.

    Returns
    -------
    float
        At most 1; may be below 0.

    Examples
    --------
    >>> round(ami_global([[0, 0, 1, 1], [0, 0, 1, 1]], [[5, 5, 6, 6], [6, 6, 5, 5]]), 4)
    -0.1297
    """
    return score_ami_global(check_labels(true, found))


def score_ari_per_step(points: ScoredPoints) -> float:
    """Average over the steps of scikit-learn's adjusted Rand index."""
    starts = np.flatnonzero(np.diff(points.steps)) + 1
    true, found = np.split(points.true_labels, starts), np.split(points.found_labels, starts)
    return float(np.mean([adjusted_rand_score(t, f) for t, f in zip(true, found, strict=True)]))


def score_ari_global(points: ScoredPoints) -> float:
    """Compute scikit-learn's adjusted Rand index of all points."""
    return float(adjusted_rand_score(points.true_labels, points.found_labels))


def score_ami_per_step(points: ScoredPoints) -> float:
    """Average over the steps of the adjusted mutual information."""
    return float(
        adjusted_mutual_information(points.steps, points.true_labels, points.found_labels).mean()
    )


def score_ami_global(points: ScoredPoints) -> float:
    """Adjusted mutual information of all points."""
    one_group = np.zeros_like(points.steps)
    return float(adjusted_mutual_information(one_group, points.true_labels, points.found_labels)[0])
