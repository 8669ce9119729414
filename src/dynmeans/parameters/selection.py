"""The door: lambda, max_gap and reach for batches of your own, without labels."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.batch import AnyBatch, Batch, make_batches
from dynmeans.engine.blas import one_thread
from dynmeans.engine.orders import content_order
from dynmeans.inputs.format_count import format_count
from dynmeans.inputs.numbers import check_number, check_range
from dynmeans.parameters.diagnostics import find_warnings
from dynmeans.parameters.hint import Hint
from dynmeans.parameters.one_cluster import fit_to_cloud, hold_together
from dynmeans.parameters.search import refine, search, search_near
from dynmeans.parameters.subsample import (
    N_REFINED,
    N_SEARCHED,
    N_WHOLE,
    drop_outliers,
    subsample,
)
from dynmeans.parameters.tracks import Points, leading_axes
from dynmeans.parameters.trials import Setting, TrialInputs, Trials
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import REACH_HINT, Penalties, penalties_with_defaults
from dynmeans.records.suggestion import Candidate, Suggestion, emit_warnings

N_BATCHES = 30
# Fewer points do not tell a cluster from the noise of single ones (decision 0300).
N_POINTS = 4000


def suggest_penalties(
    batches: Iterable[npt.ArrayLike],
    *,
    elapsed: float | Sequence[float] = 1.0,
    sample_weight: Sequence[npt.ArrayLike | None] | None = None,
    max_gap: float | None = None,
    reach: float | None = None,
    n_clusters: float | tuple[float, float] | None = None,
    motion: str | None = None,
    moving_features: Sequence[int] | None = None,
    n_init: int = 3,
    rng: np.random.Generator | None = None,
) -> Penalties:
    """Choose `new_penalty`, `max_gap`, `reach` and the motion model from data without labels.

    The batches are clustered with about twenty candidates; the candidate with the shortest
    description of the stream is chosen. The first 30 batches that have points are used, and more
    until they hold 4,000 points; with one, only `new_penalty` is chosen. Of more than 60,000 points
    a sample is searched, and the choice is refined on up to 180,000. If no candidate gives clusters
    that last longer than one batch, a coarse fallback is chosen, with a warning.

    Parameters
    ----------
    batches : iterable of array-like of shape (n_points, n_features)
        The first batches of the stream, in order.
    elapsed : float or sequence of float
        Steps between batches, as in `DynamicMeans.fit_sequence`.
    sample_weight : sequence of array-like of shape (n_points,), optional
        For each batch one weight per row, or None.
    max_gap, reach : float, optional
        Value to use. Default: it is chosen.
    n_clusters : float or pair of float, optional
        Expected number of clusters per batch, or a range. If the free choice gives another number,
        `new_penalty` is changed to give approximately this one. A larger number gives smaller
        clusters.
    motion : {"random_walk", "constant_velocity"}, optional
        Motion model. Default: it is chosen.
    moving_features : sequence of int, optional
        Features that have a velocity with "constant_velocity". Default: all.
    n_init : int
        Number of visiting orders per batch; use the value of the estimator.
    rng : numpy.random.Generator, optional
        Source of the visiting orders. By default they are always the same, and so is the choice.

    Returns
    -------
    Penalties
        Ready for `DynamicMeans(penalties)`, `step`, `RunConfig` and the rest.

    Warns
    -----
    SuggestionWarning
        Where the choice should not be trusted: most clusters are single points, the best value
        lies at the end of those tried, or one feature has nearly all the spread.

    See Also
    --------
    suggest : The same, with all candidates and an explanation.
    tune : Choose penalties with labels.
    DynamicMeans : Chooses penalties itself, if none are given.

    References
    ----------
    .. [1] J. Rissanen, "Modeling by shortest data description", Automatica 14, 1978.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> places = np.repeat([[0.0, 0.0], [4.0, 4.0], [0.0, 9.0]], 20, axis=0)
    >>> batches = [places + rng.normal(scale=0.3, size=places.shape) for _ in range(8)]
    >>> penalties = suggest_penalties(batches)
    >>> 0.5 < penalties.new_penalty < 20
    True
    """
    known: dict[str, Any] = {
        "max_gap": max_gap,
        "reach": reach,
        "motion": motion,
        "moving_features": moving_features,
    }
    stream: dict[str, Any] = {"elapsed": elapsed, "sample_weight": sample_weight, "rng": rng}
    found = suggest(batches, n_clusters=n_clusters, n_init=n_init, **stream, **known)
    emit_warnings(found.warnings)
    return found.penalties


def suggest(
    batches: Iterable[npt.ArrayLike],
    *,
    elapsed: float | Sequence[float] = 1.0,
    sample_weight: Sequence[npt.ArrayLike | None] | None = None,
    n_init: int = 3,
    rng: np.random.Generator | None = None,
    **known: Any,
) -> Suggestion:
    """As `suggest_penalties`, with every candidate that was tried and an explanation in words.

    No warning is raised: see `warnings` of the result. `suggest(batches).penalties` equals
    `suggest_penalties(batches)`.

    See Also
    --------
    suggest_penalties : The penalties only; describes the parameters.
    dynmeans.plots.plot_suggestion : Draw the candidates.

    References
    ----------
    .. [1] J. Rissanen, "Modeling by shortest data description", Automatica 14, 1978.

    Examples
    --------
    >>> import numpy as np
    >>> from dynmeans import suggest
    >>> rng = np.random.default_rng(0)
    >>> batches = [rng.normal([[0.0]] * 20 + [[9.0]] * 20, 0.2) for _ in range(10)]
    >>> found = suggest(batches)
    >>> found.chosen.n_clusters_total, found.warnings
    (2, ())
    """
    if getattr(batches, "ndim", 0) == 2:
        raise ValueError(
            "batches must be a list with an array for each batch, got a single table of "
            f"{format_count(len(list(batches)), 'row')}. For one batch give [X]."
        )
    rows, gaps = make_batches(list(batches), elapsed, sample_weight)
    entropy = 0 if rng is None else int(rng.integers(2**63))
    n = first_batches(rows)
    return suggest_checked(rows[:n], gaps[:n], orders=VisitingOrders(entropy, n_init), **known)


@one_thread()
def suggest_checked(
    batches: list[Batch],
    elapsed: Sequence[float],
    *,
    orders: VisitingOrders,
    max_gap: float | None = None,
    reach: float | None = None,
    n_clusters: float | tuple[float, float] | None = None,
    motion: str | None = None,
    moving_features: Sequence[int] | None = None,
    families: bool = False,
    batch_noun: str = "batch",
) -> Suggestion:
    """As `suggest`, for checked batches; texts call a batch `batch_noun`.

    With `families` clusters will be joined: a number requested is one of families.
    """
    if max_gap is not None:
        max_gap = check_number("max_gap", max_gap, above=1, infinity_allowed=True)
    if reach is not None:
        reach = check_number("reach", reach, at_least=1, hint=REACH_HINT)
    hint = None if n_clusters is None else Hint(*check_range("n_clusters", n_clusters), families)
    still = Penalties(1.0, revival_penalty=0.0, drift=0.0)
    moving_features = still.with_motion(
        "constant_velocity" if motion is None else motion, moving_features
    ).moving_features
    n_points = sum(batch.n_points for batch in batches)
    looked_at = batches if n_points <= N_WHOLE else subsample(batches, N_REFINED)
    # Sums over rows are rounded: shuffled rows must not tip a choice.
    looked_at = [batch.take_rows(content_order(batch.points, batch.weights)) for batch in looked_at]
    looked_at, odd = drop_outliers(looked_at, batch_noun)
    axes, gaps = leading_axes([batch.points for batch in looked_at]), list(elapsed)
    if axes is not None:  # Each axis mixes features, so all may move.
        looked_at = [Batch(b.points.astype(np.float64) @ axes, b.weights) for b in looked_at]
        moving_features = None
    # Lambda means the same to Algorithm 2 with and without splits of what is plainly two.
    tried_in = replace(orders, search="paper") if orders.search == "split" else orders
    trials = _trials(
        TrialInputs(looked_at, gaps, tried_in, max_gap, reach, motion, moving_features, batch_noun)
    )
    if not trials.points.variance > 0:
        # Points that are all alike have no scale.
        chosen = Candidate(penalties_with_defaults(1.0, max_gap=max_gap, reach=reach), 0.0, 1.0, 1)
        n_batches = trials.points.n_batches
        return Suggestion(chosen, (chosen,), n_batches, n_points, has_scale=False)
    tried: list[Candidate] = []
    if n_points <= N_WHOLE:
        setting = _run_search(trials, hint)
    else:
        setting, tried = _search_on_sample(trials, hint)
    if hint is None:
        setting = hold_together(trials, setting)
    doubted = trials if tried_in is orders else _trials_with_final_search(orders, trials, setting)
    doubts = find_warnings(doubted, setting, hint, is_joined=families)
    if hint is None and families:
        setting = fit_to_cloud(trials, setting)
    chosen, has_lasting_clusters = trials.candidate(setting), trials.has_lasting_clusters(setting)
    return Suggestion(
        *(chosen, (*tried, *trials.candidates.values()), trials.points.n_batches, n_points),
        n_sampled_points=len(trials.points.rows),
        has_lasting_clusters=hint is not None or has_lasting_clusters,
        warnings=(*odd, *doubts),
        is_joined=families,
        batch_noun=batch_noun,
    )


def _trials(feed: TrialInputs) -> Trials:
    rows, weights = [b.points for b in feed.batches], [b.weights for b in feed.batches]
    return Trials(Points.gather(rows, weights, np.cumsum(feed.elapsed)), feed)


def _run_search(trials: Trials, hint: Hint | None) -> Setting:
    return search(trials) if hint is None else search_near(trials, hint)


def _search_on_sample(trials: Trials, hint: Hint | None) -> tuple[Setting, list[Candidate]]:
    """Search on a sample, then look around its choice on all points; also what the sample tried."""
    fewer = _trials(replace(trials.feed, batches=subsample(trials.feed.batches, N_SEARCHED)))
    setting = _run_search(fewer, hint)
    trials.pool(fewer.n_pooled)
    if hint is None and fewer.has_lasting_clusters(setting):
        setting = refine(trials, setting)
    return setting, list(fewer.candidates.values())


def _trials_with_final_search(orders: VisitingOrders, trials: Trials, setting: Setting) -> Trials:
    """Return other trials where the search that will be used finds other labels than theirs."""
    other = Trials(trials.points, replace(trials.feed, orders=orders))
    other.pool(trials.n_pooled)
    is_same = np.array_equal(other.labels(setting)[0], trials.labels(setting)[0])
    return trials if is_same else other


def first_batches(batches: Sequence[AnyBatch]) -> int:
    """Count the batches a choice is made on: 30 that have points, and more up to 4,000 points."""
    n_filled = n_points = 0
    for t, batch in enumerate(batches):
        n_filled += batch.n_points > 0
        n_points += batch.n_points
        if n_filled >= N_BATCHES and n_points >= N_POINTS:
            return t + 1
    return len(batches)
