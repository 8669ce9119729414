"""Labels put beside the rows they belong to: for files, and for scores."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.files.whole_file import whole_file
from dynmeans.inputs.input_error import InputError
from dynmeans.runs.label_view import LabelView
from dynmeans.runs.reading.columns import (
    check_column,
    free_name,
    plain_expression,
    quote_name,
    quote_text,
)
from dynmeans.runs.reading.locked_duckdb import source_errors
from dynmeans.runs.reading.sources import Source, find_files
from dynmeans.runs.run import Run
from dynmeans.runs.spreadsheet_cells import count_formulas, plain_cells

_FORMATS = {".parquet": "FORMAT parquet, COMPRESSION zstd", ".csv": "FORMAT csv, HEADER"}
_ADDED = ("step", "cluster_id", "distance")
_MEMORY = "1GB"
_AS_STORED = LabelView()


@dataclass(frozen=True, slots=True)
class Export:
    """What was written: the rows, and the cells of a CSV file that were made plain text."""

    n_rows: int
    n_formulas: int = 0


def open_source(
    fields: Mapping[str, Any], table: Any = None, *, trust: bool = False, also: tuple[str, ...] = ()
) -> Source:
    """Open the source a run was made from, or the same rows at another place.

    A query that is stored in the run came with its files: it runs only with `trust`.
    """
    if table is None:
        table = fields.get("input")
        if not isinstance(table, str) or table == "-":
            raise InputError(
                "",
                "the run does not know where its rows are: they came from Python or from standard "
                "input",
                hint="Name a file that holds them with {table=...}. Labels alone "
                "({is_joined=False}) need none.",
            )
    query = fields.get("sql")
    if query is not None and not trust:
        raise InputError(
            "",
            "the run reads its rows by a query that is stored in it, {!r}",
            str(query)[:200],
            hint="{trust=True} runs it: one SELECT over the input, which reaches no other file.",
        )
    return Source(
        table,
        query=query,
        database_table=fields.get("table"),
        text_column=fields.get("time") if fields.get("time_format") else None,
        memory_limit=_MEMORY,
        also=also,
    )


def export_labels(
    run: Run,
    path: str | os.PathLike[str],
    *,
    table: Any = None,
    is_joined: bool = True,
    trust: bool = False,
    view: LabelView = _AS_STORED,
) -> Export:
    """Write the labels to a Parquet or CSV file, with the original columns.

    `view` adds families, and marks identities that are not confirmed with -1. Rows that were left
    out keep an empty `cluster_id`. The file appears once it is complete. Text that a spreadsheet
    would run as a formula gets an apostrophe before it in a CSV file, and is counted: what begins
    with ``=``, ``@``, a tab or a return, or with a sign and holds ``(``, ``|`` or ``!``. A Parquet
    file holds all text as it is.
    """
    target = Path(path)
    if target.suffix not in _FORMATS:
        raise InputError("path", f"must end in {' or '.join(_FORMATS)}", got=str(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to write to.")
    _refuse_input(target, run.config.source.get("input") if table is None else table)
    if not run.parts():
        raise ValueError(f"the run {str(run.folder)!r} has no labels yet.")
    with whole_file(target) as temporary:
        if is_joined:
            fields = run.config.source
            with open_source(fields, table, trust=trust, also=(temporary,)) as source:
                n_formulas = _count_formulas(source) if target.suffix == ".csv" else 0
                source.connection.register("dynmeans_labels", _labels(run, view))
                n_rows = _copy(source, _joined(source, run, view), temporary, target.suffix)
        else:
            with Source(_labels(run, view)) as source:  # a stream, which can be read once
                n_formulas = _count_formulas(source) if target.suffix == ".csv" else 0
            with Source(_labels(run, view), also=[temporary]) as source:
                n_rows = _copy(source, "SELECT * FROM dynmeans_rows", temporary, target.suffix)
    return Export(n_rows, n_formulas)


def _labels(run: Run, view: LabelView) -> pa.RecordBatchReader:
    """Stream the labels; each part is compared with its digest as it is read."""
    tables = map(view.of, run.label_tables())
    first = next(tables)

    def batches() -> Iterator[pa.RecordBatch]:
        yield from first.to_batches()
        for table in tables:
            yield from table.to_batches()

    return pa.RecordBatchReader.from_batches(first.schema, batches())


def _refuse_input(target: Path, table: Any) -> None:
    """Keep the rows from being replaced by their labels, or read together with them."""
    if not isinstance(table, str | os.PathLike):
        return
    given = Path(table)
    is_inside = given.is_dir() and target.resolve().is_relative_to(given.resolve())
    if is_inside or (target.exists() and str(target.resolve()) in _files_of(given)):
        raise InputError("path", ": {!r} is among the rows of the run; name another", str(target))


def _files_of(table: Path) -> set[str]:
    """Return the files of a source, as far as they are there."""
    try:
        return {str(Path(name).resolve()) for name in find_files(str(table))}
    except (OSError, ValueError):
        return {str(table.resolve())}


def _joined(source: Source, run: Run, view: LabelView) -> str:
    key = "row" if run.config.source.get("id") else "row_id"
    names = (*_ADDED, *view.added)
    added = [f"labels.{name} AS {quote_name(free_name(name, source.columns))}" for name in names]
    original = [f"original.{quote_name(name)}" for name in source.columns]
    row = f"original.{source.row}"
    return (
        f"SELECT {', '.join([*original, *added])} FROM dynmeans_numbered AS original "
        f"LEFT JOIN dynmeans_labels AS labels ON labels.{key} = {row} ORDER BY {row}"
    )


def _count_formulas(source: Source) -> int:
    with source_errors():
        counts = f"SELECT {count_formulas(source.columns)} FROM dynmeans_rows"
        return int(source.connection.execute(counts).fetchall()[0][0])


def _copy(source: Source, sql: str, temporary: str, ending: str) -> int:
    with source_errors():
        if ending == ".csv":
            # The query is planned, not run: its labels are a stream that can be read once.
            relation = source.connection.sql(sql)
            columns = dict(zip(relation.columns, map(str, relation.types), strict=True))
            sql = f"SELECT {plain_cells(columns)} FROM ({sql})"
        result = source.connection.execute(
            f"COPY ({sql}) TO {quote_text(temporary)} ({_FORMATS[ending]}, USE_TMP_FILE false)"
        ).fetchall()
    return int(result[0][0])


def truth_by_window(
    run: Run, column: str, table: Any = None, *, trust: bool = False
) -> tuple[list[Any], list[Any]]:
    """Return true and found identities, window by window; -1 where the truth is unknown."""
    stored = run.config.source.get("truth") == column and table is None
    by_row = None if stored else _truth_of_rows(run, column, table, trust)
    key = "row" if run.config.source.get("id") else "row_id"
    true: list[Any] = []
    found: list[Any] = []
    for part in run.label_tables():
        values = part["truth"] if by_row is None else by_row.take(part[key])
        ends = np.flatnonzero(np.diff(part["step"].to_numpy())) + 1
        true += np.split(_truth_values(values), ends)
        found += np.split(part["cluster_id"].to_numpy(), ends)
    return _numbered(true), found


def _truth_of_rows(run: Run, column: str, table: Any, trust: bool) -> pa.ChunkedArray:
    with open_source(run.config.source, table, trust=trust) as source:
        check_column("truth", column, source.columns)
        expression = plain_expression(column, source.columns[column])
        batches = [b.column(0) for b in source.batches(f"{expression} AS truth")]
    return pa.chunked_array(batches)


def _truth_values(values: Any) -> Any:
    if pa.types.is_integer(values.type):
        return values.fill_null(-1).to_numpy()
    return values.to_numpy()


def _numbered(batches: list[Any]) -> list[Any]:
    """Number true identities that are text; those that are missing become -1."""
    if not batches or batches[0].dtype.kind in "iu":
        return batches
    ends = np.cumsum([len(batch) for batch in batches])[:-1]
    codes = pa.array(np.concatenate(batches), type=pa.string()).dictionary_encode().indices
    return np.split(codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64), ends)
