"""Excel sheets, by openpyxl: written row by row, read as a table of values."""

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


def read_sheet(path: str, name: str | None) -> pa.Table:
    """Read one sheet: the first row has the names. With several sheets `name` says which."""
    book = _openpyxl().load_workbook(path, read_only=True, data_only=True)
    try:
        if name is None and len(book.sheetnames) > 1:
            shown = ", ".join(map(repr, book.sheetnames))
            raise ValueError(f"{path!r} has the sheets {shown}: name one as the table to read.")
        if name is not None and name not in book.sheetnames:
            shown = ", ".join(map(repr, book.sheetnames))
            raise ValueError(f"{path!r} has no sheet {name!r}; it has {shown}.")
        rows = list(book[name or book.sheetnames[0]].iter_rows(values_only=True))
    finally:
        book.close()
    if len(rows) < 2:
        raise ValueError(f"{path!r} holds no rows{', only a header' if rows else ''}.")
    names = [str(cell) if cell is not None else f"column{j}" for j, cell in enumerate(rows[0])]
    columns = list(zip(*rows[1:], strict=True))
    return pa.table({name: _column(values) for name, values in zip(names, columns, strict=True)})


def _column(values: Iterable[Any]) -> pa.Array:
    kept = list(values)
    try:
        return pa.array(kept)
    except pa.ArrowException:  # cells of several kinds
        return pa.array([None if value is None else str(value) for value in kept])


def _openpyxl() -> Any:
    return importlib.import_module("openpyxl")
