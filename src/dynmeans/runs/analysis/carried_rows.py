"""Columns of the input for the points of a page: what readers see, filter and search."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.runs.export.original_rows import open_rows
from dynmeans.runs.reading.columns import quote_name
from dynmeans.runs.reading.sampling import Sample, sample_rows
from dynmeans.runs.run import Run

_MAX_CATEGORIES, _ROWS_OF_CATEGORY = 60, 8
_WORDY = 24  # characters of a text on average, above which it is read and not compared


@dataclass(frozen=True, slots=True, eq=False)
class CarriedColumn:
    """A column of the input: number, category, text, id or time (seconds since 1970)."""

    name: str
    kind: str
    values: list[Any]


@dataclass(frozen=True, slots=True, eq=False)
class CarriedRows:
    """For each point drawn, its row of the input, its distance to its center, and columns."""

    numbers: IntArray
    distances: FloatArray
    columns: tuple[CarriedColumn, ...]


def carried_rows(
    run: Run,
    samples: Sequence[Sample],
    drawn: Sequence[IntArray],
    columns: Sequence[str],
    *,
    input: Any = None,
    allow_stored_sql: bool = False,
) -> CarriedRows | None:
    """Find the rows of the points of a page; None where the run has no labels to find them by.

    `drawn` has an array for each of the last samples: which of its points the page draws.

    Columns are read from the input, once, and are left out where it cannot be read again.
    """
    found = _label_rows(run, samples, drawn)
    if found is None:
        return None
    rows, distances = found
    wanted = list(dict.fromkeys(columns))
    try:
        values = _values(run, rows, wanted, input, allow_stored_sql) if wanted else []
    except (InputError, OSError):
        values = []
    named = zip(wanted, values, strict=False)
    return CarriedRows(rows, distances, tuple(_column(name, value) for name, value in named))


def _label_rows(
    run: Run, samples: Sequence[Sample], drawn: Sequence[IntArray]
) -> tuple[IntArray, FloatArray] | None:
    """Return the number in the input and the distance of each point."""
    key = "row" if run.config.source.get("id") else "row_id"
    if [key, "int64"] not in (run.store.manifest("label_columns") or []):
        return None
    size, ends = run.config.sample_size, np.cumsum([sample.n_rows for sample in samples])
    kept = [
        first + sample_rows(int(first), one.n_rows, size)
        for first, one in zip(ends - [sample.n_rows for sample in samples], samples, strict=True)
    ]
    rows, distances = _labels_at(run, key, np.concatenate(kept), int(ends[-1]))
    parts = np.split(np.arange(len(rows)), np.cumsum([len(one) for one in kept])[:-1])
    places = []
    pairs = list(zip(parts, samples, strict=True))[-len(drawn) :]
    for (part, sample), at in zip(pairs, drawn, strict=True):
        # A text without a word has no distance, and is not among the kept rows.
        own = part if len(part) == len(sample.points) else part[np.isfinite(distances[part])]
        if len(own) != len(sample.points):
            return None
        places.append(own[at])
    chosen = np.concatenate(places)
    return rows[chosen], distances[chosen]


def _labels_at(run: Run, key: str, places: IntArray, end: int) -> tuple[IntArray, FloatArray]:
    """Return columns of the labels at rising places."""
    rows, distances, done = [], [], 0
    for table in run.label_tables():
        low, high = np.searchsorted(places, [done, done + table.num_rows])
        at = places[low:high] - done
        rows.append(table[key].to_numpy()[at])
        distances.append(table["distance"].to_numpy()[at])
        done += table.num_rows
    return np.concatenate(rows), np.concatenate(distances)


def _values(
    run: Run, rows: IntArray, columns: list[str], input: Any, allow_stored_sql: bool
) -> list[Any]:
    """Read columns of the input at these rows; one array each, in their order."""
    order = np.argsort(rows, kind="stable")
    taken: list[list[pa.Array]] = [[] for _ in columns]
    with open_rows(run, input, allow_stored_sql=allow_stored_sql) as source:
        missing = [name for name in columns if name not in source.named]
        if missing:
            raise InputError("describe", "must name columns of the input", got=missing[0])
        done = 0
        for batch in source.batches(", ".join(map(quote_name, columns))):
            low, high = np.searchsorted(rows[order], [done, done + batch.num_rows])
            at = pa.array(rows[order][low:high] - done)
            for parts, column in zip(taken, batch.columns, strict=True):
                parts.append(column.take(at))
            done += batch.num_rows
    back = pa.array(np.argsort(order, kind="stable"))
    return [pa.chunked_array(parts).combine_chunks().take(back) for parts in taken]


def _column(name: str, values: Any) -> CarriedColumn:
    """Return the kind of a column and its values as JSON."""
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        seconds = values.cast(pa.timestamp("s", getattr(kind, "tz", None)), safe=False)
        return CarriedColumn(name, "time", seconds.cast(pa.int64()).to_pylist())
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = values.cast(pa.float64()).to_pylist()
        finite = [None if x is None or not np.isfinite(x) else float(f"{x:.6g}") for x in numbers]
        return CarriedColumn(name, "number", finite)
    given = values.to_pylist()
    n_values = len(set(given))
    few = n_values <= _MAX_CATEGORIES or _ROWS_OF_CATEGORY * n_values <= len(given)
    if pa.types.is_integer(kind) and not (few and _are_codes(given)):
        return CarriedColumn(name, "number", given)
    texts = [None if value is None else str(value) for value in given]
    lengths = [len(text) for text in texts if text is not None]
    is_text = not few and sum(lengths) > _WORDY * len(lengths)
    return CarriedColumn(name, "category" if few else "text" if is_text else "id", texts)


def _are_codes(values: list[int | None]) -> bool:
    """Whether integers name things: few of them, or far more apart than they are many."""
    known = {value for value in values if value is not None}
    return len(known) <= 12 or max(known) - min(known) > 1000 * len(known)
