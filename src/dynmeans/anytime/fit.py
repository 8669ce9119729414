"""fit_anytime: a clustering after every batch, a better one after the next."""

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynmeans.anytime.result import AnytimeResult
from dynmeans.anytime.subsets import ArraySubsets, IteratorSubsets, open_subsets
from dynmeans.engine.batch import Batch
from dynmeans.engine.execution import Execution
from dynmeans.engine.step import step_batch
from dynmeans.follow.clusterers import DYNMEANS
from dynmeans.follow.defaults import defaults_of, make_model_config
from dynmeans.follow.follow import Plan, make_plan
from dynmeans.follow.init_memory import begin, draw_seed, map_batch
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import PARAMETERS, ModelConfig
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_count, check_number
from dynmeans.inputs.old_names import suggest_arguments
from dynmeans.records.arrays import BatchArray
from dynmeans.records.penalties import dp_means_penalties

# A remembered position without weight: the new batch alone says where the cluster is.
_NO_WEIGHT = 1e-100
_MAX_SUGGESTED = 4000  # rows on which lambda is chosen

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Way:
    """How a batch is processed, and what the clusters cost after it."""

    keep: float  # share of a weight that lasts to the next batch
    plan: Plan

    def take_in(self, batch: BatchArray, memory: Memory) -> Memory:
        """Run one step of Dynamic Means from faded weights; unseen clusters stay as they are."""
        state, plan = memory.clusters, self.plan
        faded = replace(state, weights=np.maximum(state.weights * self.keep, _NO_WEIGHT))
        points = map_batch(Batch(batch), plan.space)
        after, _ = step_batch(points, faded, plan.penalties, plan.orders, execution=plan.execution)
        # Nothing is forgotten, so the clusters there were before come first.
        weights = after.weights.copy()
        is_unseen = after.ages[: state.n_clusters] > 1.0
        weights[: state.n_clusters][is_unseen] = state.weights[is_unseen]
        return replace(memory, clusters=replace(after, weights=weights))

    def estimate(self, holdout: Batch, memory: Memory, n_rows: int) -> tuple[float, float]:
        """Estimate the cost of a row, with its standard error."""
        state, plan = memory.clusters, self.plan
        costs = holdout.predict(state, plan.penalties, plan.execution, 0.0)[1]
        shared = plan.penalties.new_penalty * state.n_clusters / n_rows
        return float(costs.mean()) + shared, float(costs.std()) / math.sqrt(len(costs))


@suggest_arguments(PARAMETERS)
def iter_anytime(
    source: Any,
    *,
    model_config: ModelConfig | None = None,
    memory: Memory | None = None,
    batch_size: int = 100_000,
    time_limit: float | None = None,
    max_batches: int | None = None,
    patience: int | None = 10,
    tol: float = 1e-3,
    holdout_size: int = 20_000,
    span: float = 1.0,
    n_threads: int | None = None,
    **parameters: Any,
) -> Iterator[AnytimeResult]:
    """Yield a result after every batch.

    Parameters are those of `fit_anytime`. The time between two results is not counted as work.

    See Also
    --------
    fit_anytime : Returns the last result.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from dynmeans.anytime.fit import iter_anytime
    >>> points = np.random.default_rng(0).normal(size=(5000, 2))
    >>> results = iter_anytime(points, new_penalty=2.0, batch_size=500, random_state=0)
    >>> first, second = next(results), next(results)
    >>> first.n_points, second.n_points
    (500, 1000)
    """
    began = time.perf_counter()
    chosen = _check_arguments(make_model_config("fit_anytime", model_config, **parameters))
    rule = _stopping_rule(time_limit, max_batches, patience, tol)
    keep = 1.0 - 1.0 / check_number("span", span, at_least=1, infinity_allowed=True)
    execution = Execution(n_threads=n_threads)
    seed = draw_seed(chosen.random_state)
    batch_size = check_count("batch_size", batch_size)
    n_held = check_count("holdout_size", holdout_size)
    subsets = open_subsets(source, batch_size, n_held, np.random.default_rng(seed))
    start = _start(chosen, memory, seed, subsets.holdout)
    plan = make_plan(replace(chosen, random_state=None), start, execution)
    still = dp_means_penalties(plan.penalties)
    way = _Way(keep, plan._replace(penalties=still))
    start = replace(start, penalties=still)
    return _results(subsets, start, way, rule, time.perf_counter() - began)


def _results(
    subsets: ArraySubsets | IteratorSubsets,
    memory: Memory,
    way: _Way,
    rule: Callable[[float, list[float]], str | None],
    seconds: float,
) -> Iterator[AnytimeResult]:
    """Process batch after batch; `seconds` of work were done before."""
    costs: list[float] = []
    n_points, verdict = 0, None
    began = time.perf_counter()
    holdout = map_batch(Batch(subsets.holdout), way.plan.space)
    for batch in subsets:
        memory = way.take_in(batch, memory)
        n_points += len(batch)
        cost, error = way.estimate(holdout, memory, subsets.n_rows)
        costs.append(cost)
        n_clusters = memory.clusters.n_clusters
        _logger.info(
            "batch %d: %d clusters, cost %.6g +- %.2g", len(costs), n_clusters, cost, error
        )
        seconds += time.perf_counter() - began
        verdict = rule(seconds, costs)
        yield AnytimeResult(memory, cost, error, len(costs), n_points, seconds, verdict)
        if verdict is not None:
            return
        began = time.perf_counter()


