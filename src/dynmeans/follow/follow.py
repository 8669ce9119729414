"""follow: one more batch of a stream; every face of this package uses it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dynmeans.algorithm.life_cycle import find_events
from dynmeans.engine import guard
from dynmeans.engine.batch import AnyBatch, Batch
from dynmeans.engine.checks import entropy_of_seed
from dynmeans.engine.device_input import to_numpy
from dynmeans.engine.execution import DEFAULT, Execution, get_execution
from dynmeans.engine.native import step_if_small
from dynmeans.engine.sequence import small_sequence, step_sequence
from dynmeans.families.evidence import Evidence
from dynmeans.follow.clusterers import method_text
from dynmeans.follow.curved_motion import check_motion, on_course, with_unseen
from dynmeans.follow.finder import finder_of
from dynmeans.follow.init_memory import (
    apply_motion_and_revival,
    map_batch,
    resolve_penalties,
    settle,
)
from dynmeans.follow.lifetimes import Lifetimes, add_batch_to_lifetimes, lifetimes_of_sequence
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import ModelConfig
from dynmeans.inputs.batch_times import BatchTime
from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import BoolArray, FloatArray, IntArray
from dynmeans.records.events import Event
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties, penalties_with_defaults
from dynmeans.records.state import Clustering, ClusterState
from dynmeans.records.step_record import StepRecord
from dynmeans.spaces.named import find_space
from dynmeans.spaces.raw import Raw
from dynmeans.spaces.space import Space


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What one batch did: the clusters before and after it, its clustering, and its points."""

    before: ClusterState
    elapsed: float
    clustering: Clustering
    after: ClusterState
    space: Space
    # The batch as points of `space`; None in steps that are kept, so that the batch is not.
    points: Any = None

    @property
    def events(self) -> list[Event]:
        """What happened to each cluster, found on access."""
        are_means = self.space.centers == "mean"
        return find_events(
            self.before, self.elapsed, self.clustering, self.after, are_means=are_means
        )

    def with_points(self, points: Any) -> "Step":
        """Return the same step with these points, or with None."""
        return Step(self.before, self.elapsed, self.clustering, self.after, self.space, points)

    def distances(self) -> FloatArray:
        """Return the distance of each row to the center of its cluster; NaN if it has none."""
        points, labels, known = self.points.points, self.clustering.labels, self.after
        assert len(points) == len(labels), "rows of noise have no points"
        if known.n_clusters == 0:
            return np.full(len(points), np.nan)
        away = points - known.centers[_rows_of(labels, known.ids)]
        distances = np.sqrt(np.einsum("ij,ij->i", away, away))
        return np.where(labels < 0, np.nan, distances)

    def record(self, when: BatchTime | None = None) -> StepRecord:
        """Return the record of the batch, in the units of the rows."""
        before, found, after = self.before, self.clustering, self.after
        rows = np.searchsorted(after.ids, found.ids)
        moves = None if after.velocities is None else after.velocities[rows]
        was_known = np.isin(found.ids, before.ids)
        ages = np.zeros(len(found.ids))
        known_rows = np.searchsorted(before.ids, found.ids[was_known])
        ages[was_known] = before.ages[known_rows] - 1.0 + self.elapsed
        return StepRecord(
            step=before.n_steps,
            time=after.time,
            labels=found.labels,
            ids=found.ids,
            counts=np.asarray(found.counts, dtype=np.float64),
            centers=self.space.to_rows(found.centers),
            weights=after.weights[rows],
            ages=ages,
            cost_trace=np.asarray(found.cost_trace),
            n_remembered=after.n_clusters,
            events=tuple(self.events),
            when=when,
            velocities=None
            if moves is None
            else self.space.velocities_to_rows(moves, found.centers),
        )


def _rows_of(labels: IntArray, ids: IntArray) -> IntArray:
    """Return the row of each label among the sorted ids; any row for a label of no cluster."""
    low, n_numbers = int(ids[0]), int(ids[-1] - ids[0]) + 1
    if n_numbers > 16 * len(labels):
        return np.minimum(np.searchsorted(ids, labels), len(ids) - 1)
    # Ids close together: a table is faster than bisection.
    table = np.zeros(n_numbers, dtype=np.int64)
    table[ids - low] = np.arange(len(ids))
    return table[np.maximum(labels - low, 0)]


