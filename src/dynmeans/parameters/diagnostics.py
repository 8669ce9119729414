"""Why a choice should not be trusted: what can be seen without labels."""

from dataclasses import replace

import numpy as np
from scipy.spatial.distance import cdist

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.format_count import format_count, plural
from dynmeans.metrics.agreement import ari_global
from dynmeans.parameters.hint import Hint
from dynmeans.parameters.tracks import Points
from dynmeans.parameters.trials import REACHES, Setting, Trials
from dynmeans.records.arrays import FloatArray, IntArray

_MOST = 0.5  # of the clusters of all batches
_MANY = 0.2  # of the points: fewer may be outliers, which are alone by right
_ALL_BUT = 0.01  # of the spread that is left for the other features
_ALIKE = 0.7  # adjusted Rand index of two labelings that say the same
_EQUAL = 1e-18  # of the largest variance: what is below is rounding
_WIDTHS = 8.0  # largest variance of clusters over the smallest, less a tenth of the points each
_MANY_POINTS = 10.0  # that tell a variance
# Half a Gaussian has a contact of 3.5 with the other half, a part of a bar 6, a Gaussian with one
# five deviations away 12.5.
_IN_CONTACT = 8.0
_MIN_IN_CONTACT, _MAX_IN_CONTACT = 5, 2000  # points of a cluster, clusters of a batch
_MANY_TOUCH = 0.35  # of the points


def find_warnings(
    trials: Trials, chosen: Setting, hint: Hint | None = None, *, is_joined: bool = False
) -> tuple[ArgumentText, ...]:
    """Return a sentence or two for each reason not to rely on the choice.

    Where clusters will be joined (`is_joined`) they may touch.
    """
    doubts = [
        _check_dominant_feature(trials.points),
        _check_single_cluster(trials, chosen) if hint is None else None,
        _check_hint(trials, chosen, hint),
        _check_lifetimes(trials, chosen, is_joined) if hint is None else None,
        _check_singletons(trials, chosen),
        _check_stability(trials, chosen, _remedies(hint, is_joined, "{n_clusters}")),
        _check_widths(trials, chosen, _remedies(hint, is_joined)),
        None if is_joined else _check_contacts(trials, chosen, _remedies(hint, is_joined)),
    ]
    if trials.points.n_batches > 1:
        doubts.append(_check_reach_limit(trials, chosen))
    return tuple(doubt for doubt in doubts if doubt)


def _remedies(hint: Hint | None, is_joined: bool, number: str = "") -> str:
    """What may help and can be given: not what was given, and a method only instead of it."""
    ways = [] if is_joined else ["join clusters that touch with {families=True}"]
    if hint is None and number:
        ways.append(f"set the expected number of clusters with {number}")
    place = "" if hint is None else " instead of {n_clusters}"
    message = ", ".join([*ways, f"{'or ' if ways else ''}try {{method='hdbscan'}}{place}"])
    return f"{message[0].upper()}{message[1:]}."


def _check_dominant_feature(points: Points) -> ArgumentText | None:
    centered = points.rows - points.mean
    spreads = points.weights @ centered**2
    is_used = spreads > 0
    first = int(np.argmax(spreads))
    share = float(spreads[first] / spreads.sum())
    if np.count_nonzero(is_used) < 2 or share <= 1 - _ALL_BUT:
        return None
    shown = min(99.99, 100 * share)
    return ArgumentText(
        f"feature {first + 1} of {points.n_features} has {shown:.4g} % of the variance, so the "
        "others have almost no influence. Scale the features with {space='standard'}."
    )


def _check_single_cluster(trials: Trials, chosen: Setting) -> ArgumentText | None:
    candidate = trials.candidate(chosen)
    if candidate.n_clusters_per_batch > 1:
        return None
    return ArgumentText(
        "all points of a {} form one cluster, as with any larger {new_penalty}. If you expect more "
        "clusters, set a smaller value.",
        trials.feed.batch_noun,
    )


def _check_singletons(trials: Trials, chosen: Setting) -> ArgumentText | None:
    labels, _, _ = trials.labels(chosen)
    parts = np.split(labels, trials.points.starts[1:-1])
    counts = np.concatenate([np.unique(part, return_counts=True)[1] for part in parts])
    n_single, batches = int(np.count_nonzero(counts == 1)), plural(trials.feed.batch_noun)
    if n_single <= _MOST * len(counts) or n_single <= _MANY * counts.sum():
        return None
    return ArgumentText(
        f"{n_single:,} of {format_count(len(counts), 'cluster')} in all {batches} have a single "
        f"point, so the size of clusters cannot be estimated. Use {batches} with several points "
        "of each cluster, set {new_penalty}, or, if every row is one object, "
        "{method='detections'}."
    )


def _check_stability(trials: Trials, chosen: Setting, ways_out: str) -> ArgumentText | None:
    """Real clusters stay the same over neighboring values of lambda and other visiting orders."""
    if trials.candidate(chosen).n_clusters_per_batch <= 1:
        return None
    labels, _, _ = trials.labels(chosen)
    others = [replace(chosen, level=chosen.level + step) for step in (-1, 1)]
    found = [ari_global([labels], [trials.labels(other)[0]]) for other in others]
    found.append(ari_global([labels], [trials.labels(chosen, seed=1)[0]]))
    if min(found) >= _ALIKE:
        return None
    return ArgumentText(
        "with a slightly different {new_penalty}, or another seed, the labels change "
        f"(adjusted Rand index {min(found):.2f}; 1 is no change): there may be no clusters at this "
        f"scale. {ways_out}"
    )


