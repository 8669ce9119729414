"""Tuning with labels: the penalties that score best on a stream whose truth is known."""

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
import pandas as pd
from joblib import Parallel, delayed

from dynmeans import metrics
from dynmeans.engine.batch import Batch, make_batches
from dynmeans.engine.execution import Execution
from dynmeans.follow.defaults import make_model_config, with_defaults
from dynmeans.follow.follow import follow_all, labels_of
from dynmeans.follow.init_memory import begin, map_batch
from dynmeans.follow.model_config import PARAMETERS, ModelConfig
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_count
from dynmeans.inputs.old_names import suggest_arguments
from dynmeans.records.arrays import BatchArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.spaces.named import find_space

Setting = dict[str, Any]
Ranges = Mapping[str, tuple[float, float]]
Metric = Callable[[Sequence[Any], Sequence[IntArray]], float]

METRICS = (
    *("accuracy_global", "accuracy_frozen", "accuracy_per_step", "idf1"),
    *("ari_global", "ari_per_step"),
)
# Settings proposed at a time, whatever the number of processes: so that this cannot change which
# are proposed (decision 0311).
ROUND = 8
# The best of many noisy scores is too good; visiting orders are noise that runs can average out.
N_RUNS = 3
_N_RANDOM = 16  # trials before the model of the score is trusted
TUNED = ("new_penalty", "max_gap", "reach")
# lambda as a share of the variance of a batch; T_Q and k_tau where streams of many kinds had
# their best (decision 0311).
_PENALTY_SHARES = (1e-3, 4.0)
_MAX_GAPS = (1.3, 25.0)
_REACHES = (1.0, 4.0)

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class TuningResult:
    """The result of `tune`: the best penalties, and the scores of all trials.

    Attributes
    ----------
    penalties : Penalties
        Penalties of the highest score; of equal ones, the first that was tried.
    score : float
        Their score on the stream they were tuned on, which is optimistic.
    trials : pandas.DataFrame
        One row for each setting, in the order tried: `new_penalty`, `max_gap`, `reach`, `score`.
    metric : str
        Name of the score.

    See Also
    --------
    tune : Returns it.
    """

    penalties: Penalties
    score: float
    trials: pd.DataFrame
    metric: str


@with_defaults("tune")
@suggest_arguments(PARAMETERS)
def tune(
    batches: Sequence[npt.ArrayLike],
    truth: Sequence[Any],
    *,
    metric: str | Metric = "accuracy_global",
    n_trials: int = 64,
    ranges: Ranges | None = None,
    n_jobs: int = 1,
    model_config: ModelConfig | None = None,
    **parameters: Any,
) -> TuningResult:
    """Choose the penalties with which `DynamicMeans` has the best score on a labeled stream.

    Parameters
    ----------
    batches : sequence of array-like of shape (n_points, n_features)
        The stream.
    truth : sequence of array-like of shape (n_points,)
        True labels, one array for each batch; -1 for unlabeled rows.
    metric : str or callable
        Name of a score in `dynmeans.metrics`, or a function of true and found labels; the
        higher, the better.
    n_trials : int
        Number of settings to try, proposed by a model of the score. A larger value finds better
        penalties and takes proportionally longer.
    ranges : mapping of str to (float, float), optional
        Lowest and highest `new_penalty`, `max_gap` or `reach`. Default: `new_penalty` from a
        thousandth of the variance of a batch to four times that variance, `max_gap` from 1.3 to
        25, `reach` from 1 to 4.
    n_jobs : int
        Number of processes; -1 is one for each core. The result does not depend on it.
    model_config : ModelConfig, optional
        All other parameters of every trial, such as `motion="constant_velocity"`. A space is
        fitted once, on the first batches. `random_state` is the seed of the proposals and of the
        visiting orders: every setting is run with the same three seeds, and the scores are
        averaged.
    **parameters
        The parameters of a `ModelConfig`, instead of one. {defaults}

    See Also
    --------
    suggest_penalties : Choose penalties without labels.
    dynmeans.metrics.tracking_report : All scores of a labeled stream.

    Notes
    -----
    The score of the best trial is optimistic, because it is the maximum of many trials on this
    stream. Evaluate on another one.

    References
    ----------
    .. [1] J. Bergstra, R. Bardenet, Y. Bengio and B. Kegl, "Algorithms for Hyper-Parameter
       Optimization", Advances in Neural Information Processing Systems 24, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from dynmeans import tune
    >>> from dynmeans.datasets.moving_gaussians import moving_gaussians
    >>> stream = moving_gaussians(20, 3, noise="radial", rng=np.random.default_rng(0))
    >>> result = tune(stream.batches, stream.labels, n_trials=32)
    >>> result.score > 0.9, len(result.trials)
    (True, 32)
    """
    n_trials = check_count("n_trials", n_trials)
    score = _check_metric(metric)
    checked, _ = make_batches(list(batches))
    base = _check_arguments(make_model_config("tune", model_config, **parameters), checked)
    points = [map_batch(batch, find_space(base.space)).points for batch in checked]
    looked_in = search_ranges(points, ranges)
    run = partial(_score, checked, truth, score, base)
    with Parallel(n_jobs=n_jobs) as parallel, _quiet_optuna():
        tried = _try_proposals(run, looked_in, n_trials, parallel, int(base.random_state))
        frame = pd.DataFrame([{**setting, "score": found} for setting, found in tried])
    best = frame.loc[frame["score"].idxmax()]
    setting: Setting = {name: float(best[name]) for name in TUNED}
    penalties = begin(replace(base, **setting), checked[:1]).penalties
    assert penalties is not None, "given"
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
    return TuningResult(penalties, float(best["score"]), frame, name)


