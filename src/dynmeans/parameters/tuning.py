"""Tuning with labels: the penalties that score best on a stream whose truth is known."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
import pandas as pd
from joblib import Parallel, delayed

from dynmeans import metrics
from dynmeans.engine.batch import Batch, take_batches
from dynmeans.engine.execution import Execution
from dynmeans.engine.sequence import step_sequence
from dynmeans.inputs.numbers import checked_count
from dynmeans.parameters.search_space import (
    PARAMETERS,
    Ranges,
    grid_values,
    search_motions,
    search_ranges,
)
from dynmeans.records.arrays import IntArray
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties

Setting = dict[str, Any]
Metric = Callable[[Sequence[Any], Sequence[IntArray]], float]

METHODS = ("bayesian", "grid")
METRICS = (
    *("accuracy_global", "accuracy_frozen", "accuracy_per_step", "idf1"),
    *("ari_global", "ari_per_step", "ami_global", "ami_per_step"),
)
# Settings proposed at a time, whatever the number of processes: so that this cannot change which
# are proposed (decision 0311).
ROUND = 8
# The best of many noisy scores is too good; visiting orders are noise that runs can average out.
N_RUNS = 3
N_INIT = 3  # as `DynamicMeans` by default
_N_RANDOM = 16  # trials before the model of the score is trusted

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class TuningResult:
    """The best penalties, and how all others did.

    Attributes
    ----------
    penalties : Penalties
        Those of the highest score; of equals, the first tried.
    score : float
        That score. It is of the stream that was tuned on, and so a little too high.
    trials : pandas.DataFrame
        One row for each setting, in the order tried: `new_penalty`, `max_gap`, `reach`,
        `motion`, `score`. `dynmeans.plots.plot_score_map` draws it.
    metric : str
        Name of the score.
    """

    penalties: Penalties
    score: float
    trials: pd.DataFrame
    metric: str


def tune(
    batches: Sequence[npt.ArrayLike],
    truth: Sequence[Any],
    *,
    metric: str | Metric = "accuracy_global",
    method: str = "bayesian",
    n_trials: int = 64,
    ranges: Ranges | None = None,
    motion: str | None = None,
    n_jobs: int = 1,
    random_state: int = 0,
) -> TuningResult:
    """Find the penalties with which `DynamicMeans` scores best on a labeled stream.

    Parameters
    ----------
    batches : sequence of array-like of shape (n_points, n_features)
        The stream.
    truth : sequence of array-like of shape (n_points,)
        True labels, one array for each batch; -1 where nobody knows.
    metric : str or callable
        Name of a score in `dynmeans.metrics`, or a function of true and found labels; the
        higher, the better.
    method : {"bayesian", "grid"}
        A model of the score proposes where to look next, or all points of a grid are tried.
    n_trials : int
        Settings to try; of a grid at most so many.
    ranges : mapping of str to (float, float), optional
        Lowest and highest `new_penalty`, `max_gap` or `reach`. By default `new_penalty` is
        looked for between a thousandth of the variance of a batch and four times that variance,
        `max_gap` between 1.3 and 25, `reach` between 1 and 4.
    motion : {"still", "steady"}, optional
        Whether clusters keep a course; by default both are tried.
    n_jobs : int
        Processes; -1 is one for each core. The result does not depend on it.
    random_state : int
        Seed of the proposals and of the visiting orders. Every setting is run with the same
        three seeds, and the scores are averaged.

    Returns
    -------
    TuningResult

    Examples
    --------
    >>> import numpy as np
    >>> from dynmeans import tune
    >>> from dynmeans.datasets.moving_gaussians import moving_gaussians
    >>> stream = moving_gaussians(20, 3, noise="radial", rng=np.random.default_rng(0))
    >>> result = tune(stream.batches, stream.labels, n_trials=16)
    >>> result.score > 0.9, len(result.trials)
    (True, 16)
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}.")
    n_trials = checked_count("n_trials", n_trials)
    random_state = checked_count("random_state", random_state, at_least=0)
    score = _checked_metric(metric)
    checked, _ = take_batches(list(batches))
    spaces = search_ranges([batch.points for batch in checked], ranges)
    motions = search_motions(motion, n_trials)
    run = partial(_score, checked, truth, score, random_state)
    with Parallel(n_jobs=n_jobs) as parallel:
        tried = (
            _try_grid(run, spaces, motions, n_trials, parallel)
            if method == "grid"
            else _try_proposals(run, spaces, motions, n_trials, parallel, random_state)
        )
        frame = pd.DataFrame([{**setting, "score": found} for setting, found in tried])
    best = frame.loc[frame["score"].idxmax()]
    setting: Setting = {name: float(best[name]) for name in PARAMETERS}
    penalties = Penalties(**setting, motion=best["motion"])
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
    return TuningResult(penalties, float(best["score"]), frame, name)


