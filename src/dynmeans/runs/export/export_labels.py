"""Labels joined with their rows, as a file or on standard output."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dynmeans.files.atomic_write import atomic_write
from dynmeans.inputs.input_error import InputError
from dynmeans.runs.analysis.label_view import AS_STORED, LabelView
from dynmeans.runs.export.labeled_rows import label_stream, labeled_rows
from dynmeans.runs.export.original_rows import open_rows
from dynmeans.runs.export.spreadsheet_cells import count_formulas, plain_cells
from dynmeans.runs.reading.columns import quote_text
from dynmeans.runs.reading.sources.file_kinds import find_files
from dynmeans.runs.reading.sources.sandboxed_duckdb import not_home, source_errors
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.run import Run

STANDARD_OUTPUT = "-"
_FORMATS = {
    ".parquet": "FORMAT parquet, COMPRESSION zstd",
    ".csv": "FORMAT csv, HEADER",
    ".jsonl": "FORMAT json",
    ".ndjson": "FORMAT json",
}
_FORMULA_RUNNERS = (".csv", STANDARD_OUTPUT)


@dataclass(frozen=True, slots=True)
class Export:
    """What was written: the rows, and the cells of a CSV file that were made plain text."""

    n_rows: int
    n_formulas: int = 0


def export_labels(
    run: Run,
    path: str | os.PathLike[str],
    *,
    input: Any = None,
    labels_only: bool = False,
    allow_stored_sql: bool = False,
    view: LabelView = AS_STORED,
) -> Export:
    """Write the labels to a file, with the original columns; memory stays flat.

    The ending selects the format: Parquet, CSV or JSON lines; ``-`` is CSV on standard
    output. `view` adds families, and marks who is not confirmed with -1. Rows that were
    left out keep an empty `cluster_id`. The file appears once it is complete.

    Text that a spreadsheet would run as a formula gets an apostrophe before it in CSV, and is
    counted: what begins with ``=``, ``@``, a tab or a return, or with a sign and holds ``(``,
    ``|`` or ``!``.
    """
    ending = _check_ending(path)
    if ending != STANDARD_OUTPUT:
        _refuse_input(Path(path), run.config.source.get("input") if input is None else input)
    if not run.label_files():
        raise ValueError(f"the run {str(run.folder)!r} has no labels yet.")
    if labels_only:
        with Source(label_stream(run, view=view)) as labels:  # a stream, which can be read once
            n_formulas = _count_formulas(labels) if ending in _FORMULA_RUNNERS else 0
        return Export(write_rows(label_stream(run, view=view), path, ending), n_formulas)
    with open_rows(run, input, allow_stored_sql=allow_stored_sql) as source:
        n_formulas = _count_formulas(source) if ending in _FORMULA_RUNNERS else 0
        rows = labeled_rows(source, run, view=view)
        return Export(write_rows(rows, path, ending), n_formulas)


def _check_ending(path: str | os.PathLike[str]) -> str:
    if os.fspath(path) == STANDARD_OUTPUT:
        return STANDARD_OUTPUT
    target = Path(path)
    known = tuple(_FORMATS)
    if target.suffix not in known:
        rule = f"must end in {', '.join(known[:-1])} or {known[-1]}, or be - for CSV on the screen"
        raise InputError("path", rule, got=str(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to write to.")
    return target.suffix


def write_rows(rows: pa.RecordBatchReader, path: str | os.PathLike[str], ending: str) -> int:
    """Write rows in the format of the ending, atomically, as CSV that no spreadsheet executes."""
    if ending == STANDARD_OUTPUT:
        sys.stdout.flush()
        with Source(rows, also=["/dev/stdout"]) as source:
            return _copy(source, "/dev/stdout", ".csv")
    with atomic_write(path) as file:
        temporary = not_home(file)
        with Source(rows, also=[temporary]) as source:
            return _copy(source, temporary, ending)


def _copy(source: Source, temporary: str, ending: str) -> int:
    cells = plain_cells(source.columns) if ending in _FORMULA_RUNNERS else "*"
    with source_errors():
        result = source.connection.execute(
            f"COPY (SELECT {cells} FROM dynmeans_rows) TO {quote_text(temporary)} "
            f"({_FORMATS[ending]}, USE_TMP_FILE false)"
        ).fetchall()
    return int(result[0][0])


def _count_formulas(source: Source) -> int:
    with source_errors():
        counts = f"SELECT {count_formulas(source.columns)} FROM dynmeans_rows"
        return int(source.connection.execute(counts).fetchall()[0][0])


def _refuse_input(target: Path, input: Any) -> None:
    """Keep the rows from being replaced by their labels, or read together with them."""
    if not isinstance(input, str | os.PathLike):
        return
    given = Path(input)
    is_inside = given.is_dir() and target.resolve().is_relative_to(given.resolve())
    if is_inside or (target.exists() and str(target.resolve()) in _files_of(given)):
        raise InputError("path", ": {!r} is among the rows of the run; name another", str(target))


def _files_of(input: Path) -> set[str]:
    """Return the files of a source, as far as they are there."""
    try:
        return {str(Path(name).resolve()) for name in find_files(str(input))}
    except (OSError, ValueError):
        return {str(input.resolve())}
