"""Text in any encoding, and Excel sheets, as the UTF-8 files that DuckDB reads."""

import codecs
import csv
import importlib
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pyarrow as pa

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import missing_column
from dynmeans.runs.reading.sources.file_kinds import JSON_LINES

_CHUNK = 1 << 20


def recode(files: list[str], encoding: str, folder: Path) -> list[str]:
    """Write the files again in UTF-8, unpacked, and return the new names in the same order."""
    return [
        _recoded(name, encoding, folder / f"{number}{_plain_ending(name)}")
        for number, name in enumerate(files)
    ]


def _plain_ending(name: str) -> str:
    return ".jsonl" if name.lower().endswith(JSON_LINES) else ".csv"


def _recoded(name: str, encoding: str, target: Path) -> str:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with pa.input_stream(name, compression="detect") as source, open(target, "wb") as file:
            while chunk := source.read(_CHUNK):
                file.write(decoder.decode(chunk).encode())
            file.write(decoder.decode(b"", final=True).encode())
    except UnicodeError as error:
        raise InputError("encoding", ": {!r} is not {}", name, encoding) from error
    return str(target)


def sheets_as_csv(files: list[str], sheet: str | None, folder: Path) -> list[str]:
    """Write one sheet of each workbook as CSV, values only: formulas are not computed."""
    return [_sheet_as_csv(name, sheet, folder / f"{n}.csv") for n, name in enumerate(files)]


def _sheet_as_csv(name: str, sheet: str | None, target: Path) -> str:
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ModuleNotFoundError as error:
        told = f"{name!r} needs openpyxl: pip install 'dynmeans[excel]'."
        raise ModuleNotFoundError(told, name="openpyxl") from error
    try:
        book = openpyxl.load_workbook(name, read_only=True, data_only=True)
        with open(target, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(_filled(_rows_of(book, sheet)))
        book.close()
    except InputError:
        raise
    except Exception as error:  # whatever a damaged file makes of it
        told = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ValueError(f"{name!r} cannot be read as an Excel file ({told}).") from error
    return str(target)


def _rows_of(book: Any, sheet: str | None) -> Iterable[tuple[Any, ...]]:
    if sheet is not None and sheet not in book.sheetnames:
        raise missing_column("table", sheet, book.sheetnames, "sheet")
    rows: Iterable[tuple[Any, ...]] = book[sheet or book.sheetnames[0]].iter_rows(values_only=True)
    return rows


def _filled(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[str]]:
    """Yield rows as text, as long as the header; what is empty before it or between is no row."""
    n_columns = 0
    for row in rows:
        if all(value is None for value in row):
            continue
        if not n_columns:
            n_columns = max(n for n, value in enumerate(row, 1) if value is not None)
        cells = [_text(value) for value in row[:n_columns]]
        yield cells + [""] * (n_columns - len(cells))


def _text(value: Any) -> str:
    if isinstance(value, datetime | date | time):
        return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    return "" if value is None else str(value)