def fit_anytime(source: Any, **options: Any) -> AnytimeResult:
    """Cluster a data set that never fits, from random subsets, until it is good enough.

    Each random subset is a batch of Dynamic Means without motion (Q = 0, tau = 0): every cluster
    is remembered, and none is favored for having been seen. The result comes close to that of
    DP-Means on all rows at once, after a small part of the work (decision 0510).

    Parameters
    ----------
    source : array or iterator of arrays
        Rows of numbers: an array or memory map (``np.load(path, mmap_mode="r")``), which is read at
        random, each row once before any comes again; or an iterator of arrays, which is read once,
        in its order, which should be random.
    model_config : ModelConfig, optional
        What is clustered by. Of its penalties lambda alone plays a part; "auto" chooses it, and a
        space is learned, on the rows held out.
    memory : Memory, optional
        What to begin with, of an earlier result.
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
    span : float, default=1.0
        For how many batches the observations of a cluster count towards its position: 1 takes the
        position from the last batch that saw it, infinity is the mean of all batches, which is
        the paper's Algorithm 1.
    n_threads : int, optional
        As in `DynamicMeans`; the result never depends on it.
    **parameters
        The fields of a `ModelConfig`, instead of one: `new_penalty`, `n_clusters`, `space`,
        `search`, `max_clusters` and `random_state`, the seed of subsets and visiting orders.

    Returns
    -------
    AnytimeResult
        After the last batch; `stop_reason` is the reason.

    See Also
    --------
    anytime.iter_anytime : The same, with a result after every batch.
    DPMeans : For rows that fit into main memory.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from dynmeans import fit_anytime
    >>> rng = np.random.default_rng(0)
    >>> points = rng.choice([0.0, 10.0, 20.0], size=(9000, 1)) + 0.1 * rng.normal(size=(9000, 1))
    >>> result = fit_anytime(
    ...     points, new_penalty=4.0, batch_size=1000, max_batches=5, random_state=0
    ... )
    >>> np.abs(np.sort(result.centers.ravel()).round()).tolist(), result.stop_reason
    ([0.0, 10.0, 20.0], 'max_batches')
    """
    if all(options.get(name) is None for name in ("time_limit", "max_batches")) and (
        options.get("patience", 10) is None
    ):
        raise ValueError(
            "give time_limit, max_batches or patience: without one of them, the run does not end."
        )
    (result,) = deque(iter_anytime(source, **options), maxlen=1)
    return replace(result, stop_reason=result.stop_reason or "end_of_source")


def _check_arguments(model_config: ModelConfig) -> ModelConfig:
    """Refuse, by name, what a clustering of rows without an order in time cannot use."""
    pairs = ("max_gap", "reach", "revival_penalty", "drift", "motion", "moving_features", "revival")
    model_config.reject_fields("fit_anytime", pairs, "Its rows have no order in time.")
    model_config.reject_fields(
        "fit_anytime", ("n_init",), "A random subset is visited in one order."
    )
    model_config.reject_fields(
        "fit_anytime", ("method", "families", "min_cluster_size", "min_batches")
    )
    return replace(model_config, **defaults_of("fit_anytime"))


def _start(
    model_config: ModelConfig, memory: Memory | None, seed: int, holdout: BatchArray
) -> Memory:
    """Return what to begin with: given, or settled on rows that are held out."""
    n_features = holdout.shape[1]
    if memory is None:
        return begin(model_config, [Batch(holdout[:_MAX_SUGGESTED])], seed=seed)
    if not isinstance(memory, Memory):
        raise TypeError(f"memory must be a Memory, got {type(memory).__name__}.")
    if memory.n_features != n_features:
        raise ValueError(
            f"source has {n_features} features, but the memory was made with {memory.n_features}."
        )
    if memory.method != DYNMEANS:
        rule = "must be of {{method={!r}}}, as fit_anytime clusters, got one of {{method={!r}}}"
        hint = "Continue it with DynamicMeans.from_memory."
        raise InputError("memory", rule, DYNMEANS, memory.method, hint=hint)
    return replace(memory, seed=seed)


def _stopping_rule(
    time_limit: Any, max_batches: Any, patience: Any, tol: Any
) -> Callable[[float, list[float]], str | None]:
    """Return what names the end of a run, after this many seconds and with these costs."""
    limit = math.inf if time_limit is None else check_number("time_limit", time_limit, above=0)
    most = math.inf if max_batches is None else check_count("max_batches", max_batches)
    n_idle = None if patience is None else check_count("patience", patience)
    least = 1.0 - check_number("tol", tol, at_least=0)

    def verdict(seconds: float, costs: list[float]) -> str | None:
        if len(costs) >= most:
            return "max_batches"
        if seconds >= limit:
            return "time_limit"
        if n_idle is not None and len(costs) > n_idle:
            before, lately = min(costs[:-n_idle]), min(costs[-n_idle:])
            return "no_gain" if lately > before * least else None
        return None

    return verdict
