"""Columns of the rows of a page as text: compressed, within the room there is."""

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dynmeans.runs.analysis.carried_rows import CarriedColumn, CarriedRows

# Of the page; text is cut, and then columns are left out, to stay below it.
ROWS_BYTES = 600_000
_TEXT_LENGTHS = (200, 90, 50)


def packed_rows(rows: CarriedRows) -> str:
    """Return JSON, compressed, as base64: within the room there is."""
    for columns, length in _smaller(rows.columns):
        value = {
            "distances": [float(f"{x:.3g}") if np.isfinite(x) else None for x in rows.distances],
            "columns": [{"name": one.name, "kind": one.kind} for one in columns],
            "values": [_cut(one, length) for one in columns],
        }
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        packed = base64.b64encode(gzip.compress(text.encode(), 6, mtime=0))
        if len(packed) <= ROWS_BYTES:
            break
    return packed.decode("ascii")


def _smaller(columns: Sequence[CarriedColumn]) -> Iterator[tuple[Sequence[CarriedColumn], int]]:
    for length in _TEXT_LENGTHS:
        yield columns, length
    for n in range(len(columns) - 1, -1, -1):
        yield columns[:n], _TEXT_LENGTHS[-1]


def _cut(column: CarriedColumn, length: int) -> list[Any]:
    if column.kind in ("number", "time"):
        return column.values
    short = (v if v is None or len(v) <= length else f"{v[: length - 1]}…" for v in column.values)
    return list(short)
