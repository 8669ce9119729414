"""A rolling checksum (CRC-32) of the rows read so far: an edit of the past is noticed on resume."""

import zlib
from typing import Any

import numpy as np

from dynmeans.runs.reading.rows import Rows


class RollingDigest:
    """Takes rows in, in any pieces, and says what it has seen so far.

    Examples
    --------
    >>> whole, pieces = RollingDigest(), RollingDigest()
    >>> rows = Rows(np.arange(3), np.arange(3), np.arange(6.0).reshape(3, 2), {})
    >>> whole.feed(rows, end=3)
    >>> pieces.feed(rows.cut(0, 1), end=1)
    >>> pieces.feed(rows.cut(1, 3), end=3)
    >>> whole.value == pieces.value
    True
    """

    def __init__(self) -> None:
        self._sums: dict[str, int] = {}
        self._place = 0

    @property
    def value(self) -> dict[str, int]:
        """The checksum of each column so far."""
        return dict(self._sums)

    def feed(self, rows: Rows | None, end: int) -> None:
        """Take in the rows up to place `end`; places that they leave out were dropped."""
        n_rows = 0
        if rows is not None:
            n_rows = len(rows.places)
            self._add("points", rows.points)
            for name, values in rows.columns.items():
                self._add(name, _text(values) if values.dtype == object else values)
            # In a table that is in order, a row's number is its place.
            is_moved = rows.numbers != rows.places
            if is_moved.any():
                pairs = np.column_stack([rows.places[is_moved], rows.numbers[is_moved]])
                self._add("moved", pairs)
        if n_rows != end - self._place:
            places = np.arange(self._place, end)
            self._add("dropped", places if rows is None else np.setdiff1d(places, rows.places))
        self._place = end

    def _add(self, name: str, values: Any) -> None:
        data = values if isinstance(values, bytes) else np.ascontiguousarray(values).data
        self._sums[name] = zlib.crc32(data, self._sums.get(name, 0))


def _text(values: Any) -> bytes:
    return "".join(f"{value}\x1f" for value in values).encode()
