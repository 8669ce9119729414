"""Which messages and trajectories are believed: named bounds, every rejection with its reason."""

from dataclasses import dataclass, fields

import numpy as np

from dynmeans.inputs.numbers import check_number
from dynmeans.records.arrays import FloatArray, IntArray
from paper.flights.globe import KM_PER_NAUTICAL_MILE, distance_km
from paper.flights.message_file import Messages
from paper.flights.trajectories import USA, Area, BoolArray, FilterReport

_MAX_SPIKE_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class TrajectoryBounds:
    """What a believable trajectory is.

    Parameters
    ----------
    area : Area
        A trajectory that leaves it is dropped.
    min_points : int
        Fewest messages.
    max_gap : float
        Longest time without a message, in seconds.
    landed_below : float
        An id that is silent for longer than `max_gap` and then appears elsewhere has flown on,
        unless its mean speed in between was below this, in knots: then it has landed, and a new
        trajectory begins.
    min_duration, max_duration : float
        In seconds.
    min_distance : float
        Shortest way between the two places farthest west and east, south and north, in km.
    max_speed : float
        Greatest speed between two messages, in knots. A single message that is too far from both
        its neighbors is removed; a jump that remains drops the trajectory.
    position_error : float
        Distance in km that two messages may be in error: without it, messages a second apart
        would look like jumps.
    max_removed : float
        Greatest share of messages removed as impossible.
    thin : float
        Least time between two messages kept, in seconds; 0 keeps all.
    """

    area: Area = USA
    min_points: int = 15
    max_gap: float = 20 * 60.0
    landed_below: float = 50.0
    min_duration: float = 5 * 60.0
    max_duration: float = 7 * 3600.0
    min_distance: float = 20.0
    max_speed: float = 1500.0
    position_error: float = 5.0
    max_removed: float = 0.1
    thin: float = 0.0

    def __post_init__(self) -> None:
        """Refuse bounds that nothing can keep."""
        if not isinstance(self.area, Area):
            raise TypeError(f"area must be an Area, got {type(self.area).__name__}.")
        for bound in fields(self)[1:]:
            check_number(bound.name, getattr(self, bound.name), at_least=0)
        if self.min_points < 2:
            raise ValueError(f"min_points must be at least 2, got {self.min_points!r}.")
        if self.max_duration <= self.min_duration:
            raise ValueError(
                f"max_duration must be greater than min_duration, got {self.max_duration!r}."
            )


def believable_messages(messages: Messages, report: FilterReport) -> Messages:
    """Drop messages without id, time or place, off the globe or without a speed; count them."""
    is_off = (np.abs(messages.latitudes) > 90) | (np.abs(messages.longitudes) > 180)
    reasons = {
        "no id": messages.codes < 0,
        "no time": ~np.isfinite(messages.times),
        "no position": ~(np.isfinite(messages.latitudes) & np.isfinite(messages.longitudes)),
        "off the globe": is_off,
        "no speed": ~(np.isfinite(messages.speeds) & (messages.speeds >= 0)),
    }
    is_good = count_first_reasons(reasons, len(messages), report.dropped_messages)
    report.n_messages += len(messages)
    return messages.select(np.flatnonzero(is_good))


def sort_messages(messages: Messages, report: FilterReport) -> Messages:
    """Bring the messages into order of id and time; drop those with the time of another."""
    by_id = np.argsort(messages.codes, kind="stable")
    is_same = np.diff(messages.codes[by_id]) == 0
    is_back = np.diff(messages.times[by_id]) < 0
    report.n_out_of_order += int(np.count_nonzero(is_same & is_back))
    ordered = messages.select(np.lexsort([messages.times, messages.codes]))
    is_copy = np.zeros(len(ordered), dtype=bool)
    is_copy[1:] = (np.diff(ordered.codes) == 0) & (np.diff(ordered.times) == 0)
    _count(report.dropped_messages, "same id and time as another", is_copy)
    return ordered.select(np.flatnonzero(~is_copy))


def split_legs(messages: Messages, bounds: TrajectoryBounds) -> IntArray:
    """Number the trajectory of each message: one id has several if it landed in between."""
    seconds = np.diff(messages.times)
    has_landed = seconds > bounds.max_gap
    has_landed &= _step_speeds(messages, np.arange(len(seconds)), 1) < bounds.landed_below
    is_new = (np.diff(messages.codes) != 0) | has_landed
    return np.concatenate([[0], np.cumsum(is_new)]).astype(np.int64)[: len(messages)]


def remove_spikes(
    messages: Messages, legs: IntArray, bounds: TrajectoryBounds, report: FilterReport
) -> tuple[Messages, IntArray, IntArray]:
    """Drop single messages that no aircraft could reach; also return how many each leg lost."""
    n_removed = np.zeros(int(legs[-1]) + 1 if len(legs) else 0, dtype=np.int64)
    for _ in range(_MAX_SPIKE_ROUNDS):
        is_spike = _find_spikes(messages, legs, bounds)
        if not is_spike.any():
            break
        n_removed += np.bincount(legs[is_spike], minlength=len(n_removed))
        messages, legs = messages.select(np.flatnonzero(~is_spike)), legs[~is_spike]
    reason = "impossible jump to and from it"
    report.dropped_messages[reason] = report.dropped_messages.get(reason, 0) + int(n_removed.sum())
    return messages, legs, n_removed


