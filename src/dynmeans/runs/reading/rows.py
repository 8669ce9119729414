"""Rows of a source in the order of the run, a place among them, and a digest of those before."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.records.arrays import BatchArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows in the order of the run, without those that were dropped."""

    places: IntArray  # in the order of the run, dropped rows counted
    numbers: IntArray  # in the source
    points: BatchArray
    columns: dict[str, Any]  # time, batch, weight, id, truth: those there are

    def cut(self, begin: int, end: int) -> "Rows":
        """Return the rows from `begin` to before `end`."""
        columns = {name: values[begin:end] for name, values in self.columns.items()}
        part = slice(begin, end)
        return Rows(self.places[part], self.numbers[part], self.points[part], columns)

    @classmethod
    def join(cls, parts: "list[Rows]") -> "Rows":
        """Put parts together that follow each other."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.places for part in parts]),
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.points for part in parts]),
            {k: np.concatenate([part.columns[k] for part in parts]) for k in parts[0].columns},
        )


@dataclass(frozen=True, slots=True)
class Position:
    """Where an earlier pass stopped: rows read, and the last of them, if it is known."""

    rows_read: int
    last_row: int | None = None
    last_time: float | None = None


class RollingDigest:
    """A rolling checksum (CRC-32) of rows in any pieces: an edit of the past is noticed."""

    def __init__(self) -> None:
        self._sums: dict[str, int] = {}
        self._place = 0

    @property
    def value(self) -> dict[str, int]:
        """The checksum of each column so far."""
        return dict(self._sums)

    def feed(self, rows: Rows | None, end: int) -> None:
        """Process the rows up to place `end`; places that they leave out were dropped."""
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
