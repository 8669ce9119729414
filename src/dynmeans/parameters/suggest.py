"""The door: lambda, max_gap and reach for batches of your own, without labels."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from dynmeans.engine.batch import Batch, take_batches
from dynmeans.inputs.numbers import checked_count, checked_number
from dynmeans.inputs.plural import counted
from dynmeans.parameters.search import search
from dynmeans.parameters.tracks import Points
from dynmeans.parameters.trials import Feed, Trials
from dynmeans.parameters.warnings import find_doubts
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import DEFAULT_MAX_GAP, DEFAULT_REACH, Penalties
from dynmeans.records.suggestion import Candidate, Suggestion, warn_of_doubts


def suggest_penalties(
    batches: Iterable[npt.ArrayLike],
    *,
    elapsed: float | Sequence[float] = 1.0,
    sample_weight: Sequence[npt.ArrayLike | None] | None = None,
    max_gap: float | None = None,
    reach: float | None = None,
    motion: str | None = None,
    moving: Sequence[int] | None = None,
    n_init: int = 3,
    rng: np.random.Generator | None = None,
) -> Penalties:
    """Choose lambda, max_gap, reach and the motion from the points alone.

    The batches are clustered with some twenty choices; the one that describes the stream most
    briefly wins. Twenty to fifty batches are plenty; with one, only lambda is chosen.

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
        Ready for `step`; `DynamicMeans` takes its new_penalty, max_gap, reach and motion.

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
    found = suggest_details(
        batches,
        elapsed=elapsed,
        sample_weight=sample_weight,
        max_gap=max_gap,
        reach=reach,
        motion=motion,
        moving=moving,
        n_init=n_init,
        rng=rng,
    )
    warn_of_doubts(found.doubts)
    return found.penalties


def suggest_details(
    batches: Iterable[npt.ArrayLike],
    *,
    elapsed: float | Sequence[float] = 1.0,
    sample_weight: Sequence[npt.ArrayLike | None] | None = None,
    max_gap: float | None = None,
    reach: float | None = None,
    motion: str | None = None,
    moving: Sequence[int] | None = None,
    n_init: int = 3,
    rng: np.random.Generator | None = None,
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
    n_init = checked_count("n_init", n_init)
    return suggest_for(
        rows,
        gaps,
        n_init=n_init,
        max_gap=max_gap,
        reach=reach,
        motion=motion,
        moving=moving,
        rng=rng,
    )


def suggest_for(
    batches: list[Batch],
    elapsed: Sequence[float],
    *,
    n_init: int,
    max_gap: float | None = None,
    reach: float | None = None,
    motion: str | None = None,
    moving: Sequence[int] | None = None,
    rng: np.random.Generator | None = None,
) -> Suggestion:
    """As `suggest_details`, for batches that were checked."""
    if max_gap is not None:
        max_gap = checked_number("max_gap", max_gap, above=1, infinity_allowed=True)
    if reach is not None:
        reach = checked_number("reach", reach, at_least=1)
    still = Penalties(1.0, revival_penalty=0.0, drift=0.0)
    moving = still.with_motion("steady" if motion is None else motion, moving).moving
    gaps = list(elapsed)
    rows, weights = [b.points for b in batches], [b.weights for b in batches]
    points = Points.gather(rows, weights, np.cumsum(gaps))
    n_points = len(points.rows)
    if not points.variance > 0:
        return _placeholder(points.n_batches, n_points, max_gap, reach)
    orders = VisitingOrders(0 if rng is None else int(rng.integers(2**63)), n_init)
    trials = Trials(points, Feed(batches, gaps, orders, max_gap, reach, motion, moving))
    setting = search(trials)
    doubts = find_doubts(trials, setting)
    chosen, tried = trials.candidate(setting), tuple(trials.candidates.values())
    return Suggestion(chosen, tried, points.n_batches, n_points, doubts=doubts)


def _placeholder(
    n_batches: int, n_points: int, max_gap: float | None, reach: float | None
) -> Suggestion:
    """Points that are all alike have no scale."""
    penalties = Penalties(
        1.0,
        max_gap=DEFAULT_MAX_GAP if max_gap is None else max_gap,
        reach=DEFAULT_REACH if reach is None else reach,
    )
    chosen = Candidate(penalties, 0.0, 1.0, 1)
    return Suggestion(chosen, (chosen,), n_batches, n_points, is_scale_known=False)
