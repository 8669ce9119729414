"""The door: lambda, max_gap and reach for batches of your own, without labels."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.batch import AnyBatch, Batch, take_batches
from dynmeans.engine.blas import one_thread
from dynmeans.engine.orders import content_order
from dynmeans.inputs.numbers import checked_number, checked_range
from dynmeans.inputs.plural import counted
from dynmeans.parameters.hint import Hint
from dynmeans.parameters.one_cluster import hold_together
from dynmeans.parameters.samples import (
    N_REFINED,
    N_SEARCHED,
    N_WHOLE,
    sampled,
    without_odd_rows,
)
from dynmeans.parameters.search import refine, search, search_near
from dynmeans.parameters.tracks import Points, leading_axes
from dynmeans.parameters.trials import Feed, Setting, Trials
from dynmeans.parameters.warnings import find_doubts
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties, penalties_with_defaults
from dynmeans.records.suggestion import Candidate, Suggestion, warn_of_doubts

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
    moving: Sequence[int] | None = None,
    n_init: int = 3,
    rng: np.random.Generator | None = None,
) -> Penalties:
    """Choose lambda, max_gap, reach and the motion from the points alone.

    The batches are clustered with some twenty choices; the one that describes the stream most
    briefly wins. The first 30 batches that have points are looked at, and more until they hold
    4,000 points; with one, only lambda is chosen. Of more than 60,000 points a sample is searched,
    and the choice refined on up to 180,000. A choice whose clusters hardly outlive a batch
    is never taken: if there is no other, a coarse one that is known to be safe is, with a warning.

    Parameters
    ----------
    batches : iterable of array-like of shape (n_points, n_features)
        The first batches of the stream, in order.
    elapsed : float or sequence of float
        Steps of time between batches, as in `DynamicMeans.fit_sequence`.
    sample_weight : sequence of array-like of shape (n_points,), optional
        For each batch one weight per row, or None.
    max_gap, reach : float, optional
        A value that is to be kept; by default it is chosen.
    n_clusters : float or pair of float, optional
        About how many clusters a batch holds, or between how many. Where the free choice has
        another number, lambda is the one that gives as many; max_gap and reach are still chosen.
    motion : {"still", "steady"}, optional
        Whether clusters keep a course; by default it is chosen.
    moving : sequence of int, optional
        Features that keep a course in steady motion; all by default.
    n_init : int
        Visiting orders tried on every batch; give the one you will use.
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

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> places = np.repeat([[0.0, 0.0], [4.0, 4.0], [0.0, 9.0]], 20, axis=0)
    >>> batches = [places + rng.normal(scale=0.3, size=places.shape) for _ in range(8)]
    >>> penalties = suggest_penalties(batches)
    >>> 0.5 < penalties.new_penalty < 20
    True
    """
    known: dict[str, Any] = {"max_gap": max_gap, "reach": reach, "motion": motion, "moving": moving}
    stream: dict[str, Any] = {"elapsed": elapsed, "sample_weight": sample_weight, "rng": rng}
    found = suggest_details(batches, n_clusters=n_clusters, n_init=n_init, **stream, **known)
    warn_of_doubts(found.doubts)
    return found.penalties


def suggest_details(
    batches: Iterable[npt.ArrayLike],
    *,
    elapsed: float | Sequence[float] = 1.0,
    sample_weight: Sequence[npt.ArrayLike | None] | None = None,
    n_init: int = 3,
    rng: np.random.Generator | None = None,
    **known: Any,
) -> Suggestion:
    """As `suggest_penalties`, with every choice that was tried and an explanation in words.

    Nothing is warned of: `doubts` of what is returned says it.
    """
    if getattr(batches, "ndim", 0) == 2:
        raise ValueError(
            "batches must be a list with an array for each batch, got a single table of "
            f"{counted(len(list(batches)), 'row')}. For one batch give [X]."
        )
    rows, gaps = take_batches(list(batches), elapsed, sample_weight)
    entropy = 0 if rng is None else int(rng.integers(2**63))
    n = first_batches(rows)
    return suggest_for(rows[:n], gaps[:n], orders=VisitingOrders(entropy, n_init), **known)


@one_thread()
def suggest_for(
    batches: list[Batch],
    elapsed: Sequence[float],
    *,
    orders: VisitingOrders,
    max_gap: float | None = None,
    reach: float | None = None,
    n_clusters: float | tuple[float, float] | None = None,
    motion: str | None = None,
    moving: Sequence[int] | None = None,
    families: bool = False,
    batch_word: str = "batch",
) -> Suggestion:
    """As `suggest_details`, for batches that were checked; says `batch_word` for a batch.

    With `families` clusters will be joined: a number asked for is one of families.
    """
    if max_gap is not None:
        max_gap = checked_number("max_gap", max_gap, above=1, infinity_allowed=True)
    if reach is not None:
        reach = checked_number("reach", reach, at_least=1)
    hint = None if n_clusters is None else Hint(*checked_range("n_clusters", n_clusters), families)
    still = Penalties(1.0, revival_penalty=0.0, drift=0.0)
    moving = still.with_motion("steady" if motion is None else motion, moving).moving
    n_points = sum(batch.n_points for batch in batches)
    looked_at = batches if n_points <= N_WHOLE else sampled(batches, N_REFINED)
    # Sums over rows are rounded: shuffled rows must not tip a choice.
    looked_at = [batch.taken(content_order(batch.points, batch.weights)) for batch in looked_at]
    looked_at, odd = without_odd_rows(looked_at, batch_word)
    axes, gaps = leading_axes([batch.points for batch in looked_at]), list(elapsed)
    if axes is not None:  # Each axis mixes features, so all may move.
        looked_at = [Batch(b.points.astype(np.float64) @ axes, b.weights) for b in looked_at]
        moving = None
    # Lambda means the same to Algorithm 2 with and without splits of what is plainly two.
    tried_in = replace(orders, search="paper") if orders.search == "split" else orders
    trials = _trials(Feed(looked_at, gaps, tried_in, max_gap, reach, motion, moving, batch_word))
    if not trials.points.variance > 0:
        # Points that are all alike have no scale.
        chosen = Candidate(penalties_with_defaults(1.0, max_gap=max_gap, reach=reach), 0.0, 1.0, 1)
        n_batches = trials.points.n_batches
        return Suggestion(chosen, (chosen,), n_batches, n_points, is_scale_known=False)
    tried: list[Candidate] = []
    if n_points <= N_WHOLE:
        setting = _searched(trials, hint)
    else:
        setting, tried = _searched_on_fewer(trials, hint)
    if hint is None:
        setting = hold_together(trials, setting)
    doubted = trials if tried_in is orders else _searched_as(orders, trials, setting)
    doubts = find_doubts(doubted, setting, hint, is_joined=families)
    chosen, is_followed = trials.candidate(setting), trials.is_followed(setting)
    return Suggestion(
        *(chosen, (*tried, *trials.candidates.values()), trials.points.n_batches, n_points),
        n_looked_at=len(trials.points.rows),
        is_followed=hint is not None or is_followed,
        doubts=(*odd, *doubts),
        batch_word=batch_word,
    )


def _trials(feed: Feed) -> Trials:
    rows, weights = [b.points for b in feed.batches], [b.weights for b in feed.batches]
    return Trials(Points.gather(rows, weights, np.cumsum(feed.elapsed)), feed)


def _searched(trials: Trials, hint: Hint | None) -> Setting:
    return search(trials) if hint is None else search_near(trials, hint)


def _searched_on_fewer(trials: Trials, hint: Hint | None) -> tuple[Setting, list[Candidate]]:
    """Search on a sample, then look around its choice on all points; also what the sample tried."""
    fewer = _trials(replace(trials.feed, batches=sampled(trials.feed.batches, N_SEARCHED)))
    setting = _searched(fewer, hint)
    trials.pool(fewer.n_pooled)
    if hint is None and fewer.is_followed(setting):
        setting = refine(trials, setting)
    return setting, list(fewer.candidates.values())


def _searched_as(orders: VisitingOrders, trials: Trials, setting: Setting) -> Trials:
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
