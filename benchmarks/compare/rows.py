"""Rows of a comparison: measured once, one line each in a results file, repeated on request."""

import json
import time
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.machine import RESULTS, commit, is_unchanged_since, machine

Row = dict[str, Any]
KEYS = ("data", "seed", "method")  # what names a row
_MEASURED = ("seconds", "commit")  # what another run may give otherwise


class Rows:
    """The rows of one results file.

    Parameters
    ----------
    name : str
        Name of the file in benchmarks/results/compare.
    again : str, optional
        Rows whose method has this in its name are measured again, unless the code has not changed
        since they were measured: a run that was stopped continues.
    only : str, optional
        Rows that have not this in their data or method are left out.
    """

    def __init__(self, name: str, again: str | None = None, only: str = "") -> None:
        self.path = RESULTS / "compare" / f"{name}.json"
        self.again, self.only = again, only

    def read(self) -> list[Row]:
        """Return the rows that there are."""
        return list(json.loads(self.path.read_text())["rows"]) if self.path.exists() else []

    def measure(self, key: Row, score: Callable[[], Row]) -> None:
        """Measure a row, unless it is there, and write it."""
        name = _name(key)
        text = f"{key['data']}, {key['method']}"
        is_again = self.again is not None and self.again in key["method"]
        found = [row["commit"] for row in self.read() if _name(row) == name]
        if self.only not in text or (found and (not is_again or is_unchanged_since(found[0]))):
            return
        row = measured(key, score)
        print(" ".join(f"{name}={value}" for name, value in row.items()), flush=True)
        self._write([*(other for other in self.read() if _name(other) != name), row])

    def _write(self, rows: list[Row]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        rows.sort(key=lambda row: tuple(map(str, _name(row))))
        lines = ",\n".join("  " + json.dumps(row) for row in rows)
        head = json.dumps(machine())
        self.path.write_text(f'{{\n "machine": {head},\n "rows": [\n{lines}\n ]\n}}\n')


class Repeated(Rows):
    """Rows that are measured again to be compared with the file, which stays as it is."""

    def __init__(self, name: str, is_wanted: Callable[[Row], bool]) -> None:
        super().__init__(name)
        self.is_wanted, self.repeated = is_wanted, list[Row]()

    def measure(self, key: Row, score: Callable[[], Row]) -> None:
        """Measure a row if it is wanted."""
        if self.is_wanted(key):
            self.repeated.append(measured(key, score))


def measured(key: Row, score: Callable[[], Row]) -> Row:
    """Return the row: its key, its scores to four digits, and the time they took."""
    started = time.perf_counter()
    scores = score()
    taken = {"seconds": time.perf_counter() - started, **scores}
    return key | {name: _rounded(value) for name, value in taken.items()} | {"commit": commit()}


def differences(rows: Iterable[Row], repeated: Iterable[Row]) -> list[str]:
    """Return what the repeated rows have otherwise; times may differ."""
    known = {_name(row): row for row in rows}
    found = []
    for row in repeated:
        before = known.get(_name(row))
        if before is None:
            found.append(f"{_name(row)}: not among the rows")
            continue
        found += [
            f"{_name(row)}: {name} is {row[name]}, was {before[name]}"
            for name in row
            if name not in _MEASURED and row[name] != before.get(name)
        ]
    return found


def _name(row: Row) -> tuple[Any, ...]:
    return tuple(row[key] for key in KEYS)


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value
