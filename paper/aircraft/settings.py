"""Parameters of the three methods: by a recipe, from the data alone, or from labels kept apart."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dynmeans.engine.blas import one_thread
from dynmeans.estimators.ddp_mixture import DDPMixture
from dynmeans.estimators.tuning import tune
from dynmeans.metrics.accuracy import accuracy_global
from dynmeans.parameters.selection import suggest
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import DEFAULT_MOTION, Penalties
from paper.aircraft.config import (
    N_SAMPLES,
    SUGGESTED,
    TUNED,
    AircraftConfig,
)
from paper.aircraft.data import AircraftData

Setting = dict[str, Any]

_REFERENCE_HOURS = 2.0  # the window that the recipe's reach is for
_PENALTY_RANGE = (0.05, 3.0)  # of the total variance
_GAP_DAYS = (0.5, 14.0)
_REACH_RANGE = (1.0005, 1.3)
_SUGGEST_DAYS = 7
# Of lambda / n_features; 1/4 is where lambda is the square of twice a cluster's radius.
_NOISE_SHARES = (0.06, 0.12, 0.25, 0.5)
_CONCENTRATIONS = (0.01, 1.0)
_USUAL_NOISE, _MOTION = 0.25, 0.01


def settings_for(
    config: AircraftConfig, data: AircraftData, span: str, feature: str, hours: float, origin: str
) -> dict[str, Setting] | None:
    """Return the setting of each method, or None where there is none of that origin.

    Flows stay where they are, as clusters do in the paper: no course is looked for. DP-Means sees
    all flights at once and takes lambda alone. The mixture's noise follows from
    lambda unless it is tuned. Tuning takes the labels kept apart of the same span, for the slow
    mixture those of the first: a week, where there is more.
    """
    if origin == TUNED:
        has_labels = (data.tuning >= 0).any()
        return _tuned(config, data, span, feature, hours) if has_labels else None
    choose = _suggested if origin == SUGGESTED else _recipe
    penalties = choose(config, data, feature, hours)
    return _of_penalties(config, data, feature, penalties)


def mixture(
    setting: Setting, data_mean: FloatArray, seed: int, carried_sample: Any = "best"
) -> DDPMixture:
    """Return the Gibbs sampler of a setting: 50 samples, one for each sweep, as published."""
    return DDPMixture(
        "gibbs",
        concentration=setting["concentration"],
        survival=setting["survival"],
        noise_variance=setting["noise_variance"],
        motion_variance=setting["motion_variance"],
        prior_variance=setting["prior_variance"],
        prior_mean=data_mean,
        n_samples=N_SAMPLES,
        burn_in=0,
        thin=1,
        carried_sample=carried_sample,
        random_state=seed,
    )


def _recipe(config: AircraftConfig, data: AircraftData, feature: str, hours: float) -> Penalties:
    return Penalties(
        config.penalty_share * data.variances[feature],
        max_gap=max(config.memory_days * 24 / hours, 1.001),
        reach=1 + (config.reach - 1) * hours / _REFERENCE_HOURS,
    )


def _suggested(config: AircraftConfig, data: AircraftData, feature: str, hours: float) -> Penalties:
    return in_windows(suggested_by_day(config, data, feature), hours)


def suggested_by_day(
    config: AircraftConfig, data: AircraftData, feature: str, *, is_memory_stated: bool = False
) -> Penalties:
    """Ask the first days, day by day (decision 0405); the memory may be stated as those days."""
    days = data.windows(next(reversed(data.spans)), 24.0)
    first = days[: max(1, min(_SUGGEST_DAYS, len(days) // 2))]
    points = _leading_components(data.features[feature], np.concatenate(first), config.n_components)
    memory = float(len(first)) if is_memory_stated else None
    batches = [points[rows] for rows in first]
    return suggest(batches, motion=DEFAULT_MOTION, max_gap=memory).penalties


def in_windows(by_day: Penalties, hours: float) -> Penalties:
    """Turn gap and reach of days into those of windows of so many hours."""
    return Penalties(
        by_day.new_penalty,
        max_gap=max(by_day.max_gap * 24 / hours, 1.001),
        reach=1 + (by_day.reach - 1) * hours / 24,
    )


@one_thread()
def _leading_components(points: FloatArray, rows: IntArray, n_components: int) -> FloatArray:
    """Turn points to the principal axes of some rows, and keep so many: distances stay."""
    if points.shape[1] <= n_components:
        return points
    early = points[rows] - points[rows].mean(axis=0)
    axes = np.linalg.eigh(early.T @ early)[1][:, ::-1]
    return np.asarray((points - points[rows].mean(axis=0)) @ axes[:, :n_components])


def _tuned(
    config: AircraftConfig, data: AircraftData, span: str, feature: str, hours: float
) -> dict[str, Setting]:
    points, windows = data.features[feature], data.windows(span, hours)
    variance = data.variances[feature]
    lambdas = (_PENALTY_RANGE[0] * variance, _PENALTY_RANGE[1] * variance)
    gaps = (max(_GAP_DAYS[0] * 24 / hours, 1.1), _GAP_DAYS[1] * 24 / hours)
    weights = [data.confidences[rows] for rows in windows]

    def score(true: Sequence[Any], found: Sequence[IntArray]) -> float:
        return accuracy_global(true, found, weights)

    best = tune(
        [points[rows] for rows in windows],
        [data.tuning[rows] for rows in windows],
        metric=score,
        n_trials=config.tuning_trials,
        ranges={"new_penalty": lambdas, "max_gap": gaps, "reach": _REACH_RANGE},
        motion=DEFAULT_MOTION,
        search="paper",
        random_state=config.seed,
    ).penalties
    alone = _tuned_dp_means(config, data, span, feature, lambdas)
    start = {**_of_penalties(config, data, feature, best), "dp_means": {"new_penalty": alone}}
    return {**start, "gibbs": _tuned_mixture(config, data, feature, hours, best)}


def _tuned_dp_means(
    config: AircraftConfig,
    data: AircraftData,
    span: str,
    feature: str,
    lambdas: tuple[float, float],
) -> float:
    """Return the lambda that scores best with all flights of the span in one batch."""
    rows = np.concatenate(data.windows(span, 24.0))
    weights = [data.confidences[rows]]

    def score(true: Sequence[Any], found: Sequence[IntArray]) -> float:
        return accuracy_global(true, found, weights)

    return tune(
        [data.features[feature][rows]],
        [data.tuning[rows]],
        metric=score,
        n_trials=max(8, config.tuning_trials // 4),
        ranges={"new_penalty": lambdas},
        motion=DEFAULT_MOTION,
        search="paper",
        random_state=config.seed,
    ).penalties.new_penalty


def _tuned_mixture(
    config: AircraftConfig,
    data: AircraftData,
    feature: str,
    hours: float,
    penalties: Penalties,
) -> Setting:
    windows = data.windows(next(iter(data.spans)), hours)
    points, mean = data.features[feature], data.features[feature].mean(axis=0)
    true = [data.tuning[rows] for rows in windows]
    weights = [data.confidences[rows] for rows in windows]
    scores = []
    candidates = list(_mixtures(data, feature, penalties))
    for setting in candidates:
        labels, _ = mixture(setting, mean, config.seed).fit_sequence([points[r] for r in windows])
        scores.append(accuracy_global(true, labels, weights))
    return candidates[int(np.argmax(scores))]


def _mixtures(data: AircraftData, feature: str, penalties: Penalties) -> Iterator[Setting]:
    for noise in _NOISE_SHARES:
        for concentration in _CONCENTRATIONS:
            yield _mixture_setting(data, feature, penalties, noise, concentration)


def _mixture_setting(
    data: AircraftData,
    feature: str,
    penalties: Penalties,
    noise: float = _USUAL_NOISE,
    concentration: float = 1.0,
) -> Setting:
    n_features = data.features[feature].shape[1]
    noise_variance = noise * penalties.new_penalty / n_features
    return {
        "concentration": concentration,
        "survival": float(np.clip(1 - 1 / penalties.max_gap, 0.05, 0.999)),
        "noise_variance": noise_variance,
        "motion_variance": _MOTION * noise_variance,
        "prior_variance": data.variances[feature] / n_features,
    }


def _of_penalties(
    config: AircraftConfig, data: AircraftData, feature: str, penalties: Penalties
) -> dict[str, Setting]:
    return {
        "dynamic_means": {
            "new_penalty": penalties.new_penalty,
            "max_gap": penalties.max_gap,
            "reach": penalties.reach,
        },
        "dp_means": {"new_penalty": penalties.new_penalty},
        "gibbs": _mixture_setting(data, feature, penalties),
    }


SETTING_NAMES = (
    *("new_penalty", "max_gap", "reach"),
    *("concentration", "survival", "noise_variance", "motion_variance", "prior_variance"),
)
