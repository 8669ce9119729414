"""Stepper: takes batches in one after the other and commits them in groups."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dynmeans.algorithm.life_cycle import find_events
from dynmeans.engine.batch import take_batch
from dynmeans.engine.checks import checked_elapsed
from dynmeans.engine.execution import Execution
from dynmeans.engine.step import step_batch
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.history import History, StepRecord
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.state import ClusterState
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.batch import Batch
from dynmeans.runs.reading.sampling import Sample, choose_rows
from dynmeans.runs.reading.scaling import Scaling
from dynmeans.runs.store.commit import Commit, StoredBatch
from dynmeans.runs.store.label_parts import label_rows
from dynmeans.runs.store.store import Store

# A group of batches is committed before its labels take more memory than this many rows.
MAX_GROUP_ROWS = 500_000


class Stepper:
    """The part of a run that holds its state in memory between batches."""

    def __init__(
        self, store: Store, config: RunConfig, state: ClusterState, scaling: Scaling | None
    ) -> None:
        self.scaling = scaling
        self._store = store
        self._config = config
        self._state = state
        # Drawn as the estimators draw it: the same seed gives the same identities there and here.
        random = np.random.RandomState(config.random_state)
        entropy = int(random.randint(2**63, dtype=np.int64))
        self._orders = VisitingOrders(entropy, config.n_init)
        self._execution = Execution()
        counts = store.manifest("counts") or {"n_rows": 0, "n_dropped": 0, "n_late": 0}
        self._counts: dict[str, int] = counts
        self._columns: list[list[str]] | None = store.manifest("label_columns")
        self._pending = Commit()

    def set_n_threads(self, n_threads: int | None) -> None:
        """Use that many threads from now on."""
        self._execution = Execution(n_threads=n_threads)

    def learn_scaling(self, batches: Sequence[BatchArray]) -> None:
        """Learn mean and spread; they are stored with the first commit."""
        self.scaling = Scaling.learned(batches)
        self._pending.manifest["scaling"] = self.scaling.to_json()

    def take_all(
        self,
        batches: Iterable[Batch],
        token: str | None,
        on_batch: Callable[[StepRecord, Batch], None] | None,
        commit_seconds: float,
    ) -> int:
        """Take batches in until there are no more; return how many there were."""
        n_batches, n_rows, last_commit = 0, 0, time.monotonic()
        stream = iter(batches)
        while (taken := self._take_next(stream, token)) is not None:
            batch, record = taken
            self._keep(batch, record)
            n_batches += 1
            if on_batch is not None:
                on_batch(record, batch)
            n_rows += batch.n_points
            is_due = time.monotonic() - last_commit >= commit_seconds or n_rows >= MAX_GROUP_ROWS
            if token is None and is_due:
                self._commit()
                n_rows, last_commit = 0, time.monotonic()
        if self._pending.batches or token is not None:
            self._commit(token)
        return n_batches

    def note_position(self, position: Mapping[str, Any], n_dropped: int, n_late: int) -> None:
        """Commit where the source ended."""
        self._counts["n_dropped"] += n_dropped
        self._counts["n_late"] += n_late
        self._pending.manifest["position"] = dict(position)
        self._commit()

    def _take_next(
        self, stream: Iterator[Batch], token: str | None
    ) -> tuple[Batch, StepRecord] | None:
        """Step on the next batch. If that fails, what was taken in before is committed first."""
        try:
            batch = next(stream, None)
            return None if batch is None else (batch, self._step(batch))
        except BaseException:
            if self._pending.batches and token is None:
                self._commit()
            raise

    def _step(self, batch: Batch) -> StepRecord:
        config, before = self._config, self._state
        rows = take_batch(self._scaled(batch), batch.weights, before.n_features)
        elapsed = checked_elapsed(batch.elapsed)
        after, clustering = step_batch(
            rows, before, config.penalties, self._orders, elapsed, self._execution
        )
        history = History(window=1)
        history.append(before, batch.elapsed, clustering, after, find_events)
        record = history[0]
        self._state = after
        return record

    def _scaled(self, batch: Batch) -> BatchArray:
        points = batch.points if self.scaling is None else self.scaling.apply(batch.points)
        return points if points.flags.c_contiguous else points.copy()

    def _keep(self, batch: Batch, record: StepRecord) -> None:
        """Put what the batch leaves behind into the next commit."""
        pending, first_row = self._pending, self._counts["n_rows"]
        if batch.n_points:
            distances = _distances(self._scaled(batch), record.labels, self._state)
            rows = label_rows(batch, record.step, first_row, record.labels, distances)
            self._check_columns(rows.schema)
            pending.labels.append(rows)
        kept = choose_rows(first_row, batch.n_points, self._config.sample_size)
        sample = Sample(
            step=record.step,
            label=batch.label,
            n_rows=batch.n_points,
            points=batch.points[kept].astype(np.float32),
            cluster_ids=record.labels[kept],
            truth=None if batch.truth is None else batch.truth[kept],
        )
        # The labels themselves are in the Parquet part.
        slim = replace(record, labels=record.labels[:0])
        stored = StoredBatch(
            slim, batch.elapsed, batch.label, batch.n_points, batch.n_dropped, batch.n_late, sample
        )
        pending.batches.append(stored)
        for name, n in (
            ("n_rows", batch.n_points),
            ("n_dropped", batch.n_dropped),
            ("n_late", batch.n_late),
        ):
            self._counts[name] += n
        if batch.position is not None:
            pending.manifest["position"] = dict(batch.position)

    def _check_columns(self, schema: Any) -> None:
        columns = [[field.name, str(field.type)] for field in schema]
        if self._columns is None:
            self._columns = columns
            self._pending.manifest["label_columns"] = columns
        elif columns != self._columns:
            was, now = (", ".join(f"{n} ({t})" for n, t in c) for c in (self._columns, columns))
            raise ValueError(
                f"every batch of a run must have the same columns: it began with {was}, "
                f"and now has {now}."
            )

    def _commit(self, token: str | None = None) -> None:
        pending, self._pending = self._pending, Commit()
        pending.state = self._state
        pending.manifest["counts"] = self._counts
        pending.token = token
        self._store.commit(pending)


def _distances(points: BatchArray, labels: IntArray, state: ClusterState) -> FloatArray:
    """How far each row is from the center of its cluster; NaN where it has none."""
    if state.n_clusters == 0:
        return np.full(len(points), np.nan)
    away = points - state.centers[_slots(labels, state.ids)]
    distances = np.sqrt(np.einsum("ij,ij->i", away, away))
    return np.where(labels < 0, np.nan, distances)


def _slots(labels: IntArray, ids: IntArray) -> IntArray:
    """Return the row of each label among the sorted ids; any row for a label of no cluster."""
    low, n_numbers = int(ids[0]), int(ids[-1] - ids[0]) + 1
    if n_numbers > 16 * len(labels):
        return np.minimum(np.searchsorted(ids, labels), len(ids) - 1)
    # Ids close together: a table is faster than bisection.
    table = np.zeros(n_numbers, dtype=np.int64)
    table[ids - low] = np.arange(len(ids))
    return table[np.maximum(labels - low, 0)]
