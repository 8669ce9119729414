"""WindowProcessor: follows windows one after the other and commits them in groups."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import check_features
from dynmeans.engine.execution import DEFAULT
from dynmeans.follow.early_forgetting import warn_early_forgetting
from dynmeans.follow.follow import Step, follow
from dynmeans.follow.init_memory import OnSuggestion
from dynmeans.follow.lifetimes import NO_LIFETIMES
from dynmeans.follow.memory import Memory
from dynmeans.records.arrays import FloatArray
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.sampling import Sample, sample_rows
from dynmeans.runs.reading.window import Window
from dynmeans.runs.store.commit import Commit, StoredWindow
from dynmeans.runs.store.dead_letters import DeadLetter
from dynmeans.runs.store.label_files import make_label_table
from dynmeans.runs.store.store import Store
from dynmeans.runs.texts import Texts
from dynmeans.runs.warm_up import initial_memory, needs_warm_up, read_warm_up

# A group of windows is committed before its labels take more memory than this many rows.
MAX_GROUP_ROWS = 500_000


class WindowProcessor:
    """The part of a run that holds its memory between windows."""

    def __init__(self, store: Store, config: RunConfig, memory: Memory | None) -> None:
        self._store, self._config, self._memory = store, config, memory
        self.execution = DEFAULT
        self._counts = store.counts()
        self._columns: list[list[str]] | None = store.manifest("label_columns")
        self._pending = Commit()
        self._last: Step | None = None
        is_text = bool(config.source.get("text"))
        self._texts = Texts(store, config.source, memory) if is_text else None

    def begin(self, windows: Iterable[Window], on_suggestion: OnSuggestion) -> Iterable[Window]:
        """Choose on the first windows what the configuration leaves open; return all windows."""
        if self._memory is not None:
            return windows
        rest = iter(windows)
        is_ahead = needs_warm_up(self._config.model_config)
        first = read_warm_up(rest) if is_ahead else list(islice(rest, 1))
        if first:
            self._memory = initial_memory(self._config, first, on_suggestion)
        return chain(first, rest)

    def take_all(
        self,
        windows: Iterable[Window],
        idempotency_key: str | None,
        on_window: Callable[[StepRecord, Window], None] | None,
        commit_seconds: float,
        after_commit: Callable[[], None],
    ) -> int:
        """Take windows in until there are no more; return how many there were."""
        n_windows, n_rows, last_commit = 0, 0, time.monotonic()
        stream = iter(windows)
        while (taken := self._take_next(stream, idempotency_key)) is not None:
            window, step, record = taken
            self._keep(window, step, record)
            n_windows += 1
            if on_window is not None:
                with self._committing_first(idempotency_key):
                    on_window(record, window)
            n_rows += window.n_points
            is_due = time.monotonic() - last_commit >= commit_seconds or n_rows >= MAX_GROUP_ROWS
            if idempotency_key is None and is_due:
                self._commit()
                n_rows, last_commit = 0, time.monotonic()
                after_commit()
        if self._pending.windows or idempotency_key is not None:
            self._commit(idempotency_key)
            after_commit()
        return n_windows

    def note_position(
        self, position: Mapping[str, Any], n_dropped_rows: int, n_late_rows: int
    ) -> None:
        """Commit where the source ended."""
        self._counts["n_dropped_rows"] += n_dropped_rows
        self._counts["n_late_rows"] += n_late_rows
        self._pending.manifest["position"] = dict(position)
        self._commit()

    def store_dead_letters(
        self, position: Mapping[str, Any], letters: Sequence[DeadLetter]
    ) -> bool:
        """Commit messages that are no rows; False while windows that a choice is made on wait."""
        if self._memory is None and needs_warm_up(self._config.model_config):
            return False
        self._add_letters(letters)
        self._pending.manifest["position"] = dict(position)
        self._commit()
        return True

    def _add_letters(self, letters: Sequence[DeadLetter]) -> None:
        self._pending.dead_letters += letters
        self._counts["n_dead_letters"] += len(letters)

    def _take_next(
        self, stream: Iterator[Window], idempotency_key: str | None
    ) -> tuple[Window, Step, StepRecord] | None:
        """Process the next window. If that fails, earlier windows are committed first."""
        with self._committing_first(idempotency_key):
            window = next(stream, None)
            if window is None:
                return None
            if self._texts is not None:
                window = self._texts.as_vectors(window)
            return window, *self._step(window)

    @contextmanager
    def _committing_first(self, idempotency_key: str | None) -> Iterator[None]:
        """If the block fails, commit the earlier windows; with a key, commit nothing."""
        try:
            yield
        except BaseException:
            if self._pending.windows and idempotency_key is None:
                self._commit()
            raise

    def _step(self, window: Window) -> tuple[Step, StepRecord]:
        """Return the step of a window, and its record."""
        check_features(window.points.shape[1], len(self._config.features))
        assert self._memory is not None, "no window comes before the first one"
        begin = time.perf_counter()
        batch = self._batch_of(window)
        after, step = follow(
            self._config.model_config, self._memory, batch, window.elapsed, self.execution
        )
        if window.elapsed < 1.0 and self._last is not None:
            warn_early_forgetting(self._last, window.elapsed, after.plan.penalties)
        self._last = step.with_points(None)
        # Points and windows of each identity are counted in the table of clusters.
        self._memory = replace(after, lifetimes=NO_LIFETIMES)
        record = step.record()
        self._pending.step_seconds = time.perf_counter() - begin
        if self._texts is not None:
            labels = np.full(window.n_points, -1)
            labels[_has_word(window)] = record.labels
            record = replace(record, labels=labels)
        return step, record

    def _batch_of(self, window: Window) -> Batch:
        """Return the rows to cluster; of texts, those that have a word."""
        if self._texts is None:
            return Batch(window.points, window.weights)
        kept = _has_word(window)
        weights = None if window.weights is None else window.weights[kept]
        return Batch(np.ascontiguousarray(window.points[kept]), weights)

    def _distances(self, window: Window, step: Step) -> FloatArray:
        """Return the distance of each row to the center of its cluster; NaN if it has none."""
        if self._texts is None:
            return step.distances()
        distances = np.full(window.n_points, np.nan)
        distances[_has_word(window)] = step.distances()
        return distances

    def _keep(self, window: Window, step: Step, record: StepRecord) -> None:
        """Put what the window leaves behind into the next commit."""
        pending, first_row = self._pending, self._counts["n_rows"]
        distances = self._distances(window, step)
        if self._texts is not None:
            self._counts["n_wordless"] += int((~_has_word(window)).sum())
            self._texts.add_to(pending, record, distances, step.after.ids)
        if window.n_points:
            rows = make_label_table(window, record.step, first_row, record.labels, distances)
            self._check_columns(rows.schema)
            pending.labels.append(rows)
        kept = sample_rows(first_row, window.n_points, self._config.sample_size)
        if self._texts is not None:
            kept = kept[_has_word(window)[kept]]
        sample = Sample(
            step=record.step,
            name=window.name,
            n_rows=window.n_points,
            points=window.points[kept].astype(np.float32),
            cluster_ids=record.labels[kept],
            truth=None if window.truth is None else window.truth[kept],
        )
        # The labels themselves are in the Parquet part.
        slim = replace(record, labels=record.labels[:0])
        counts = window.n_dropped_rows, window.n_late_rows
        pending.windows.append(StoredWindow(slim, window.elapsed, *counts, sample))
        self._counts["n_rows"] += window.n_points
        self._counts["n_dropped_rows"] += window.n_dropped_rows
        self._counts["n_late_rows"] += window.n_late_rows
        self._add_letters(window.dead_letters)
        if window.position is not None:
            pending.manifest["position"] = dict(window.position)

    def _check_columns(self, schema: Any) -> None:
        columns = [[field.name, str(field.type)] for field in schema]
        if self._columns is None:
            self._columns = columns
            self._pending.manifest["label_columns"] = columns
        elif columns != self._columns:
            was, now = (", ".join(f"{n} ({t})" for n, t in c) for c in (self._columns, columns))
            raise ValueError(
                f"every window of a run must have the same columns: it began with {was}, "
                f"and now has {now}."
            )

    def _commit(self, idempotency_key: str | None = None) -> None:
        pending, self._pending = self._pending, Commit()
        pending.memory = self._memory
        pending.manifest["counts"] = dict(self._counts)
        pending.idempotency_key = idempotency_key
        self._store.commit(pending)


def _has_word(window: Window) -> Any:
    """Return which vectors of texts are not zeros."""
    return window.points.any(axis=1)
