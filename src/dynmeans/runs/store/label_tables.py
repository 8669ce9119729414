"""Labels of a run as Arrow tables, and those of each window; what was removed is reported."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.runs.store.digests import damage_error
from dynmeans.runs.store.label_files import LabelFile, read_part
from dynmeans.runs.store.store import LABELS_FROM, N_LABELS_REMOVED, Store

NO_LABELS = np.empty(0, dtype=np.int64)
Report = Callable[[int], None]  # gets how many rows of the run have no labels any more


def warn_of_removed(n_rows: int) -> None:
    """Warn that labels were removed as too old."""
    message = "the labels of the first {:,} rows were removed as too old, and are left out here."
    warnings.warn(ArgumentText(message, n_rows), UserWarning, stacklevel=2)


class LabelReader:
    """The parts of labels as one commit left them; each is compared with its digest.

    `removed_to` is the first window that has labels: earlier ones were removed as too old, before
    or while they were read, and `report` is called each time that some are missing.
    """

    def __init__(
        self, store: Store, first_step: int, last_step: int | None, report: Report
    ) -> None:
        self._store, self._report = store, report
        self._next_step = first_step
        self.removed_to = 0
        with store.snapshot():
            self._parts = self._parts_of(store)
        end = self._parts[-1].last_step if self._parts else -1
        self._last = end if last_step is None else min(last_step, end)

    def tables(self) -> Iterator[pa.Table]:
        """Yield the labels part by part, cut to the steps requested."""
        while self._parts and self._parts[0].first_step <= self._last:
            part = self._parts[0]
            try:
                table = read_part(self._store.labels_folder, part)
            except ValueError:
                # Removed as too old, or joined with others, which hold the same rows.
                with closing(Store(self._store.folder)) as now, now.snapshot():
                    self._parts = self._parts_of(now)
                if part in self._parts:
                    raise
                continue
            yield self._cut(table, part)
            self._next_step, self._parts = part.last_step + 1, self._parts[1:]

    def _parts_of(self, store: Store) -> list[LabelFile]:
        """Return the parts that are not read yet, and report what is missing of them."""
        removed_to = store.manifest(LABELS_FROM) or 0
        if removed_to > max(self._next_step, self.removed_to):
            self._report(store.manifest(N_LABELS_REMOVED) or 0)
        self.removed_to = removed_to
        return store.label_files(self._next_step)

    def _cut(self, table: pa.Table, part: LabelFile) -> pa.Table:
        if part.first_step >= self._next_step and part.last_step <= self._last:
            return table
        begin, end = np.searchsorted(table["step"].to_numpy(), [self._next_step, self._last + 1])
        return table.slice(begin, end - begin)


def label_tables(
    store: Store,
    first_step: int = 0,
    last_step: int | None = None,
    report: Report = warn_of_removed,
) -> Iterator[pa.Table]:
    """Yield the labels part by part, cut to the steps requested."""
    yield from LabelReader(store, first_step, last_step, report).tables()


class WindowLabels:
    """The identities of each window's rows; windows are requested in their order."""

    def __init__(self, store: Store, first_step: int, last_step: int | None) -> None:
        self._store = store
        self._reader = LabelReader(store, first_step, last_step, warn_of_removed)
        self._found = self._by_step()
        self._next: tuple[int, Any] | None = next(self._found, None)

    def of(self, step: int, n_rows: int) -> Any:
        """Return the labels of a window, or none if they were removed."""
        while self._next is not None and self._next[0] < step:
            self._next = next(self._found, None)
        is_here = self._next is not None and self._next[0] == step
        labels = self._next[1] if self._next is not None and is_here else NO_LABELS
        if len(labels) != n_rows and (is_here or step >= self._reader.removed_to):
            message = f"window {step} has {len(labels)} labels, not one for each of {n_rows} rows"
            raise damage_error(self._store.folder, message)
        return labels

    def _by_step(self) -> Iterator[tuple[int, Any]]:
        for table in self._reader.tables():
            steps, ids = table["step"].to_numpy(), table["cluster_id"].to_numpy()
            begins = np.flatnonzero(np.diff(steps, prepend=steps[:1] - 1))
            for begin, end in zip(begins, [*begins[1:], len(ids)], strict=True):
                yield int(steps[begin]), ids[begin:end]
