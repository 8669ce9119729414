"""Which parameters are tried: lambda first, then gaps and reach, then lambda once more."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from dynmeans.backends import native
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import DEFAULT_MAX_GAP, DEFAULT_REACH, Penalties
from dynmeans.records.suggestion import Candidate
from dynmeans.suggestion.description_length import describe
from dynmeans.suggestion.tracks import Points

MAX_GAPS = (2.0, 3.5, 6.8, 14.0)
REACHES = (1.01, 1.2, 1.6)
FIRST_MAX_GAP, FIRST_REACH = 4.0, 1.2
# A lambda at which nearly every batch is one cluster, in units of the variance of a batch.
_HIGHEST = 2.8
_PATIENCE = 3  # halvings of lambda that bring nothing before the search turns back
_FINE = math.sqrt(2.0)
_LEAST_MAX_GAP = 1.01
# Nats by which a description is longer for each squared doubling away from these.
_PRIOR_NATS, _PRIOR_MAX_GAP, _PRIOR_REACH = 3.0, 8.0, 1.3

Progress = Callable[[float, float], None]


@dataclass(frozen=True, slots=True)
class Setting:
    """One choice of parameters, with gaps and reach counted in batches."""

    new_penalty: float
    max_gap: float
    reach: float


@dataclass(slots=True, eq=False)
class Trials:
    """Runs over the batches, each once, and what they gave."""

    points: Points
    batches: list[BatchArray]
    weights: list[FloatArray | None]
    elapsed: list[float]
    n_init: int
    entropy: int
    step_time: float  # usual time between two batches
    max_gap: float | None = None  # kept, where it is given
    reach: float | None = None
    found: dict[Setting, tuple[float, Candidate]] = field(default_factory=dict)

    def length(self, setting: Setting) -> float:
        """Nats that describe the stream and the setting."""
        if setting not in self.found:
            self.found[setting] = self._run(setting)
        return self.found[setting][0]

    def _run(self, setting: Setting) -> tuple[float, Candidate]:
        penalties = self.to_penalties(setting)
        labels, n_clusters, n_identities = self._labels(penalties)
        nats = describe(self.points, labels).length
        n_points = sum(float(weight.sum()) for weight in self.points.weights)
        bits = nats / math.log(2.0) / n_points
        return nats + _surprise(setting), Candidate(penalties, bits, n_clusters, n_identities)

    def _labels(self, penalties: Penalties) -> tuple[list[IntArray], float, int]:
        """Labels of the batches that have points, clusters per batch, identities in all."""
        results = native.sequence(
            self.batches,
            penalties,
            self.elapsed,
            self.weights,
            "paper",
            entropy=self.entropy,
            n_init=self.n_init,
            n_threads=1,
        )
        labels, n_seen = [], 0
        for weight, (_, clustering) in zip(self.weights, results, strict=True):
            kept = clustering.labels if weight is None else clustering.labels[weight > 0]
            n_seen += len(clustering.ids)
            if len(kept):
                labels.append(kept)
        return labels, n_seen / len(labels), results[-1][0].next_id

    def to_penalties(self, setting: Setting) -> Penalties:
        """Turn gaps and moves per batch into those per step of time."""
        found = Penalties(setting.new_penalty, max_gap=setting.max_gap, reach=setting.reach)
        if self.step_time != 1.0:
            found = Penalties(
                setting.new_penalty,
                revival_penalty=found.revival_penalty / self.step_time,
                drift=found.drift / self.step_time,
            )
        if self.max_gap is None and self.reach is None:
            return found
        max_gap = max(found.max_gap, _LEAST_MAX_GAP) if self.max_gap is None else self.max_gap
        reach = max(found.reach, 1.0) if self.reach is None else self.reach
        return Penalties(setting.new_penalty, max_gap=max_gap, reach=reach)


def search(trials: Trials) -> Setting:
    """Return the best setting met on the way."""
    if len(trials.points.batches) == 1:
        start = Setting(_HIGHEST * trials.points.variance, DEFAULT_MAX_GAP, DEFAULT_REACH)
        return _climb(trials, _halve(trials, start))
    start = Setting(_HIGHEST * trials.points.variance, FIRST_MAX_GAP, FIRST_REACH)
    best = _climb(trials, _halve(trials, start))
    max_gaps = MAX_GAPS if trials.max_gap is None else (FIRST_MAX_GAP,)
    reaches = REACHES if trials.reach is None else (FIRST_REACH,)
    neighbours = [
        Setting(best.new_penalty, max_gap, reach) for max_gap in max_gaps for reach in reaches
    ]
    best = min([best, *neighbours], key=trials.length)
    return _climb(trials, best)


def _halve(trials: Trials, start: Setting) -> Setting:
    """Halve lambda until it has long brought nothing; return the best."""
    best, here, n_idle = start, start, 0
    while n_idle < _PATIENCE:
        here = Setting(here.new_penalty / 2.0, here.max_gap, here.reach)
        is_better = trials.length(here) < trials.length(best)
        n_idle = 0 if is_better else n_idle + 1
        best = here if is_better else best
    return best


def _climb(trials: Trials, start: Setting) -> Setting:
    """Move lambda by small factors as long as that brings something."""
    best = start
    for factor in (_FINE, 1.0 / _FINE):
        while True:
            there = Setting(best.new_penalty * factor, best.max_gap, best.reach)
            if trials.length(there) >= trials.length(best):
                break
            best = there
    return best


def _surprise(setting: Setting) -> float:
    """Nats for an unusual choice of gaps and reach."""
    gap = math.log2(setting.max_gap / _PRIOR_MAX_GAP)
    reach = math.log2(setting.reach / _PRIOR_REACH)
    return _PRIOR_NATS * (gap**2 + reach**2)
