"""Runs over the batches with one choice of parameters after the other, and what each gave."""

import logging
import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dynmeans.algorithm.motion import velocity_mask
from dynmeans.engine.batch import Batch
from dynmeans.engine.sequence import label_sequence
from dynmeans.parameters.description_length import describe
from dynmeans.parameters.tracks import Points, repeated_per_batch, share_seen
from dynmeans.records.arrays import IntArray
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import MOTIONS, Penalties
from dynmeans.records.suggestion import Candidate

_LOG = logging.getLogger(__name__)

MAX_GAPS = (2.0, 3.5, 6.8, 14.0, 28.0, math.inf)  # in batches
REACHES = (1.01, 1.2, 1.6, 2.2, 3.0)
# A lambda at which nearly every batch is one cluster, in units of the variance of a batch.
_HIGHEST = 2.8
# Nats by which a description is longer for each squared doubling away from these: a gentle nudge.
_PRIOR_NATS, _PRIOR_MAX_GAP, _PRIOR_REACH = 3.0, 6.0, 1.2
_MIN_MAX_GAP = 1.01
_NEVER_FORGETTING = 56.0  # batches that an infinite gap counts as: one more doubling
# Batches that an identity must live on average; with fewer batches, less.
_MIN_LIFETIME = 3.0


@dataclass(frozen=True, slots=True)
class Setting:
    """One choice of parameters: half-octaves of lambda below the highest, and list entries."""

    level: float
    gap: int
    reach: int
    motion: int = 0


@dataclass(frozen=True, eq=False)
class TrialInputs:
    """What every run is given."""

    # batches, elapsed: as for `label_sequence`.
    batches: list[Batch]
    elapsed: list[float]
    orders: VisitingOrders  # Those of each batch
    # max_gap, reach, motion: kept where they are given; chosen otherwise.
    max_gap: float | None = None
    reach: float | None = None
    motion: str | None = None
    moving_features: tuple[int, ...] | None = None  # Features that keep a course in steady motion
    batch_noun: str = "batch"  # What a batch is called in sentences

    @cached_property
    def step_time(self) -> float:
        """Usual time between two batches."""
        return float(np.median(self.elapsed[1:])) if len(self.elapsed) > 1 else 1.0


