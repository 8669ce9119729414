"""Rows far ahead of all others are not believed until several agree: no wrong clock ends a stream.

A step ahead of the latest time is taken as it comes. A row beyond that, but within the bound, is
put into its window, which stays open: only rows that agree move the latest time on. A row beyond
the bound is held back until they do, and refused when the next row of its sequence is within the
bound. What is decided depends on rows alone, and on what a position stores.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.durations import in_words, parse_lateness
from dynmeans.runs.reading.live_rows import LiveRow, LiveRows
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.window_rules import TimeWindowRule

# By default. A step is no less than the allowed lateness, nor than twice what is usual
# in the stream.
BOUND_WINDOWS, STEP_WINDOWS = 100, 2
N_AGREEING = 10  # rows one after the other, of three times at least, none further apart than a step
_N_TIMES = 3
# So many rows without an ordinary one in between have moved on, even if they do not agree; fewer
# while it is not known yet how far apart rows usually are; more if they have one and the same time.
_N_MOVED, _N_MOVED_EARLY, _N_MOST = 100, N_AGREEING, 10_000
_N_NEAR_EARLY = 3  # and that few if all are within the bound
_N_LEARNED = 30  # steps after which it is known
_FADING = 0.97  # of the largest step, with each later one

Sorted = tuple[LiveRow, bool]  # a row, and whether it is taken


@dataclass(slots=True, eq=False)
class Ahead:
    """A row that is ahead; `row` is None until it is read again after a stop."""

    number: Any
    time: float
    row: LiveRow | None
    is_held: bool = True  # or put into its window


class FutureRowFilter:
    """Says which rows are taken, and up to which time rows agree (`latest`, by sequence)."""

    def __init__(
        self, rows: LiveRows, options: WindowOptions, stored: Mapping[str, Any] | None = None
    ) -> None:
        stored = stored or {}
        self._rows, self._options = rows, options
        self._largest: float
        self._n_steps: int
        self._bounds: tuple[float, float] | None = None
        self.latest: dict[str, float] = dict(stored.get("latest", {}))
        self._largest, self._n_steps = stored.get("steps", (0.0, 0))
        self._ahead = {
            sequence: [Ahead((sequence, number), time, None, held) for number, time, held in some]
            for sequence, some in stored.get("ahead", {}).items()
        }

    def to_json_state(self) -> dict[str, Any]:
        """Return what a position keeps; numbers of rows are sequence and offset."""
        found: dict[str, Any] = {"latest": dict(self.latest)}
        if self._n_steps:
            found["steps"] = [self._largest, self._n_steps]
        ahead = {
            sequence: [[one.number[1], one.time, one.is_held] for one in some]
            for sequence, some in self._ahead.items()
            if some
        }
        return found | ({"ahead": ahead} if ahead else {})

    def sorted(
        self, row: LiveRow, sequence: str = "", behind: Collection[str] = ()
    ) -> list[Sorted]:
        """Return the rows that it is known of by now whether they are taken.

        A sequence that is `behind` the others is compared with its own rows.
        """
        if row.time is None or not isinstance(self._rows.cut, TimeWindowRule):
            return [(row, True)]
        one = Ahead(row.number, row.time, row)
        if self.latest:
            return [*self._decide(one, sequence, behind), *self._reaches(sequence, behind)]
        self._ahead.setdefault(sequence, []).append(one)
        return self._first()

    def awaits(self, sequence: str, number: Any) -> bool:
        """Say whether a row is held back, and was not read again yet."""
        return self._find(sequence, number) is not None

    def give_again(self, row: LiveRow, sequence: str) -> list[Sorted]:
        """Take a held row that was read again; return the rows that are known of now."""
        one = self._find(sequence, row.number[1])
        assert one is not None
        one.row = row
        return [] if self.latest else self._first()

    def rest(self, *, is_all: bool) -> Iterator[LiveRow]:
        """Yield at the end what is held: all, or a row that no other was ever compared with."""
        for sequence in list(self._ahead) if is_all or not self.latest else ():
            for one in self._ahead.pop(sequence):
                if one.is_held and one.row is not None:
                    self._reach(one.time, sequence)
                    yield one.row

    @property
    def held(self) -> list[LiveRow]:
        """The rows that are held back."""
        some = (one for each in self._ahead.values() for one in each if one.is_held)
        return [one.row for one in some if one.row is not None]

    @property
    def first_held(self) -> float:
        """The earliest time of the rows that are held back."""
        some = (one.time for each in self._ahead.values() for one in each if one.is_held)
        return min(some, default=float("inf"))

    def error(self, row: LiveRow) -> InputError:
        """Say why a row is not taken."""
        assert row.time is not None
        is_number = bool(self._rows.time_is_number)
        ahead = row.time - max(self.latest.values(), default=row.time)
        return InputError(
            "max_ahead",
            ": {} is {} after all rows around it; one row may be {} ahead",
            self._rows.position_of(row.number),
            in_words(ahead, is_number=is_number),
            in_words(self._bound(), is_number=is_number),
            hint="Correct the clock that it came from, or allow for more.",
        )

    def _find(self, sequence: str, number: Any) -> Ahead | None:
        """Return the row of that number that was not read again yet."""
        some = (one for one in self._ahead.get(sequence, ()) if one.is_held and one.row is None)
        return next((one for one in some if one.number[1] == number), None)

    def _first(self) -> list[Sorted]:
        """Of the first two rows the later one is held back, if it is far ahead."""
        some = [(one, name) for name, each in self._ahead.items() for one in each]
        if len(some) < 2 or any(one.row is None for one, _ in some):
            return []
        limit = min(one.time for one, _ in some) + self._bound()
        self._ahead = {}
        found = list[Sorted]()
        for one, sequence in some:
            if one.time > limit:
                self._ahead.setdefault(sequence, []).append(one)
            else:
                found += self._take(one, sequence)
        return found

    def _decide(self, one: Ahead, sequence: str, behind: Collection[str]) -> list[Sorted]:
        base, before = self._base(sequence, behind), self._ahead.pop(sequence, [])
        if one.time <= base + self._step():
            found, _ = self._correct_index(before, base + self._step())
            for row, is_taken in found:
                if is_taken and row.time is not None:
                    self._reach(row.time, sequence)
            self._learn(one.time - base)
            return [*found, *self._take(one, sequence)]
        found = list[Sorted]()
        if one.time <= base + self._bound():
            found, before = self._correct_index([*before, one], base + self._bound())
        else:
            before.append(one)
        self._ahead[sequence] = before
        return [*found, *self._shift(sequence, behind)] if self._is_moved(sequence) else found

    def _correct_index(self, some: list[Ahead], limit: float) -> tuple[list[Sorted], list[Ahead]]:
        """Place rows up to the limit, which may have grown, and refuse others that were held."""
        found = [
            (one.row, one.time <= limit) for one in some if one.is_held and one.row is not None
        ]
        placed = [one for one in some if not one.is_held or one.time <= limit]
        for one in placed:
            one.is_held = False
        return found, placed

    def _is_moved(self, sequence: str) -> bool:
        """Say whether the rows ahead are where the stream is now."""
        some = self._ahead[sequence]
        last = sorted(one.time for one in some[-N_AGREEING:])
        if len(last) == N_AGREEING and _n_times(last) >= _N_TIMES and _widest(last) <= self._step():
            return True
        n_enough = _N_MOVED
        if self._n_steps < _N_LEARNED:
            if len(some) >= _N_NEAR_EARLY and not any(one.is_held for one in some):
                return True
            n_enough = _N_MOVED_EARLY
        is_enough = len(some) % n_enough == 0 and _n_times(one.time for one in some) >= _N_TIMES
        return is_enough or len(some) >= _N_MOST

    def _shift(self, sequence: str, behind: Collection[str]) -> list[Sorted]:
        """Go to where the last rows are, and decide on all again from there."""
        some, before = self._ahead.pop(sequence), self._base(sequence, behind)
        times = sorted(one.time for one in some[-N_AGREEING:])
        self._learn(_widest(times))
        now = times[(len(times) - 1) // 2]
        if self._n_steps < _N_LEARNED and now <= before + self._bound():
            self._learn(now - before)
        self._reach(now, sequence)
        return [found for one in some for found in self._decide(one, sequence, behind)]

    def _reaches(self, sequence: str, behind: Collection[str]) -> list[Sorted]:
        """Take rows of other sequences that this one has caught up with."""
        found = list[Sorted]()
        for other in [name for name in self._ahead if name != sequence and name not in behind]:
            limit, some = max(self.latest.values()), self._ahead[other]
            near = [one for one in some if one.time <= limit and one.row is not None]
            if near:
                self._ahead[other] = [one for one in some if one not in near]
                found += [row for one in near for row in self._take(one, other)]
        return found

    def _take(self, one: Ahead, sequence: str) -> list[Sorted]:
        self._reach(one.time, sequence)
        return [(one.row, True)] if one.is_held and one.row is not None else []

    def _reach(self, time: float, sequence: str) -> None:
        self.latest[sequence] = max(time, self.latest.get(sequence, time))

    def _base(self, sequence: str, behind: Collection[str]) -> float:
        """The latest time of all; of a sequence that is behind, its own."""
        own = self.latest.get(sequence) if sequence in behind else None
        return max(self.latest.values()) if own is None else own

    def _learn(self, step: float) -> None:
        """Note how far apart rows usually are."""
        if step > 0:
            self._largest = max(step, self._largest * _FADING)
            self._n_steps = min(self._n_steps + 1, _N_LEARNED)

    def _step(self) -> float:
        """How far one row may be ahead to be an ordinary one."""
        return max(self._lengths()[1], 2 * self._largest)

    def _bound(self) -> float:
        """How far one row may be ahead to be put into its window."""
        return max(self._lengths()[0], self._step())

    def _lengths(self) -> tuple[float, float]:
        """Return the bound and the step that the options ask for."""
        if self._bounds is None:
            cut, given = self._rows.cut, self._options.max_ahead
            assert isinstance(cut, TimeWindowRule)
            first = cut.length.start_of(0)
            bound = cut.length.start_of(BOUND_WINDOWS) - first
            if given is not None:
                is_number = bool(self._rows.time_is_number)
                bound = parse_lateness(given, is_number=is_number, argument="max_ahead")
            step = max(cut.length.start_of(STEP_WINDOWS) - first, self._rows.allowed_lateness)
            self._bounds = bound, min(bound, step)
        return self._bounds


def _widest(times: list[float]) -> float:
    """Return the largest gap between times in their order."""
    return max((later - before for before, later in pairwise(times)), default=0.0)


def _n_times(times: Iterable[float]) -> int:
    return len({*times})
