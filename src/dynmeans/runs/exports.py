"""Labels put beside the rows they belong to: for files, and for scores."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.files.whole_file import whole_file
from dynmeans.runs.reading.columns import check_column, plain_expression, quote_name, quote_text
from dynmeans.runs.reading.sources import ROW, Source, find_files, source_errors
from dynmeans.runs.run import Run

_FORMATS = {".parquet": "FORMAT parquet, COMPRESSION zstd", ".csv": "FORMAT csv, HEADER"}
_ADDED = ("step", "cluster_id", "distance")
_MEMORY = "1GB"


def open_source(fields: Mapping[str, Any], table: Any = None) -> Source:
    """Open the source a run was made from, or the same rows at another place."""
    if table is None:
        table = fields.get("input")
        if table is None or table == "-":
            raise ValueError(
                "the run does not know where its rows are: they came from Python or from standard "
                "input. Name a file that holds them with --input; only `dynmeans labels "
                "--labels-only` needs none."
            )
    return Source(
        table,
        query=fields.get("sql"),
        database_table=fields.get("table"),
        text_column=fields.get("time") if fields.get("time_format") else None,
        memory_limit=_MEMORY,
    )


def export_labels(
    run: Run, path: str | os.PathLike[str], *, table: Any = None, is_joined: bool = True
) -> int:
    """Write the labels to a Parquet or CSV file, with the original columns; return the rows.

    Rows that were left out keep an empty `cluster_id`. The file appears once it is complete.
    """
    target = Path(path)
    if target.suffix not in _FORMATS:
        raise ValueError(f"output must end in {' or '.join(_FORMATS)}, got {str(target)!r}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to write to.")
    _refuse_input(target, run.config.source.get("input") if table is None else table)
    parts = [str(run.folder / "labels" / part.name) for part in run.parts()]
    if not parts:
        raise ValueError(f"the run {str(run.folder)!r} has no labels yet.")
    names = ", ".join(map(quote_text, parts))
    labels = f"read_parquet([{names}])"
    if not is_joined:
        with Source(pa.table({"nothing": []})) as source:
            return _copy(source, f"SELECT * FROM {labels}", target)
    with open_source(run.config.source, table) as source:
        return _copy(source, _joined(source, labels, run), target)


def _refuse_input(target: Path, table: Any) -> None:
    """Keep the rows from being replaced by their labels, or read together with them."""
    if not isinstance(table, str | os.PathLike):
        return
    given = Path(table)
    is_inside = given.is_dir() and target.resolve().is_relative_to(given.resolve())
    if is_inside or (target.exists() and str(target.resolve()) in _files_of(given)):
        raise ValueError(f"output {str(target)!r} is among the rows of the run; name another.")


def _files_of(table: Path) -> set[str]:
    """Return the files of a source, as far as they are there."""
    try:
        return {str(Path(name).resolve()) for name in find_files(str(table))}
    except (OSError, ValueError):
        return {str(table.resolve())}


def _joined(source: Source, labels: str, run: Run) -> str:
    key = "row" if run.config.source.get("id") else "row_id"
    added = [f"labels.{name} AS {quote_name(_free_name(name, source.columns))}" for name in _ADDED]
    original = [f"original.{quote_name(name)}" for name in source.columns]
    return (
        f"SELECT {', '.join([*original, *added])} FROM dynmeans_numbered AS original "
        f"LEFT JOIN {labels} AS labels ON labels.{key} = original.{ROW} ORDER BY original.{ROW}"
    )


def _free_name(name: str, taken: Mapping[str, str]) -> str:
    """Keep an original column from being hidden by one of ours."""
    lower = {column.lower() for column in taken}
    while name.lower() in lower:
        name = f"dynmeans_{name}"
    return name


def _copy(source: Source, sql: str, target: Path) -> int:
    with whole_file(target) as temporary, source_errors():
        result = source.connection.execute(
            f"COPY ({sql}) TO {quote_text(temporary)} ({_FORMATS[target.suffix]})"
        ).fetchone()
    return int(result[0])


def truth_by_batch(run: Run, column: str, table: Any = None) -> tuple[list[Any], list[Any]]:
    """Return true and found identities, batch by batch; -1 where the truth is unknown."""
    stored = run.config.source.get("truth") == column and table is None
    by_row = None if stored else _truth_of_rows(run, column, table)
    key = "row" if run.config.source.get("id") else "row_id"
    true: list[Any] = []
    found: list[Any] = []
    for part in run.label_tables():
        values = part["truth"] if by_row is None else by_row.take(part[key])
        ends = np.flatnonzero(np.diff(part["step"].to_numpy())) + 1
        true += np.split(_truth_values(values), ends)
        found += np.split(part["cluster_id"].to_numpy(), ends)
    return _numbered(true), found


def _truth_of_rows(run: Run, column: str, table: Any) -> pa.ChunkedArray:
    with open_source(run.config.source, table) as source:
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
