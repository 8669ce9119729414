"""Excel sheets, by openpyxl: written row by row."""

import importlib
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

_MAX_ROWS = 1_048_576


def write_sheet(batches: Iterable[pa.RecordBatch], path: str) -> int:
    """Write rows to a sheet with a header; return how many."""
    book = _openpyxl().Workbook(write_only=True)
    sheet = book.create_sheet("labels")
    n_rows = 0
    for batch in batches:
        if n_rows == 0:
            sheet.append(batch.schema.names)
        if n_rows + batch.num_rows >= _MAX_ROWS:
            raise ValueError(
                f"an Excel sheet holds {_MAX_ROWS - 1:,} rows, the run has more. Write .parquet or "
                ".csv instead."
            )
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            sheet.append([_cell(value, sheet) for value in row])
        n_rows += batch.num_rows
    book.save(path)
    return n_rows


def _cell(value: Any, sheet: Any) -> Any:
    """Times lose their offset, which Excel does not know; text is text, never a formula."""
    if hasattr(value, "tzinfo") and value.tzinfo is not None:
        return value.replace(tzinfo=None)
    if isinstance(value, str):
        cell = _openpyxl().cell.WriteOnlyCell(sheet, value)
        cell.data_type = "s"
        return cell
    return value if isinstance(value, int | float | None) or hasattr(value, "year") else str(value)


def _openpyxl() -> Any:
    return importlib.import_module("openpyxl")
