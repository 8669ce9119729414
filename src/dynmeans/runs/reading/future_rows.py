"""Rows far ahead of all others are not believed until several agree: no wrong clock ends a stream.

A step ahead of the latest time is taken as it comes. A row beyond that, but within the bound, is
put into its window, which stays open: only rows that agree move the latest time on. A row beyond
the bound is held back until they do, and refused when the next row of its sequence is within the
bound. What is decided depends on rows alone, and on what a position stores.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

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

Decision = tuple[Any, bool]  # the number of a row that was held back, and whether it is taken


class Limits(NamedTuple):
    """How far one row may be ahead by the options: to be in its window, and to be ordinary."""

    bound: float
    step: float


def limits_of(rows: LiveRows, options: WindowOptions) -> Limits | None:
    """Return the limits once columns are known; None if windows are not cut by time."""
    cut, given = rows.cut, options.max_ahead
    if not isinstance(cut, TimeWindowRule):
        return None
    first = cut.length.start_of(0)
    bound = cut.length.start_of(BOUND_WINDOWS) - first
    if given is not None:
        is_number = bool(rows.time_is_number)
        bound = parse_lateness(given, is_number=is_number, argument="max_ahead")
    step = max(cut.length.start_of(STEP_WINDOWS) - first, rows.allowed_lateness)
    return Limits(bound, min(bound, step))


class Ahead(NamedTuple):
    """A row that is ahead: `is_read` is false until it is read again after a stop."""

    number: Any
    time: float
    is_held: bool = True  # or put into its window
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class FutureRowFilter:
    """Up to which time rows agree (`latest`, by sequence), and the rows that are ahead of it.

    A value: `take`, `give_again` and `end` return the next one, and what is decided by now.
    """

    latest: Mapping[str, float] = field(default_factory=dict)
    largest: float = 0.0  # step between rows
    n_steps: int = 0
    ahead: Mapping[str, tuple[Ahead, ...]] = field(default_factory=dict)

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> "FutureRowFilter":
        """Read what a position keeps: rows that are held back were not read again yet."""
        largest, n_steps = stored.get("steps", (0.0, 0))
        ahead = {
            sequence: tuple(Ahead((sequence, n), time, held, not held) for n, time, held in some)
            for sequence, some in stored.get("ahead", {}).items()
        }
        return cls(dict(stored.get("latest", {})), largest, n_steps, ahead)

    def to_json_state(self) -> dict[str, Any]:
        """Return what a position keeps; numbers of rows are sequence and offset."""
        found: dict[str, Any] = {"latest": dict(self.latest)}
        if self.n_steps:
            found["steps"] = [self.largest, self.n_steps]
        ahead = {
            sequence: [[one.number[1], one.time, one.is_held] for one in some]
            for sequence, some in self.ahead.items()
        }
        return found | ({"ahead": ahead} if ahead else {})

    def take(
        self,
        limits: Limits,
        number: Any,
        time: float,
        sequence: str = "",
        behind: Collection[str] = (),
    ) -> tuple["FutureRowFilter", list[Decision]]:
        """Take a row; a sequence that is `behind` the others is compared with its own rows."""
        one = Ahead(number, time)
        if not self.latest:
            return self._with(sequence, (*self.ahead.get(sequence, ()), one))._first(limits)
        after, found = self._decide(limits, one, sequence, behind)
        if not after.ahead:
            return after, found
        after, more = after._catch_up(sequence, behind)
        return after, found + more

    def awaits(self, number: Any) -> bool:
        """Return whether a row is held back, and was not read again yet."""
        some = self.ahead.get(number[0], ())
        return any(one.number == number and not one.is_read for one in some)

    def give_again(self, limits: Limits, number: Any) -> tuple["FutureRowFilter", list[Decision]]:
        """Take a row that was held back and is read again."""
        some = self.ahead[number[0]]
        read = [one._replace(is_read=one.is_read or one.number == number) for one in some]
        after = self._with(number[0], tuple(read))
        return (after, []) if self.latest else after._first(limits)

    def end(self, *, is_all: bool) -> tuple["FutureRowFilter", list[Decision]]:
        """Take what is held at the end: all, or a row that no other was ever compared with."""
        if self.latest and not is_all:
            return self, []
        after, found = replace(self, ahead={}), list[Decision]()
        for sequence, some in self.ahead.items():
            held = [one for one in some if one.is_held and one.is_read]
            after = after._reach(sequence, *(one.time for one in held))
            found += [(one.number, True) for one in held]
        return after, found

    @property
    def first_held(self) -> float:
        """The earliest time of the rows that are held back."""
        some = (one.time for each in self.ahead.values() for one in each if one.is_held)
        return min(some, default=float("inf"))

    def bound(self, limits: Limits) -> float:
        """How far one row may be ahead to be put into its window."""
        return max(limits.bound, self._step(limits))

    def _step(self, limits: Limits) -> float:
        """How far one row may be ahead to be an ordinary one."""
        return max(limits.step, 2 * self.largest)

    def _first(self, limits: Limits) -> tuple["FutureRowFilter", list[Decision]]:
        """Of the first two rows the later one is held back, if it is far ahead."""
        some = [(one, name) for name, each in self.ahead.items() for one in each]
        if len(some) < 2 or not all(one.is_read for one, _ in some):
            return self, []
        limit = min(one.time for one, _ in some) + self.bound(limits)
        after, found = replace(self, ahead={}), list[Decision]()
        for one, sequence in some:
            if one.time > limit:
                after = after._with(sequence, (*after.ahead.get(sequence, ()), one))
            else:
                after = after._reach(sequence, one.time)
                found += _decide_row(one)
        return after, found

    def _decide(
        self, limits: Limits, one: Ahead, sequence: str, behind: Collection[str]
    ) -> tuple["FutureRowFilter", list[Decision]]:
        base, before = self._base(sequence, behind), self.ahead.get(sequence, ())
        if one.time <= base + self._step(limits):
            if not before:
                return self._ordinary(sequence, one.time, base), _decide_row(one)
            settled, _ = _place_or_refuse(before, base + self._step(limits))
            times = (other.time for other, is_taken in settled if is_taken)
            after = self._with(sequence, ())._reach(sequence, one.time, *times)
            found = [(other.number, is_taken) for other, is_taken in settled]
            return after._learn(one.time - base), [*found, *_decide_row(one)]
        found = list[Decision]()
        if one.time <= base + self.bound(limits):
            settled, before = _place_or_refuse((*before, one), base + self.bound(limits))
            found = [(other.number, is_taken) for other, is_taken in settled]
        else:
            before = (*before, one)
        after = self._with(sequence, before)
        if not after._is_moved(limits, sequence):
            return after, found
        after, more = after._move(limits, sequence, behind)
        return after, found + more

    def _is_moved(self, limits: Limits, sequence: str) -> bool:
        """Return whether the rows ahead are where the stream is now."""
        some = self.ahead.get(sequence, ())
        last = sorted(one.time for one in some[-N_AGREEING:])
        is_close = len(last) == N_AGREEING and _widest(last) <= self._step(limits)
        if is_close and len({*last}) >= _N_TIMES:
            return True
        n_enough = _N_MOVED
        if self.n_steps < _N_LEARNED:
            if len(some) >= _N_NEAR_EARLY and not any(one.is_held for one in some):
                return True
            n_enough = _N_MOVED_EARLY
        is_enough = len(some) % n_enough == 0 and len({one.time for one in some}) >= _N_TIMES
        return is_enough or len(some) >= _N_MOST

    def _move(
        self, limits: Limits, sequence: str, behind: Collection[str]
    ) -> tuple["FutureRowFilter", list[Decision]]:
        """Go to where the last rows are, and decide on all again from there."""
        some, before = self.ahead[sequence], self._base(sequence, behind)
        times = sorted(one.time for one in some[-N_AGREEING:])
        after = self._with(sequence, ())._learn(_widest(times))
        now = times[(len(times) - 1) // 2]
        if after.n_steps < _N_LEARNED and now <= before + after.bound(limits):
            after = after._learn(now - before)
        after, found = after._reach(sequence, now), list[Decision]()
        for one in some:
            after, more = after._decide(limits, one, sequence, behind)
            found += more
        return after, found

    def _catch_up(
        self, sequence: str, behind: Collection[str]
    ) -> tuple["FutureRowFilter", list[Decision]]:
        """Take rows of other sequences that this one has caught up with."""
        after, found = self, list[Decision]()
        for other in [name for name in self.ahead if name != sequence and name not in behind]:
            limit, some = max(after.latest.values()), after.ahead[other]
            near = [one for one in some if one.time <= limit and one.is_read]
            if near:
                rest = tuple(one for one in some if one not in near)
                after = after._with(other, rest)._reach(other, *(one.time for one in near))
                found += [decision for one in near for decision in _decide_row(one)]
        return after, found

    def _with(self, sequence: str, some: tuple[Ahead, ...]) -> "FutureRowFilter":
        """Return the value with these rows ahead in a sequence."""
        if not some and sequence not in self.ahead:
            return self
        others = {name: each for name, each in self.ahead.items() if name != sequence}
        return replace(self, ahead=others | {sequence: some} if some else others)

    def _reach(self, sequence: str, *times: float) -> "FutureRowFilter":
        known = self.latest.get(sequence)
        latest = max(times if known is None else (known, *times), default=None)
        if latest is None or latest == known:
            return self
        return replace(self, latest={**self.latest, sequence: latest})

    def _base(self, sequence: str, behind: Collection[str]) -> float:
        """The latest time of all; of a sequence that is behind, its own."""
        own = self.latest.get(sequence) if sequence in behind else None
        return max(self.latest.values()) if own is None else own

    def _ordinary(self, sequence: str, time: float, base: float) -> "FutureRowFilter":
        """Reach the time of an ordinary row, and note how far it is from the base."""
        known = self.latest.get(sequence)
        if known is None or time > known:
            latest: Mapping[str, float] = {**self.latest, sequence: time}
        elif time <= base:
            return self
        else:
            latest = self.latest
        after = FutureRowFilter(latest, self.largest, self.n_steps, self.ahead)
        return after._learn(time - base)

    def _learn(self, step: float) -> "FutureRowFilter":
        """Note how far apart rows usually are."""
        if step <= 0:
            return self
        largest, n_steps = max(step, self.largest * _FADING), min(self.n_steps + 1, _N_LEARNED)
        return FutureRowFilter(self.latest, largest, n_steps, self.ahead)


def ahead_error(far: FutureRowFilter, limits: Limits, row: LiveRow, rows: LiveRows) -> InputError:
    """Return why a row is not taken."""
    assert row.time is not None
    is_number = bool(rows.time_is_number)
    ahead = row.time - max(far.latest.values(), default=row.time)
    return InputError(
        "max_ahead",
        ": {} is {} ahead of all other rows; at most {} is allowed",
        rows.position_of(row.number),
        in_words(ahead, is_number=is_number),
        in_words(far.bound(limits), is_number=is_number),
        hint="Correct the clock of its source, or set a larger {max_ahead}.",
    )


def _decide_row(one: Ahead) -> list[Decision]:
    return [(one.number, True)] if one.is_held and one.is_read else []


def _place_or_refuse(
    some: Iterable[Ahead], limit: float
) -> tuple[list[tuple[Ahead, bool]], tuple[Ahead, ...]]:
    """Place rows up to the limit, which may have grown, and refuse others that were held."""
    found = [(one, one.time <= limit) for one in some if one.is_held and one.is_read]
    placed = [one._replace(is_held=False) for one in some if not one.is_held or one.time <= limit]
    return found, tuple(placed)


def _widest(times: list[float]) -> float:
    """Return the largest gap between times in their order."""
    return max((later - before for before, later in pairwise(times)), default=0.0)
