"""Tuning with labels: the penalties that score best on a stream whose truth is known."""

import logging
from collections.abc import Callable, Iterator, Sequence
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
from dynmeans.engine.batch import Batch, take_batches
from dynmeans.engine.execution import Execution
from dynmeans.follow.begin import begin, into_space
from dynmeans.follow.follow import follow_all, labels_of
from dynmeans.follow.recipe import Recipe, recipe_of
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import checked_count
from dynmeans.parameters.search_space import (
    PARAMETERS,
    Ranges,
    search_motions,
    search_ranges,
)
from dynmeans.records.arrays import IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.spaces.named import find_space

Setting = dict[str, Any]
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
_N_PROBES = 4  # best settings of one motion that the other is tried at

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
    n_trials: int = 64,
    ranges: Ranges | None = None,
    n_jobs: int = 1,
    recipe: Recipe | None = None,
    **parameters: Any,
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
    n_trials : int
        Settings to try; a model of the score proposes where to look next.
    ranges : mapping of str to (float, float), optional
        Lowest and highest `new_penalty`, `max_gap` or `reach`. By default `new_penalty` is
        looked for between a thousandth of the variance of a batch and four times that variance,
        `max_gap` between 1.3 and 25, `reach` between 1 and 4.
    n_jobs : int
        Processes; -1 is one for each core. The result does not depend on it.
    recipe : Recipe, optional
        What else the stream is followed by, in every trial. A space is learned once, on the first
        batches. Without a `motion` half of the trials are still, the best few of them are tried
        with steady motion, and the rest goes to the motion that leads. `random_state`, 0 by
        default, is the seed of the proposals and of the visiting orders: every setting is run with
        the same three seeds, and the scores are averaged.
    **parameters
        The fields of a `Recipe`, in place of one.

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
    n_trials = checked_count("n_trials", n_trials)
    score = _checked_metric(metric)
    checked, _ = take_batches(list(batches))
    base = _checked(recipe_of(recipe, **parameters), checked)
    random_state = int(base.random_state)
    points = [into_space(batch, find_space(base.space)).points for batch in checked]
    spaces = search_ranges(points, ranges)
    motions = search_motions(base.motion, n_trials)
    run = partial(_score, checked, truth, score, base)
    with Parallel(n_jobs=n_jobs) as parallel:
        tried = _try_proposals(run, spaces, motions, n_trials, parallel, random_state)
        frame = pd.DataFrame([{**setting, "score": found} for setting, found in tried])
    best = frame.loc[frame["score"].idxmax()]
    setting: Setting = {name: float(best[name]) for name in PARAMETERS}
    penalties = _penalties(base, {**setting, "motion": best["motion"]}, checked[0])
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
    return TuningResult(penalties, float(best["score"]), frame, name)


def _score(
    batches: list[Batch],
    truth: Sequence[Any],
    metric: Metric,
    base: Recipe,
    setting: Setting,
) -> float:
    """Return the mean score over a few visiting orders."""
    scores, execution = [], Execution(n_threads=1)
    for seed in np.random.SeedSequence(base.random_state).generate_state(N_RUNS):
        recipe = replace(base, **setting, random_state=int(seed))
        memory = begin(recipe, batches[:1])
        _, steps = follow_all(recipe, memory, batches, [1.0] * len(batches), execution)
        scores.append(metric(truth, labels_of(steps)))
    return float(np.mean(scores))


def _checked(recipe: Recipe, batches: list[Batch]) -> Recipe:
    """Refuse, by name, what is looked for or changes no score; learn the space."""
    looked_for = ("penalties", "new_penalty", "max_gap", "reach", "revival_penalty", "drift")
    recipe.refuse("tune", (*looked_for, "n_clusters"), "It is what tune looks for.")
    recipe.refuse("tune", ("method", "families", "min_cluster_size", "min_life", "max_clusters"))
    if recipe.moving is not None and recipe.motion != "steady":
        raise InputError("moving", "needs {motion='steady'}", got=recipe.moving)
    seed = recipe.random_state
    if seed is not None and not isinstance(seed, int):
        raise InputError("random_state", "must be an integer in tune", got=seed)
    seeded = replace(recipe, random_state=0 if seed is None else seed)
    return replace(seeded, space=begin(replace(seeded, new_penalty=1.0), batches).space)


def _penalties(base: Recipe, setting: Setting, batch: Batch) -> Penalties:
    found = begin(replace(base, **setting), [batch]).penalties
    assert found is not None, "given"
    return found


def _try_proposals(
    run: Callable[[Setting], float],
    ranges: Ranges,
    motions: Sequence[str],
    n_trials: int,
    parallel: Parallel,
    random_state: int,
) -> Iterator[tuple[Setting, float]]:
    """Try settings of the first motion, the best of them with the other, then what leads.

    A search over both motions at once would spend half of all trials on the wrong one.
    """
    with _quiet_optuna():
        first, *others = (_Proposals(run, ranges, m, parallel, random_state) for m in motions)
        yield from first.look(n_trials // 2 if others else n_trials)
        for other in others:
            best = sorted(first.tried, key=lambda pair: -pair[1])
            n_probes = min(_N_PROBES, n_trials - len(first.tried))
            yield from other.probe([setting for setting, _ in best[:n_probes]])
            leader = max((first, other), key=lambda one: one.best)
            yield from leader.look(n_trials - len(first.tried) - len(other.tried))


class _Proposals:
    """A model of the score at one motion, and what was tried."""

    def __init__(
        self,
        run: Callable[[Setting], float],
        ranges: Ranges,
        motion: str,
        parallel: Parallel,
        random_state: int,
    ) -> None:
        self._run, self._motion, self._parallel = run, motion, parallel
        self._spaces: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.FloatDistribution(*ends, log=True)
            for name, ends in ranges.items()
        }
        sampler = optuna.samplers.TPESampler(seed=random_state, n_startup_trials=_N_RANDOM)
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        self.tried: list[tuple[Setting, float]] = []

    @property
    def best(self) -> float:
        """The highest score so far."""
        return max((score for _, score in self.tried), default=-np.inf)

    def look(self, n_trials: int) -> Iterator[tuple[Setting, float]]:
        """Ask for a round of settings, score them side by side, tell the scores in order."""
        for start in range(0, n_trials, ROUND):
            asked = [self._study.ask(self._spaces) for _ in range(min(ROUND, n_trials - start))]
            settings = [{**trial.params, "motion": self._motion} for trial in asked]
            scores = self._parallel(delayed(self._run)(setting) for setting in settings)
            for trial, setting, score in zip(asked, settings, scores, strict=True):
                self._study.tell(trial, score)
                self.tried.append((setting, score))
                _logger.info("score %.4f at %s", score, setting)
                yield setting, score

    def probe(self, settings: Sequence[Setting]) -> Iterator[tuple[Setting, float]]:
        """Score settings that did well elsewhere."""
        for setting in settings:
            self._study.enqueue_trial({name: setting[name] for name in self._spaces})
        yield from self.look(len(settings))


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
