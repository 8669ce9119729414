"""fit_anytime: a clustering after every batch, a better one after the next."""

import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.execution import Execution
from dynmeans.engine.predict import predict_labels
from dynmeans.engine.step import step_batch
from dynmeans.inputs.numbers import checked_count, checked_number
from dynmeans.parameters.suggest import suggest_penalties
from dynmeans.records.arrays import BatchArray
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import AUTO, Penalties, dp_means_penalties, given_penalties
from dynmeans.records.state import ClusterState
from dynmeans.scale.anytime.result import AnytimeResult
from dynmeans.scale.anytime.sources import open_source
from dynmeans.scale.anytime.subsets import IteratorSubsets, RandomSubsets

# A remembered position without weight: the new batch alone says where the cluster is.
_NO_WEIGHT = 1e-100
_MAX_SUGGESTED = 4000  # rows on which lambda is chosen

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Rule:
    """When to stop."""

    time_limit: float
    max_batches: float
    patience: int | None
    tol: float

    def verdict(self, seconds: float, costs: list[float]) -> str | None:
        """Name what ends the run now, if anything does."""
        if len(costs) >= self.max_batches:
            return "max_batches"
        if seconds >= self.time_limit:
            return "time_limit"
        if self.patience is not None and len(costs) > self.patience:
            before, lately = min(costs[: -self.patience]), min(costs[-self.patience :])
            if lately > before * (1.0 - self.tol):
                return "no_gain"
        return None


@dataclass(frozen=True, slots=True)
class _Way:
    """How a batch is taken in, and what the clusters cost after it."""

    penalties: Penalties
    keep: float  # share of a weight that lasts to the next batch
    orders: VisitingOrders
    execution: Execution

    def take_in(self, batch: BatchArray, state: ClusterState) -> ClusterState:
        """Run one step of Dynamic Means from faded weights; unseen clusters stay as they are."""
        faded = replace(state, weights=np.maximum(state.weights * self.keep, _NO_WEIGHT))
        after, _ = step_batch(
            Batch(batch), faded, self.penalties, self.orders, execution=self.execution
        )
        # Nothing is forgotten, so the clusters there were before come first.
        weights = after.weights.copy()
        is_unseen = after.ages[: state.n_clusters] > 1.0
        weights[: state.n_clusters][is_unseen] = state.weights[is_unseen]
        return replace(after, weights=weights)

    def estimate(
        self, holdout: BatchArray, state: ClusterState, n_rows: int
    ) -> tuple[float, float]:
        """Estimate the cost of a row, with its standard error."""
        costs = predict_labels(Batch(holdout), state, self.penalties)[1]
        shared = self.penalties.new_penalty * state.n_clusters / n_rows
        return float(costs.mean()) + shared, float(costs.std()) / math.sqrt(len(costs))


def anytime_results(
    source: Any,
    *,
    penalties: Penalties | float | str = AUTO,
    new_penalty: float | None = None,
    batch_size: int = 100_000,
    time_limit: float | None = None,
    max_batches: int | None = None,
    patience: int | None = 10,
    tol: float = 1e-3,
    holdout_size: int = 20_000,
    memory: float = 1.0,
    columns: list[str] | None = None,
    state: ClusterState | None = None,
    n_threads: int | None = None,
    max_clusters: int | None = None,
    rng: np.random.Generator | int | None = None,
) -> Iterator[AnytimeResult]:
    """Give a usable result after every batch; take as many as you like.

    Parameters are those of `fit_anytime`. Only time spent in here counts as work, not what you do
    between two results.

    Examples
    --------
    >>> import numpy as np
    >>> from dynmeans.scale.anytime.fit_anytime import anytime_results
    >>> points = np.random.default_rng(0).normal(size=(5000, 2))
    >>> results = anytime_results(points, new_penalty=2.0, batch_size=500, rng=0)
    >>> first, second = next(results), next(results)
    >>> first.n_points, second.n_points
    (500, 1000)
    """
    began = time.perf_counter()
    given = given_penalties(penalties, new_penalty)
    rule = _checked_rule(time_limit, max_batches, patience, tol)
    keep = 1.0 - 1.0 / checked_number("memory", memory, at_least=1, infinity_allowed=True)
    execution = Execution(n_threads=n_threads, max_clusters=max_clusters)
    generator = np.random.default_rng(rng)
    orders = VisitingOrders(int(generator.integers(2**63)))
    batch_size = checked_count("batch_size", batch_size)
    opened: Any = open_source(source, columns, batch_size)
    kind = RandomSubsets if hasattr(opened, "read") else IteratorSubsets
    subsets = kind(opened, batch_size, checked_count("holdout_size", holdout_size), generator)
    start = _checked_start(state, subsets.holdout.shape[1])
    chosen = dp_means_penalties(_suggested(subsets.holdout) if given is None else given)
    way = _Way(chosen, keep, orders, execution)
    return _results(subsets, start, way, rule, time.perf_counter() - began)