def _score(
    batches: list[Batch],
    truth: Sequence[Any],
    metric: Metric,
    random_state: int,
    setting: Setting,
) -> float:
    """Return the mean score over a few visiting orders."""
    scores = []
    penalties, execution = Penalties(**setting), Execution(n_threads=1)
    for seed in np.random.SeedSequence(random_state).generate_state(N_RUNS):
        # Drawn as `DynamicMeans` draws it from this random_state.
        entropy = int(np.random.RandomState(seed).randint(2**63, dtype=np.int64))
        orders, elapsed = VisitingOrders(entropy, N_INIT), [1.0] * len(batches)
        steps = step_sequence(batches, penalties, orders, elapsed, execution)
        scores.append(metric(truth, [clustering.labels for _, clustering in steps]))
    return float(np.mean(scores))


def _try_grid(
    run: Callable[[Setting], float],
    ranges: Ranges,
    motions: Sequence[str],
    n_trials: int,
    parallel: Parallel,
) -> Iterator[tuple[Setting, float]]:
    values: dict[str, Sequence[Any]] = {
        "motion": motions,
        **grid_values(ranges, n_trials // len(motions)),
    }
    settings = [dict(zip(values, point, strict=True)) for point in product(*values.values())]
    yield from zip(settings, parallel(delayed(run)(s) for s in settings), strict=True)


def _try_proposals(
    run: Callable[[Setting], float],
    ranges: Ranges,
    motions: Sequence[str],
    n_trials: int,
    parallel: Parallel,
    random_state: int,
) -> Iterator[tuple[Setting, float]]:
    """Ask for a round of settings, score them side by side, tell the scores in order."""
    sampler = optuna.samplers.TPESampler(seed=random_state, n_startup_trials=_N_RANDOM)
    with _quiet_optuna():
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for start in range(0, n_trials, ROUND):
            asked = [study.ask() for _ in range(min(ROUND, n_trials - start))]
            settings = [_proposed(trial, ranges, motions) for trial in asked]
            scores = parallel(delayed(run)(setting) for setting in settings)
            for trial, setting, score in zip(asked, settings, scores, strict=True):
                study.tell(trial, score)
                _logger.info("score %.4f at %s", score, setting)
                yield setting, score


def _proposed(trial: optuna.Trial, ranges: Ranges, motions: Sequence[str]) -> Setting:
    numbers = {name: trial.suggest_float(name, *ends, log=True) for name, ends in ranges.items()}
    # A choice of one is no choice: the model of the score need not know of it.
    is_open = len(motions) > 1
    motion = trial.suggest_categorical("motion", motions) if is_open else motions[0]
    return {**numbers, "motion": motion}


@contextmanager
def _quiet_optuna() -> Iterator[None]:
    """Keep the optimizer from writing to the terminal of whoever calls."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _checked_metric(metric: object) -> Metric:
    if callable(metric):
        return metric
    if metric not in METRICS:
        raise ValueError(
            f"metric must be one of {', '.join(METRICS)} or a callable, got {metric!r}."
        )
    found: Metric = getattr(metrics, str(metric))
    return found
