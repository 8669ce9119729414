"""Rows of a source in the order of the run, and a place among them."""

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