def _results(
    subsets: RandomSubsets | IteratorSubsets,
    state: ClusterState,
    way: _Way,
    rule: _Rule,
    seconds: float,
) -> Iterator[AnytimeResult]:
    """Take in batch after batch; `seconds` of work were done before."""
    costs: list[float] = []
    n_points, verdict = 0, None
    began = time.perf_counter()
    for batch in subsets:
        state = way.take_in(batch, state)
        n_points += len(batch)
        cost, error = way.estimate(subsets.holdout, state, subsets.n_rows)
        costs.append(cost)
        _logger.info(
            "batch %d: %d clusters, cost %.6g +- %.2g", len(costs), state.n_clusters, cost, error
        )
        seconds += time.perf_counter() - began
        verdict = rule.verdict(seconds, costs)
        new_penalty = way.penalties.new_penalty
        yield AnytimeResult(state, new_penalty, cost, error, len(costs), n_points, seconds, verdict)
        if verdict is not None:
            return
        began = time.perf_counter()


def fit_anytime(
    source: Any,
    *,
    on_batch: Callable[[AnytimeResult], object] | None = None,
    **options: Any,
) -> AnytimeResult:
    """Cluster a data set that never fits, from random subsets, until it is good enough.

    Each random subset is a batch of Dynamic Means without motion (Q = 0, tau = 0): every cluster
    is remembered, and none is favored for having been seen. The result comes close to that of
    DP-Means on all rows at once, after a small part of the work (decision 0510).

    Parameters
    ----------
    source : array, path, Dask array or iterator of arrays
        Rows of numbers: an array or memory map, the path of a .npy file, a Parquet file or a folder
        of them, a Dask array, or an iterator of arrays. An iterator is read once, in its order,
        which should be random; all others are read at random, each row once before any comes
        again.
    on_batch : callable, optional
        Called with the result after every batch: progress, with the current estimate.
    penalties : Penalties, float or "auto", default="auto"
        lambda: squared distance beyond which a point opens a new cluster; a number, or that of a
        `Penalties`. "auto" chooses it on the rows held out.
    new_penalty : float, optional
        lambda by name, in place of `penalties`.
    batch_size : int, default=100_000
        Rows of each batch.
    time_limit : float, optional
        Seconds of work; the batch that passes it is the last.
    max_batches : int, optional
        Batches to take.
    patience, tol : int or None, float, default=10, 1e-3
        Stop when the cost of the last `patience` batches is not lower, by the share `tol`, than
        that of those before. None: never.
    holdout_size : int, default=20_000
        Rows held out to estimate the cost, at most a tenth of all.
    memory : float, default=1.0
        For how many batches the observations of a cluster count towards its position: 1 takes the
        position from the last batch that saw it, infinity is the mean of all batches, which is
        the paper's Algorithm 1.
    columns : list of str, optional
        Columns of a Parquet source; by default all numeric ones.
    state : ClusterState, optional
        Clusters to begin with, of an earlier result.
    n_threads : int, optional
        As in `DynamicMeans`; the result never depends on it.
    max_clusters : int, optional
        As in `DynamicMeans`: a batch that would leave more is refused.
    rng : Generator, int or None
        Source of subsets and visiting orders.

    Returns
    -------
    AnytimeResult
        After the last batch; `stopped_by` says why it was the last.

    Examples
    --------
    >>> import numpy as np
    >>> from dynmeans import fit_anytime
    >>> rng = np.random.default_rng(0)
    >>> points = rng.choice([0.0, 10.0, 20.0], size=(9000, 1)) + 0.1 * rng.normal(size=(9000, 1))
    >>> result = fit_anytime(points, new_penalty=4.0, batch_size=1000, max_batches=5, rng=0)
    >>> np.sort(result.centers.ravel()).round().tolist(), result.stopped_by
    ([0.0, 10.0, 20.0], 'max_batches')
    """
    if all(options.get(name) is None for name in ("time_limit", "max_batches")) and (
        options.get("patience", 10) is None
    ):
        raise ValueError("give time_limit, max_batches or patience: nothing would end the run.")
    for result in anytime_results(source, **options):
        if on_batch is not None:
            on_batch(result)
    return replace(result, stopped_by=result.stopped_by or "end_of_source")


def _suggested(rows: BatchArray) -> Penalties:
    return suggest_penalties([rows[:_MAX_SUGGESTED]])


def _checked_rule(time_limit: Any, max_batches: Any, patience: Any, tol: Any) -> _Rule:
    return _Rule(
        math.inf if time_limit is None else checked_number("time_limit", time_limit, above=0),
        math.inf if max_batches is None else checked_count("max_batches", max_batches),
        None if patience is None else checked_count("patience", patience),
        checked_number("tol", tol, at_least=0),
    )


def _checked_start(state: ClusterState | None, n_features: int) -> ClusterState:
    if state is None:
        return ClusterState.empty(n_features)
    if not isinstance(state, ClusterState):
        raise TypeError(f"state must be a ClusterState, got {type(state).__name__}.")
    if state.n_features != n_features:
        raise ValueError(
            f"source has {n_features} features, but the state was built with {state.n_features}."
        )
    return state