def _check_widths(trials: Trials, chosen: Setting, ways_out: str) -> ArgumentText | None:
    """One lambda is one width: a dense heap and a wide one are cut or joined."""
    labels, _, _ = trials.labels(chosen)
    points = trials.points
    batches = np.repeat(np.arange(points.n_batches), np.diff(points.starts))
    # One number for each pair: sorting rows of two takes several times as long.
    cells, rows = np.unique(labels * points.n_batches + batches, return_inverse=True)
    names = cells // points.n_batches
    counts = np.bincount(rows)
    means = np.column_stack([np.bincount(rows, column) for column in points.rows.T])
    squares = np.sum((points.rows - (means / counts[:, None])[rows]) ** 2, axis=1)
    free = np.bincount(names, counts - 1.0)
    sums = np.bincount(names, np.bincount(rows, squares))
    is_told = free >= _MANY_POINTS
    if np.count_nonzero(is_told) < 2:
        return None
    variances, weights = sums[is_told] / free[is_told], free[is_told]
    order = np.argsort(variances)
    shares = np.cumsum(weights[order]) / weights.sum()
    low, high = (variances[order][np.searchsorted(shares, share)] for share in (0.1, 0.9))
    if high <= _WIDTHS * low:
        return None
    if low <= _EQUAL * high:
        return ArgumentText(
            f"the rows of some clusters are exactly equal, and one {{new_penalty}} splits the wide "
            f"clusters or joins the narrow ones. {ways_out}"
        )
    return ArgumentText(
        f"the widest clusters are {np.sqrt(high / low):.2g} times as wide as the "
        "narrowest, and one {new_penalty} splits the wide ones or joins the narrow ones. "
        f"{ways_out}"
    )


def _check_contacts(trials: Trials, chosen: Setting, ways_out: str) -> ArgumentText | None:
    """Parts of a bar, an arc or one cloud lie against each other; clusters of their own do not."""
    points = trials.points
    labels, _, _ = trials.labels(chosen)
    n_touching = n_sampled_points = 0.0
    for rows in np.split(np.arange(len(labels)), points.starts[1:-1]):
        n, contacts = _contacts(points.rows[rows], labels[rows])
        n_sampled_points += n.sum()
        n_touching += n[contacts < _IN_CONTACT].sum()
    if n_touching <= _MANY_TOUCH * max(n_sampled_points, 1.0):
        return None
    return ArgumentText(
        "{:.0f} % of the points are in clusters that touch another one, like parts of a larger "
        f"shape. {ways_out}",
        100.0 * n_touching / n_sampled_points,
    )


def _contacts(rows: FloatArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    """Points of each cluster of a batch, and its squared distance to the next over 2 variances.

    The variance is that of its points along the line between the two.
    """
    names, places, n = np.unique(labels, return_inverse=True, return_counts=True)
    many = np.flatnonzero(n >= _MIN_IN_CONTACT)
    if not 2 <= len(many) <= _MAX_IN_CONTACT:
        return np.empty(0), np.empty(0)
    means = np.column_stack([np.bincount(places, column) for column in rows.T]) / n[:, None]
    squares = cdist(means[many], means[many], "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    lines = np.zeros_like(means)
    lines[many] = means[many[squares.argmin(axis=1)]] - means[many]
    along = np.einsum("ij,ij->i", rows - means[places], lines[places])
    variances = np.bincount(places, along**2, len(names))[many] / (n[many] - 1.0)
    nearest = squares.min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # a line of length 0 has no contact
        return n[many].astype(np.float64), nearest**2 / (2.0 * variances)


def _check_lifetimes(trials: Trials, chosen: Setting, is_joined: bool) -> ArgumentText | None:
    candidate = trials.candidate(chosen)
    if trials.has_lasting_clusters(chosen):
        return None
    n_seen, batch = candidate.n_clusters_per_batch * trials.points.n_batches, trials.feed.batch_noun
    way = "." if is_joined else ", or join clusters that touch with {families=True}."
    return ArgumentText(
        f"no value of {{new_penalty}} gives clusters that last longer than one {batch} (here "
        f"{{:,}} clusters, active in {{:.2g}} {plural(batch)} each). A coarse value was used, and "
        f"nothing is forgotten. Set the number of clusters in a {batch} with "
        f"{{n_clusters}}, or set {{new_penalty}}{way}",
        candidate.n_clusters_total,
        n_seen / candidate.n_clusters_total,
    )


def _check_hint(trials: Trials, chosen: Setting, hint: Hint | None) -> ArgumentText | None:
    if hint is None or hint.is_met(found := trials.n_repeated(chosen)):
        return None
    batch = trials.feed.batch_noun
    return ArgumentText(
        f"no {{new_penalty}} gives about {{:g}} clusters in a {batch}; this one gives {{:.3g}}. A "
        f"{batch} may have too few distinct points.",
        hint.nearest(found),
        found,
    )


def _check_reach_limit(trials: Trials, chosen: Setting) -> ArgumentText | None:
    if trials.feed.reach is not None or chosen.reach < len(REACHES) - 1:
        return None
    batch = trials.feed.batch_noun
    return ArgumentText(
        "{reach} {:.3g} is the largest value that was tried, so clusters may move farther between "
        f"two {plural(batch)} than the distance to their neighbors. Use shorter {plural(batch)}.",
        trials.candidate(chosen).penalties.reach,
    )