@dataclass(slots=True, eq=False)
class Trials:
    """Tries each setting once, and keeps what it gave."""

    points: Points
    feed: TrialInputs
    candidates: dict[tuple[Setting, int], Candidate] = field(default_factory=dict)
    n_pooled: int = 1
    _labels: dict[tuple[Setting, int, int], tuple[IntArray, int, int]] = field(default_factory=dict)
    _n_repeated: dict[Setting, float] = field(default_factory=dict)
    _pooled: Points | None = None
    _candidates: dict[int, dict[tuple[Setting, int], Candidate]] = field(default_factory=dict)

    def length(self, setting: Setting, n_init: int | None = None) -> float:
        """Nats that describe the stream and the setting; infinite if nothing is followed."""
        if not self.has_lasting_clusters(setting, n_init):
            return math.inf
        bits = self.candidate(setting, n_init).description_bits
        return bits * self.points.weight * math.log(2.0) + _surprise(setting)

    def has_lasting_clusters(self, setting: Setting, n_init: int | None = None) -> bool:
        """Whether identities outlive a batch: a stream of names used once follows nothing.

        Clusters that are seldom seen live long only if they are remembered, so that counts too.
        """
        n_batches = self.points.n_batches
        least = min(_MIN_LIFETIME, 1.0 + (n_batches - 1) / 3)
        for gap in (setting.gap, len(MAX_GAPS) - 1):
            found = self.candidate(replace(setting, gap=gap), n_init)
            if found.n_clusters_per_batch * n_batches >= least * found.n_clusters_total:
                return True
        return False

    def candidate(self, setting: Setting, n_init: int | None = None) -> Candidate:
        """Run over the batches, unless that was done before."""
        key = setting, self.feed.orders.n_init if n_init is None else n_init
        if key not in self.candidates:
            self.candidates[key] = self._run(*key)
        return self.candidates[key]

    def labels(
        self, setting: Setting, n_init: int | None = None, seed: int = 0
    ) -> tuple[IntArray, int, int]:
        """Labels of all points, clusters seen in all batches, and identities."""
        feed = self.feed
        orders = feed.orders if n_init is None else replace(feed.orders, n_init=n_init)
        if seed:
            orders = replace(orders, seed=(orders.seed + seed) % 2**64)
        key = setting, orders.n_init, seed
        if key not in self._labels:
            penalties = self._penalties(setting)
            _LOG.info("choice %d: %s", len(self._labels) + 1, penalties)
            self._labels[key] = label_sequence(feed.batches, penalties, orders, feed.elapsed)
        return self._labels[key]

    def pool(self, n_batches: int) -> None:
        """Describe this many batches as one from now on."""
        self._candidates[self.n_pooled] = self.candidates
        self.n_pooled, self._pooled = n_batches, self.points.pool_tracks(n_batches)
        self.candidates = self._candidates.get(n_batches, {})

    def share_seen(self, setting: Setting) -> float:
        """Pooled batches that saw a cluster, over all from its first to its last."""
        return share_seen(self.labels(setting)[0], (self._pooled or self.points).starts)

    def n_repeated(self, setting: Setting) -> float:
        """Clusters that a batch holds, on average, without those of one or two points in all."""
        if setting not in self._n_repeated:
            labels, _, _ = self.labels(setting)
            self._n_repeated[setting] = repeated_per_batch(labels, self.points.starts)
        return self._n_repeated[setting]

    def _run(self, setting: Setting, n_init: int) -> Candidate:
        penalties, points = self._penalties(setting), self._pooled or self.points
        labels, n_seen, n_clusters_total = self.labels(setting, n_init)
        moving_features = velocity_mask(penalties, self.points.n_features)
        return Candidate(
            penalties,
            description_bits=describe(points, labels, moving_features).length
            / math.log(2.0)
            / points.weight,
            n_clusters_per_batch=n_seen / self.points.n_batches,
            n_clusters_total=n_clusters_total,
        )

    def _penalties(self, setting: Setting) -> Penalties:
        motion = MOTIONS[setting.motion]
        moving_features = self.feed.moving_features if motion == "constant_velocity" else None
        return self._still_penalties(setting).with_motion(motion, moving_features)

    def _still_penalties(self, setting: Setting) -> Penalties:
        """Turn gaps and moves per batch into those per step of time."""
        new_penalty = _HIGHEST * self.points.variance * 2.0 ** (-setting.level / 2)
        max_gap, reach = MAX_GAPS[setting.gap], REACHES[setting.reach]
        found = Penalties(new_penalty, max_gap=max_gap, reach=reach)
        feed = self.feed
        if feed.step_time != 1.0:
            found = Penalties(
                new_penalty,
                revival_penalty=found.revival_penalty / feed.step_time,
                drift=found.drift / feed.step_time,
            )
        if feed.max_gap is None and feed.reach is None:
            return found
        max_gap = max(found.max_gap, _MIN_MAX_GAP) if feed.max_gap is None else feed.max_gap
        reach = max(found.reach, 1.0) if feed.reach is None else feed.reach
        return Penalties(new_penalty, max_gap=max_gap, reach=reach)


def level_of_penalty(new_penalty: float, variance: float) -> float:
    """Return the half-octaves at which lambda has this value."""
    return -2.0 * math.log2(new_penalty / (_HIGHEST * variance))


def _surprise(setting: Setting) -> float:
    """Nats for an unusual choice of gaps and reach."""
    gap = math.log2(min(MAX_GAPS[setting.gap], _NEVER_FORGETTING) / _PRIOR_MAX_GAP)
    reach = math.log2(REACHES[setting.reach] / _PRIOR_REACH)
    return _PRIOR_NATS * (gap**2 + reach**2)
