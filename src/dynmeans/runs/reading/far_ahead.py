"""Rows far ahead of all others: one alone is not believed, or all after it would be too late."""

from collections.abc import Iterator, Mapping

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.cuts import CutByLength
from dynmeans.runs.reading.durations import NumberLength, parse_lateness
from dynmeans.runs.reading.live_rows import LiveRow, LiveRows
from dynmeans.runs.reading.time_bounds import YEAR
from dynmeans.runs.reading.window import WindowOptions

_WINDOWS = 1000  # by default so many windows, and no less than a year
Sorted = tuple[LiveRow, bool]  # a row, and whether it is taken


class FarAhead:
    """Holds a row back that is far ahead, until the next of its sequence says whether it is odd."""

    def __init__(
        self, rows: LiveRows, options: WindowOptions, latest: Mapping[str, float] | None = None
    ) -> None:
        self._rows, self._options = rows, options
        self._most: float | None = None
        self.latest = dict(latest or {})
        self.held: dict[str, LiveRow] = {}

    def sorted(self, row: LiveRow, sequence: str = "") -> Iterator[Sorted]:
        """Yield the rows that it is known of by now whether they are odd."""
        if row.time is None or not isinstance(self._rows.cut, CutByLength):
            yield row, True
        elif (base := self._base(sequence)) is None:
            yield from self._first(row, sequence)
        elif row.time <= base + self._bound():
            if (held := self.held.pop(sequence, None)) is not None:
                yield held, False
            yield self._taken(row, sequence)
        else:
            held = self.held.pop(sequence, None)
            if held is not None and self._are_near(held, row):
                yield self._taken(held, sequence)
                yield self._taken(row, sequence)
                return
            self.held[sequence] = row
            if held is not None:
                yield held, False

    def _first(self, row: LiveRow, sequence: str) -> Iterator[Sorted]:
        """Of the first two rows the later one is far ahead, where they are not near."""
        if not self.held:
            self.held[sequence] = row
            return
        ((before, held),) = self.held.items()
        pair = sorted([(before, held), (sequence, row)], key=lambda one: self._time(one[1]))
        self.held = {} if self._are_near(held, row) else dict(pair[1:])
        for one, taken in [(before, held), (sequence, row)]:
            if taken not in self.held.values():
                yield self._taken(taken, one)

    def _are_near(self, one: LiveRow, other: LiveRow) -> bool:
        return abs(self._time(one) - self._time(other)) <= self._bound()

    def _base(self, sequence: str) -> float | None:
        """The latest time of a sequence; of all where it has none."""
        found = self.latest.get(sequence)
        return max(self.latest.values(), default=None) if found is None else found

    def rest(self, *, is_all: bool) -> Iterator[LiveRow]:
        """Yield at the end what is held: all, or a row that no other was ever compared with."""
        for sequence in list(self.held) if is_all or not self.latest else ():
            yield self._taken(self.held.pop(sequence), sequence)[0]

    def error(self, row: LiveRow) -> InputError:
        """Say why a row is not taken."""
        length, is_number = self._bound(), self._rows.time_is_number
        ahead = self._time(row) - max(self.latest.values(), default=self._time(row))
        told = f"{ahead:,.6g}" if is_number else f"{ahead / YEAR:,.3g} years"
        allowed = f"{length:,.6g}" if is_number else f"{length / YEAR:,.3g} years"
        return InputError(
            "max_ahead",
            ": {} is {} after all rows around it; one row may be {} ahead",
            self._rows.position_of(row.number),
            told,
            allowed,
            hint="Correct the clock that it came from, or allow for more.",
        )

    def _taken(self, row: LiveRow, sequence: str) -> Sorted:
        time = self._time(row)
        self.latest[sequence] = max(time, self.latest.get(sequence, time))
        return row, True

    def _time(self, row: LiveRow) -> float:
        return 0.0 if row.time is None else row.time

    def _bound(self) -> float:
        if self._most is None:
            cut, is_number = self._rows.cut, bool(self._rows.time_is_number)
            assert isinstance(cut, CutByLength)
            given = self._options.max_ahead
            if given is not None:
                self._most = parse_lateness(given, is_number=is_number, argument="max_ahead")
            else:
                windows = cut.length.start_of(_WINDOWS) - cut.length.start_of(0)
                is_plain = isinstance(cut.length, NumberLength)
                self._most = windows if is_plain else max(windows, float(YEAR))
        return self._most