class LazyStepResults(Sequence[Step]):
    """Steps that are made when they are looked at."""

    def __init__(
        self, before: ClusterState, kept: Any, elapsed: Sequence[float], space: Space
    ) -> None:
        self._before, self._kept, self._elapsed, self._space = before, kept, elapsed, space
        self.labels: list[IntArray] = kept.labels

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.labels)

    def __getitem__(self, number: Any) -> Any:
        """Return one step."""
        number = range(len(self.labels))[number]
        after, clustering = self._kept[number]
        before = self._kept[number - 1][0] if number else self._before
        return Step(before, self._elapsed[number], clustering, after, self._space)


def labels_of(steps: Sequence[Step]) -> list[IntArray]:
    """Return the labels of every step, without making the rest."""
    if isinstance(steps, LazyStepResults):
        return steps.labels
    return [step.clustering.labels for step in steps]


class Plan(NamedTuple):
    """What a model configuration comes to for a memory."""

    model_config: ModelConfig | None  # None where it must be made again after the next batch
    asked: Execution
    penalties: Penalties
    orders: VisitingOrders
    execution: Execution
    space: Space
    most_clusters: int  # up to here a small batch needs nothing but a step; 0: it needs more


def follow_if_small(memory: Memory, points: Any, elapsed: float) -> tuple[Memory, Step] | None:
    """Process a small batch in one call into C++; None if it needs more than a step."""
    plan, before = memory.plan, memory.clusters
    if plan is None or plan.most_clusters == 0 or elapsed < 1.0:
        return None
    stepped = step_if_small(points, None, before, plan.penalties, plan.orders, elapsed)
    if stepped is None or len(stepped[0].ids) > plan.most_clusters:
        return None
    after, clustering = stepped
    lifetimes = add_batch_to_lifetimes(memory.lifetimes, clustering, after)
    return memory.with_clusters(after, lifetimes), Step(
        before, elapsed, clustering, after, plan.space
    )


def follow(
    model_config: ModelConfig,
    memory: Memory,
    batch: AnyBatch,
    elapsed: float = 1.0,
    execution: Execution = DEFAULT,
) -> tuple[Memory, Step]:
    """Process one checked batch, `elapsed` steps after the last; nothing is changed in place."""
    plan: Plan | None = memory.plan
    if plan is None or plan.model_config is not model_config or plan.asked is not execution:
        if not memory.is_initialized:
            memory = settle(model_config, memory, [batch], [elapsed])
        _check_method(model_config, memory)
        plan = make_plan(model_config, memory, execution)
    elif type(batch) is Batch and batch.weights is None:
        quick: tuple[Memory, Step] | None = follow_if_small(memory, batch.points, elapsed)
        if quick is not None:
            return quick[0], quick[1].with_points(batch)
    rows, known = leave_out_noise(batch, plan.space)
    points = map_batch(rows, plan.space)
    before = memory.clusters
    ready = on_course(plan.space, before, plan.penalties, elapsed)
    after, clustering = finder_of(model_config.method).find(points, ready, plan, elapsed)
    after = with_unseen(before, ready, clustering, after)
    evidence = memory.evidence
    if model_config.families:
        evidence = _with_batch(evidence, points, clustering, elapsed)
    kept = Memory(
        after,
        memory.space,
        plan.penalties if plan.model_config is model_config else memory.penalties,
        memory.seed,
        memory.n_features,
        memory.feature_names,
        add_batch_to_lifetimes(memory.lifetimes, clustering, after),
        evidence,
        plan,
        memory.method,
    )
    if known is not None:
        labels = np.full(batch.n_points, -1)
        labels[known] = clustering.labels
        clustering = replace(clustering, labels=labels)
    return kept, Step(before, elapsed, clustering, after, plan.space, points)


def leave_out_noise(batch: AnyBatch, space: Space) -> tuple[AnyBatch, BoolArray | None]:
    """Return the rows that are not noise, and where they are; None for everywhere."""
    if not space.has_noise or not isinstance(batch, Batch):
        return batch, None
    known: BoolArray = np.any(batch.points, axis=1)
    return (batch, None) if known.all() else (batch.take_rows(known), known)


