"""The door: families of identities from batches and their labels."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.batch import make_batches
from dynmeans.engine.blas import one_thread
from dynmeans.families.evidence import Evidence
from dynmeans.families.level import choose_level
from dynmeans.families.tree import grow_tree
from dynmeans.inputs.format_count import format_count
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_count, check_number, check_range
from dynmeans.parameters.hint import Hint
from dynmeans.records.arrays import IntArray
from dynmeans.records.families import Families
from dynmeans.records.history import History

AUTO = "auto"
MIN_CLUSTER_SIZE, MIN_LIFE = 3.0, 2
_MAX_NOISE = 0.1  # of the points: where outliers hold more, they are none (decision 0325)


def find_families(
    batches: Iterable[npt.ArrayLike],
    labels: Sequence[npt.ArrayLike] | History,
    *,
    elapsed: float | Sequence[float] = 1.0,
    level: float | str = AUTO,
    n_families: float | None = None,
    min_cluster_size: float = MIN_CLUSTER_SIZE,
    min_batches: int = MIN_LIFE,
) -> Families:
    """Merge clusters into families: sets of clusters that form one cluster of any shape.

    Two clusters touch if their points, pooled over all batches in which both are active, look like
    one cluster cut in two; clusters that touch are always merged. Above that, every level of the
    tree of merges is a clustering of the whole stream. The points are not clustered again.

    Parameters
    ----------
    batches : iterable of array-like of shape (n_points, n_features)
        The stream.
    labels : sequence of array-like of int of shape (n_points,)
        Cluster ID of every row, as `DynamicMeans.fit_sequence` returns them; rows labeled -1 are
        noise. Or the history of the stream, which also has the times.
    elapsed : float or sequence of float
        Steps of time between batches.
    level : "auto" or float
        Squared distance up to which clusters are merged (their mean over common batches). A larger
        value gives fewer, larger families; 0 merges only clusters that touch; at -8 each cluster
        is a family of its own. "auto": the level with the shortest description of the stream.
    n_families : float, optional
        Approximate number of families per batch; chooses the level, instead of `level`.
    min_cluster_size, min_batches : float, int
        Clusters with fewer points, or active in fewer batches, do not form a family: they are
        assigned to the nearest family, or labeled -1 (outlier). Larger values give fewer families;
        with 0 and 1 every cluster counts.

    Returns
    -------
    Families
        `map_labels(labels)` returns the family of each label; `cut(level)` and
        `cut_to(n_families)` give the families at other levels.

    See Also
    --------
    DynamicMeans : With `families=True`, it collects the statistics of families itself.
    Families : The result.
    dynmeans.plots.plot_families : Draw the tree and the timeline.

    References
    ----------
    .. [1] C. C. Aggarwal, J. Han, J. Wang and P. S. Yu, "A Framework for Clustering Evolving Data
       Streams", VLDB, 2003.
    .. [2] F. Cao, M. Ester, W. Qian and A. Zhou, "Density-Based Clustering over an Evolving Data
       Stream with Noise", SIAM International Conference on Data Mining, 2006.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> rng = np.random.default_rng(1)
    >>> ring = rng.uniform(0, 2 * np.pi, size=(6, 400))
    >>> batches = [np.column_stack([np.cos(a), np.sin(a)]) for a in ring]
    >>> labels, _ = DynamicMeans(0.3, random_state=0).fit_sequence(batches)
    >>> families = find_families(batches, labels)
    >>> len(families.tree.ids) > 4, families.n_families
    (True, 1)
    """
    check_choice(level, n_families)
    if isinstance(labels, History):
        times = np.array([record.time for record in labels])
        elapsed = np.diff(times, prepend=times[:1] - 1.0).tolist()
        labels = labels.labels
    rows, gaps = make_batches(list(batches), elapsed)
    found = _check_labels(list(labels), [batch.n_points for batch in rows])
    evidence = Evidence()
    for batch, names, gap in zip(rows, found, gaps, strict=True):
        evidence.add(batch.points, names, gap)
    return build_families(
        evidence,
        level=level,
        n_families=n_families,
        min_cluster_size=min_cluster_size,
        min_batches=min_batches,
    )


@one_thread()
def build_families(
    evidence: Evidence,
    *,
    level: float | str = AUTO,
    n_families: float | None = None,
    hint: float | tuple[float, float] | None = None,
    min_cluster_size: float = MIN_CLUSTER_SIZE,
    min_batches: int = MIN_LIFE,
    threshold: float | None = None,
    noise: float | None = None,
) -> Families:
    """Return the families that the evidence so far speaks for.

    `hint` is about how many a batch holds, and is followed only where the free choice is far off.
    Clusters touch below a contact index of `threshold`; at most `noise` of the points are outliers.
    """
    evidence = evidence.copy()  # What a stream keeps must not depend on when it was looked at.
    evidence.settle()
    size = check_number("min_cluster_size", min_cluster_size, at_least=0)
    life = check_count("min_batches", min_batches)
    sample = list(evidence.sample)

    def grow(*, is_even: bool = False) -> Families:
        tree, nearest_family, distances = grow_tree(
            evidence, size, life, threshold=threshold, noise=noise, is_even=is_even
        )
        seen = [
            np.column_stack([np.full(len(b.ids), t), b.ids, b.counts]) for t, b in enumerate(sample)
        ]
        return Families(
            tree,
            level=0.0,
            counts=evidence.n.copy(),
            n_batches=evidence.n_batches.copy(),
            batch_counts=np.concatenate([np.empty((0, 3), dtype=np.int64), *seen]),
            nearest_family=nearest_family,
            nearest_family_distance=distances,
        )

    families = grow()
    if level == AUTO and n_families is None:
        level = choose_level(families, sample)
    if noise is None:
        families = _limit_noise(families)
    if n_families is not None:
        return families.cut_to(n_families)
    families = families.cut(level)  # type: ignore[arg-type]
    return families if hint is None else _apply_hint(families, hint, grow)


def _limit_noise(families: Families) -> Families:
    """Give outliers their own names where they hold more than a tenth of the points."""
    is_out = families.nearest_family < 0
    if families.counts[is_out].sum() <= _MAX_NOISE * families.counts.sum():
        return families
    named = np.where(is_out, families.tree.ids, families.nearest_family)
    return replace(families, nearest_family=named)


def _apply_hint(
    free: Families, n_families: float | tuple[float, float], grow: Callable[..., Families]
) -> Families:
    """Keep the free choice if it has as many, within a third.

    Too many are counted by their shares of the points, so that small ones count little, and joined
    so that small ones go first; too few are counted by their number.
    """
    hint = Hint(*check_range("n_clusters", n_families), is_joined=True)
    if hint.is_fine(free.effective_n_families):
        even = replace(grow(is_even=True), nearest_family=free.nearest_family)
        return even.about_even(hint.high)
    return free.cut_to(hint.low) if hint.is_coarse(free.mean_per_batch) else free


def check_choice(level: Any, n_families: Any, name: str = "level") -> None:
    """Refuse a level or a number of families that means nothing."""
    if isinstance(level, str) and level != AUTO:
        hint = "A number is a squared distance; {n_families} merges to about that many families."
        raise InputError(name, 'must be a number or "auto"', got=level, hint=hint)
    if not isinstance(level, str):
        check_number(name, level, infinity_allowed=True)
    if n_families is None:
        return
    check_number("n_families", n_families, above=0)
    if level != AUTO:
        raise InputError("n_families", f"cannot be combined with {{{name}}}", got=n_families)


def _check_labels(labels: list[Any], sizes: list[int]) -> list[IntArray]:
    if len(labels) != len(sizes):
        raise ValueError(
            f"labels must have one array for each of {format_count(len(sizes), 'batch')}, "
            f"got {len(labels)}."
        )
    found = []
    for t, (given, size) in enumerate(zip(labels, sizes, strict=True)):
        array = np.asarray(given)
        if array.shape != (size,) or (size and array.dtype.kind not in "iu"):
            raise ValueError(
                f"labels[{t}] must have an integer for each of {format_count(size, 'row')} of it, "
                f"got an array of shape {array.shape} and type {array.dtype}."
            )
        found.append(array.astype(np.int64))
    return found
