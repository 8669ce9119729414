"""A column of text as a column of vectors, learned on the first rows of the run and kept."""

import importlib
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import TEXT, check_column, quote_name
from dynmeans.runs.reading.ordered_rows import OrderedRows
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions

# Rows in order of time on which words and directions are learned.
FIRST_ROWS = 10_000


def open_table(
    input: Any, reading: ReadingOptions, options: WindowOptions, n_learned: int | None = None
) -> Source:
    """Open a table with all columns that the options name, vectors of text among them.

    The first `n_learned` rows teach the vectors, to the bit, however the input has grown.
    """
    source = Source(input, reading=reading, text_column=options.text_column)
    if options.text is not None:
        try:
            source.n_learned = _add_vectors(source, options, n_learned or FIRST_ROWS)
        except BaseException:
            source.close()
            raise
    return source


def _add_vectors(source: Source, options: WindowOptions, n_rows: int) -> int:
    """Add vectors of the words of `options.text` to a source; return how many rows taught them."""
    text = str(options.text)
    check_column("text", text, source.named)
    if source.named[text] != TEXT:
        rule = "must be a column of text, but {!r} is {}"
        raise InputError("text", rule, text, source.named[text])
    order = OrderedRows(source, replace(options, text=None)).order
    column = quote_name(text)
    first = source.batches(column, order=order, limit=n_rows)
    # Sorted, so that rows of one time teach the same in any order of the table.
    learned = sorted(value for batch in first for value in _texts(batch))
    # scikit-learn takes a second to load, and few need it here.
    model = importlib.import_module("dynmeans.estimators.text_vectors").TextVectors().fit(learned)
    kind = pa.list_(pa.float64(), model.width)
    path = source.scratch / "vectors.parquet"
    with pq.ParquetWriter(path, pa.schema([("vector", kind)])) as file:
        for batch in source.batches(column):
            rows = model.transform(_texts(batch))
            file.write_table(pa.table({"vector": as_vectors(rows)}))
    source.add_vectors(options.wanted[0], pq.read_table(path, memory_map=True))
    return len(learned)


def as_vectors(rows: Any) -> pa.Array:
    """Return an array as a column of vectors, null where a number is missing."""
    mask = ~np.isfinite(rows).all(axis=1)
    values = pa.array(np.ascontiguousarray(rows).ravel())
    return pa.FixedSizeListArray.from_arrays(
        values, rows.shape[1], mask=pa.array(mask) if mask.any() else None
    )


def _texts(batch: pa.RecordBatch) -> list[str]:
    return [text or "" for text in batch.column(0).to_pylist()]