def follow_all(
    model_config: ModelConfig,
    memory: Memory,
    batches: Sequence[AnyBatch],
    elapsed: Sequence[float],
    execution: Execution = DEFAULT,
) -> tuple[Memory, Sequence[Step]]:
    """Process batches one after the other, in one crossing where they are small; the same bits."""
    steps: list[Step] = []
    is_started = not memory.is_initialized or memory.clusters.n_steps > 0
    is_started |= memory.space.has_noise
    if is_started or memory.space.is_curved or not finder_of(model_config.method).is_compiled:
        for batch, gap in zip(batches, elapsed, strict=True):
            memory, step = follow(model_config, memory, batch, gap, execution)
            steps.append(step.with_points(None))
        return memory, steps
    plan, before = make_plan(model_config, memory, execution), memory.clusters
    points = batches
    if not isinstance(plan.space, Raw):
        points = [map_batch(batch, plan.space) for batch in batches]
    kept = None
    if not model_config.families:
        kept = small_sequence(points, plan.penalties, plan.orders, elapsed, plan.execution)
    if kept is not None and kept.most_clusters < guard.MANY_CLUSTERS:
        after = kept[-1][0]
        lifetimes = Lifetimes(kept.lifetimes, [], 0, 0)
        done = replace(
            memory, clusters=after, penalties=plan.penalties, lifetimes=lifetimes, plan=plan
        )
        return done, LazyStepResults(before, kept, elapsed, plan.space)
    evidence = memory.evidence
    found = step_sequence(points, plan.penalties, plan.orders, elapsed, plan.execution)
    for batch, gap, (after, clustering) in zip(points, elapsed, found, strict=True):
        steps.append(Step(before, gap, clustering, after, plan.space))
        if model_config.families:
            evidence = _with_batch(evidence, batch, clustering, gap)
        before = after
    lifetimes = lifetimes_of_sequence([step.clustering for step in steps], before)
    kept_memory = replace(memory, clusters=before, penalties=plan.penalties, lifetimes=lifetimes)
    return replace(kept_memory, evidence=evidence, plan=plan), steps


def make_plan(model_config: ModelConfig, memory: Memory, execution: Execution = DEFAULT) -> Plan:
    """Derive the settings of a model configuration for a memory, or raise an error."""
    _check_agreement(model_config, memory)
    penalties = resolve_penalties(model_config, memory)
    if penalties is None and memory.penalties is not None:
        penalties = apply_motion_and_revival(model_config, memory, memory.penalties)
    if penalties is None:  # No points yet: any penalties let time pass.
        penalties = penalties_with_defaults(1.0)
    check_motion(memory.space, penalties)
    running = get_execution(
        execution.backend, execution.acceleration, execution.n_threads, model_config.max_clusters
    )
    is_raw = isinstance(memory.space_or_raw, Raw)
    is_quick = (
        memory.is_initialized and is_raw and running.is_compiled and not model_config.families
    )
    is_quick &= finder_of(model_config.method).is_compiled and not penalties.is_on_sphere
    most_clusters = min(guard.MANY_CLUSTERS - 1, running.max_clusters or guard.MANY_CLUSTERS)
    return Plan(
        model_config if memory.is_initialized else None,
        execution,
        penalties,
        VisitingOrders(
            memory.seed, model_config.n_init, penalties.usable_search(model_config.search)
        ),
        running,
        memory.space_or_raw,
        most_clusters if is_quick else 0,
    )


def _check_agreement(model_config: ModelConfig, memory: Memory) -> None:
    """Refuse what of a model configuration can no longer be done for this memory."""
    asked, learned = find_space(model_config.space), memory.space
    if not asked.is_compatible(learned):
        rule = f"must be what the memory was made with, {learned.name!r}"
        raise InputError("space", rule, got=model_config.space)
    seed, chosen = model_config.random_state, memory.penalties
    if isinstance(seed, int) and entropy_of_seed(seed) != memory.seed:
        rule = "must be what the memory was made with"
        raise InputError("random_state", rule, got=seed, hint="Leave it out to continue.")
    if not model_config.is_open or chosen is None:
        return
    for name in ("max_gap", "reach"):
        value = getattr(model_config.penalties, name)
        if value is not None and value != getattr(chosen, name):
            rule = f"must be {getattr(chosen, name):g}, as the penalties were chosen with"
            hint = "Give {new_penalty} with it to continue with other penalties."
            raise InputError(name, rule, got=value, hint=hint)


def _check_method(model_config: ModelConfig, memory: Memory) -> None:
    if method_text(model_config.method) != memory.method:
        rule = "must be what the memory was made with, {!r}"
        raise InputError("method", rule, memory.method, got=model_config.method)


def _with_batch(
    evidence: Evidence | None, batch: Any, clustering: Clustering, elapsed: float
) -> Evidence:
    points = batch.to_numpy("families=True").points
    more = Evidence() if evidence is None else evidence.copy()
    more.add(points, to_numpy(clustering.labels), elapsed)
    return more
