"""A merge join of rows and labels: both in the order of the input, a few thousand at a time."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.inputs.format_count import format_count
from dynmeans.runs.analysis.label_view import AS_STORED, CLUSTER_NAME, FAMILY, SUBCLUSTER, LabelView
from dynmeans.runs.reading.columns import free_name, quote_name
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.run import Run
from dynmeans.runs.store.label_tables import label_tables

ADDED = ("step", "cluster_id", "distance")


def label_stream(
    run: Run, columns: Sequence[str] | None = None, view: LabelView = AS_STORED
) -> pa.RecordBatchReader:
    """Stream the labels as `view` shows them; each part is compared with its digest."""
    shown = map(view.of, run.label_tables())
    tables = (t if columns is None else t.select(list(columns)) for t in shown)
    return as_stream(batch for table in tables for batch in table.to_batches())


def as_stream(batches: Iterator[pa.RecordBatch]) -> pa.RecordBatchReader:
    """Make a reader of batches, of which there is one at least."""
    first = next(batches)
    return pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))


def labeled_rows(
    source: Source, run: Run, columns: str = "", view: LabelView = AS_STORED
) -> pa.RecordBatchReader:
    """Stream the rows of a source with step, cluster_id and distance; null where left out."""
    names = [free_name(name, source.columns) for name in (*ADDED, *view.added_columns)]
    wanted = columns or ", ".join(map(quote_name, source.columns))
    return as_stream(_join_labels(source.batches(wanted), _Labels(run, view), names))


def _join_labels(
    rows: Iterator[pa.RecordBatch], labels: "_Labels", names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in rows:
        added = labels.before(done + batch.num_rows)
        done += batch.num_rows
        columns = [*batch.columns, *added]
        yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, *names])
    labels.check_used(done)


class _Labels:
    """Labels in the order of the input, taken off as rows come."""

    def __init__(self, run: Run, view: LabelView) -> None:
        self._names = (*ADDED, *view.added_columns)
        self._key = "row" if run.config.source.get("id") else "row_id"
        self._batches = self._in_order(run, view)
        self._held: list[pa.RecordBatch] = []
        self._done = 0

    def before(self, end: int) -> list[pa.Array]:
        """Return what is added to each row from the last one taken to `end`."""
        taken = self._take(end)
        n, begin = end - self._done, self._done
        self._done = end
        places = np.full(n, -1, dtype=np.int64)
        if taken is None:
            table = pa.table({name: pa.array([], _KINDS[name]) for name in self._names})
        else:
            table = taken
            places[table[self._key].to_numpy() - begin] = np.arange(table.num_rows)
        mask = pa.array(places, mask=places < 0)
        return [_whole(table[name]).take(mask) for name in self._names]

    def check_used(self, n_rows: int) -> None:
        """Refuse rows that are fewer than the labels."""
        if self._held or next(self._batches, None) is not None:
            raise ValueError(
                f"the input has {format_count(n_rows, 'row')}, but the run has labels for rows "
                "after them. These are not the rows of the run."
            )

    def _take(self, end: int) -> pa.Table | None:
        found: list[pa.RecordBatch] = []
        while batch := self._held.pop() if self._held else next(self._batches, None):
            n = int(np.searchsorted(batch[self._key].to_numpy(), end))
            found += [batch.slice(0, n)] if n else []
            if n < batch.num_rows:
                self._held.append(batch.slice(n))
                break
        return pa.Table.from_batches(found) if found else None

    def _in_order(self, run: Run, view: LabelView) -> Iterator[pa.RecordBatch]:
        columns = [*self._names, self._key]
        if _is_rising(run, self._key):
            yield from label_stream(run, columns, view)
            return
        # Rows that were out of order are sorted back, on disk if they are many.
        with Source(label_stream(run, columns, view)) as labels:
            yield from labels.batches(", ".join(columns), order=self._key)


_KINDS: dict[str, Any] = {
    "step": pa.int64(),
    "cluster_id": pa.int64(),
    "distance": pa.float64(),
    FAMILY: pa.int64(),
    SUBCLUSTER: pa.int64(),
    CLUSTER_NAME: pa.string(),
}


def _is_rising(run: Run, key: str) -> bool:
    last = -1
    for table in label_tables(run.store, report=lambda n_rows: None):  # told with the labels
        rows = table[key].to_numpy()
        if len(rows) and (rows[0] <= last or np.any(rows[1:] <= rows[:-1])):
            return False
        last = int(rows[-1]) if len(rows) else last
    return True


def _whole(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return found if isinstance(found, pa.Array) else pa.concat_arrays(found.chunks)