def thin_out(messages: Messages, legs: IntArray, seconds: float) -> BoolArray:
    """Tell which messages to keep: the first of each leg in each stretch of so many seconds."""
    if seconds == 0:
        return np.ones(len(messages), dtype=bool)
    starts = np.flatnonzero(np.diff(legs, prepend=-1))
    since_start = messages.times - np.repeat(
        messages.times[starts], np.diff(starts, append=len(legs))
    )
    stretch = np.floor(since_start / seconds)
    is_last = np.append(np.diff(legs) != 0, True)
    is_first = np.append(True, (np.diff(stretch) != 0) | (np.diff(legs) != 0))
    return np.asarray(is_first | is_last)


def believable_legs(
    messages: Messages,
    legs: IntArray,
    n_removed: IntArray,
    bounds: TrajectoryBounds,
    report: FilterReport,
) -> BoolArray:
    """Tell which legs are kept, and count the reasons of the others."""
    n_legs = len(n_removed)
    sizes = np.bincount(legs, minlength=n_legs)
    same_leg = np.diff(legs) == 0
    steps = np.flatnonzero(same_leg)
    seconds = np.diff(messages.times)[steps]
    speeds = _step_speeds(messages, steps, 1, bounds.position_error)

    def any_of(rows: IntArray, is_bad: BoolArray) -> BoolArray:
        return np.asarray(np.bincount(rows[is_bad], minlength=n_legs) > 0)

    duration, extent = _span(messages.times, legs, n_legs), _extents(messages, legs, n_legs)
    inside = bounds.area.contains(messages.latitudes, messages.longitudes)
    reasons = {
        "one message": sizes + n_removed <= 1,
        f"fewer than {bounds.min_points} messages": sizes < bounds.min_points,
        "leaves the area": any_of(legs, ~inside),
        f"silent in flight for more than {bounds.max_gap / 60:g} minutes": any_of(
            legs[steps], seconds > bounds.max_gap
        ),
        f"jumps at more than {bounds.max_speed:g} knots": any_of(
            legs[steps], speeds > bounds.max_speed
        )
        | (n_removed > bounds.max_removed * (sizes + n_removed)),
        f"longer than {bounds.max_duration / 3600:g} hours": duration > bounds.max_duration,
        f"shorter than {bounds.min_duration / 60:g} minutes": duration < bounds.min_duration,
        f"moves less than {bounds.min_distance:g} km": extent < bounds.min_distance,
    }
    is_good = count_first_reasons(reasons, n_legs, report.dropped_trajectories)
    report.n_trajectories += n_legs
    report.n_kept += int(np.count_nonzero(is_good))
    return is_good


def count_first_reasons(
    reasons: dict[str, BoolArray], n_rows: int, counts: dict[str, int]
) -> BoolArray:
    """Count each row under the first reason that holds; tell which rows have none."""
    is_good = np.ones(n_rows, dtype=bool)
    for reason, holds in reasons.items():
        _count(counts, reason, is_good & holds)
        is_good &= ~holds
    return is_good


def _count(counts: dict[str, int], reason: str, holds: BoolArray) -> None:
    counts[reason] = counts.get(reason, 0) + int(np.count_nonzero(holds))


def _step_speeds(messages: Messages, rows: IntArray, ahead: int, error: float = 0.0) -> FloatArray:
    """Knots needed from each row to the one so many ahead, the positions' error taken off."""
    other = rows + ahead
    km = distance_km(
        messages.latitudes[rows],
        messages.longitudes[rows],
        messages.latitudes[other],
        messages.longitudes[other],
    )
    hours = (messages.times[other] - messages.times[rows]) / 3600
    with np.errstate(divide="ignore", invalid="ignore"):
        speeds = np.maximum(km - error, 0.0) / KM_PER_NAUTICAL_MILE / hours
    return np.where(hours > 0, speeds, np.inf)


def _find_spikes(messages: Messages, legs: IntArray, bounds: TrajectoryBounds) -> BoolArray:
    """Messages too far from their neighbors, where these are in reach of each other.

    At the ends of a leg there is one neighbor, which must be in reach of the next.
    """
    is_spike = np.zeros(len(messages), dtype=bool)
    rows = np.flatnonzero(legs[:-2] == legs[2:])
    into, out_of, across = (
        _step_speeds(messages, start, ahead, bounds.position_error) > bounds.max_speed
        for start, ahead in ((rows, 1), (rows + 1, 1), (rows, 2))
    )
    is_spike[rows[into & out_of & ~across] + 1] = True
    is_first = np.diff(legs, prepend=-1)[rows] != 0
    is_last = np.diff(legs, append=-1)[rows + 2] != 0
    is_spike[rows[is_first & into & ~out_of]] = True
    is_spike[rows[is_last & out_of & ~into] + 2] = True
    return is_spike


def _extents(messages: Messages, legs: IntArray, n_legs: int) -> FloatArray:
    """Diagonal of the rectangle around each leg, in km."""
    south, west = (_lowest(x, legs, n_legs) for x in (messages.latitudes, messages.longitudes))
    north = south + _span(messages.latitudes, legs, n_legs)
    east = west + _span(messages.longitudes, legs, n_legs)
    return distance_km(south, west, north, east)


def _lowest(values: FloatArray, legs: IntArray, n_legs: int) -> FloatArray:
    lowest = np.full(n_legs, np.inf)
    np.minimum.at(lowest, legs, values)
    return np.where(np.isfinite(lowest), lowest, 0.0)


def _span(values: FloatArray, legs: IntArray, n_legs: int) -> FloatArray:
    highest = -_lowest(-values, legs, n_legs)
    return highest - _lowest(values, legs, n_legs)