def _score(
    batches: list[Batch],
    truth: Sequence[Any],
    metric: Metric,
    base: ModelConfig,
    setting: Setting,
) -> float:
    """Return the mean score over a few visiting orders."""
    scores, execution = [], Execution(n_threads=1)
    for seed in np.random.SeedSequence(base.random_state).generate_state(N_RUNS):
        model_config = replace(base, **setting, random_state=int(seed))
        memory = begin(model_config, batches[:1])
        _, steps = follow_all(model_config, memory, batches, [1.0] * len(batches), execution)
        scores.append(metric(truth, labels_of(steps)))
    return float(np.mean(scores))


def _check_arguments(model_config: ModelConfig, batches: list[Batch]) -> ModelConfig:
    """Refuse, by name, what is looked for or changes no score; learn the space."""
    looked_for = ("penalties", "new_penalty", "max_gap", "reach", "revival_penalty", "drift")
    model_config.reject_fields("tune", (*looked_for, "n_clusters"), "It is what tune looks for.")
    model_config.reject_fields(
        "tune", ("method", "families", "min_cluster_size", "min_batches", "max_clusters")
    )
    given = model_config.penalties
    if given.moving_features is not None and given.motion != "constant_velocity":
        raise InputError(
            "moving_features", "needs {motion='constant_velocity'}", got=given.moving_features
        )
    if not isinstance(model_config.random_state, int):
        raise InputError(
            "random_state", "must be an integer in tune", got=model_config.random_state
        )
    penalties = replace(model_config.penalties, new_penalty=1.0)  # any: nothing is clustered
    return replace(
        model_config, space=begin(replace(model_config, penalties=penalties), batches).space
    )


def _try_proposals(
    run: Callable[[Setting], float],
    ranges: Ranges,
    n_trials: int,
    parallel: Parallel,
    random_state: int,
) -> Iterator[tuple[Setting, float]]:
    """Ask for a round of settings, score them in parallel, report the scores in order."""
    spaces: dict[str, optuna.distributions.BaseDistribution] = {
        name: optuna.distributions.FloatDistribution(*ends, log=True)
        for name, ends in ranges.items()
    }
    sampler = optuna.samplers.TPESampler(seed=random_state, n_startup_trials=_N_RANDOM)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for start in range(0, n_trials, ROUND):
        asked = [study.ask(spaces) for _ in range(min(ROUND, n_trials - start))]
        scores = parallel(delayed(run)(trial.params) for trial in asked)
        for trial, score in zip(asked, scores, strict=True):
            study.tell(trial, score)
            _logger.info("score %.4f at %s", score, trial.params)
            yield trial.params, score


@contextmanager
def _quiet_optuna() -> Iterator[None]:
    """Keep the optimizer from writing to the terminal of the caller."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _check_metric(metric: object) -> Metric:
    if callable(metric):
        return metric
    if metric not in METRICS:
        raise ValueError(
            f"metric must be one of {', '.join(METRICS)} or a callable, got {metric!r}."
        )
    found: Metric = getattr(metrics, str(metric))
    return found


def search_ranges(
    batches: Sequence[BatchArray], ranges: Ranges | None
) -> dict[str, tuple[float, float]]:
    """Return lowest and highest value of each parameter, those of the user first."""
    given = dict(ranges or {})
    unknown = [name for name in given if name not in TUNED]
    if unknown:
        raise ValueError(f"ranges must be of {', '.join(TUNED)}, got {unknown[0]!r}.")
    if "new_penalty" not in given:
        variance = _batch_variance(batches)
        given["new_penalty"] = (_PENALTY_SHARES[0] * variance, _PENALTY_SHARES[1] * variance)
    chosen = {"max_gap": _MAX_GAPS, "reach": _REACHES, **given}
    return {name: _check_range(name, chosen[name]) for name in TUNED}


def _batch_variance(batches: Sequence[BatchArray]) -> float:
    """Mean squared distance of the points to the mean of their batch."""
    squares = sum(float(((b - b.mean(axis=0)) ** 2).sum()) for b in batches if len(b))
    variance = squares / max(sum(map(len, batches)), 1)
    if variance == 0:
        raise ValueError(
            "batches must have distinct points: all are identical, so no range for new_penalty "
            "can be derived. Or set ranges={'new_penalty': (low, high)}."
        )
    return variance


def _check_range(name: str, ends: tuple[float, float]) -> tuple[float, float]:
    """Refuse a range that is none, or whose ends no `Penalties` would take."""
    if np.shape(ends) != (2,):
        raise ValueError(f"ranges[{name!r}] must be (lowest, highest), got {ends!r}.")
    for end in ends:
        values: dict[str, Any] = {"new_penalty": 1.0, "max_gap": 2.0, "reach": 1.0, name: end}
        Penalties(**values)
    low, high = map(float, ends)
    if not low < high < math.inf:
        raise ValueError(f"ranges[{name!r}] must rise and be finite, got {ends!r}.")
    return low, high
