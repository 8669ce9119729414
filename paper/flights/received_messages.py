"""What receivers on the ground hear of flights: with noise, gaps and errors."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dynmeans.records.arrays import FloatArray, IntArray
from paper.flights.flight_paths import FlightPaths
from paper.flights.globe import KM_PER_NAUTICAL_MILE, displacement
from paper.flights.trajectories import BoolArray

_LOOK_AHEAD = 20.0  # seconds over which speed and heading are measured
_KM_A_DEGREE = 111.195
_POSITION_DEGREES, _SPEED_KNOTS, _HEADING_DEGREES = 0.002, 3.0, 1.0  # standard deviations
_MISSED = 0.03  # share of messages
_GAP_SHARE, _GAP_MINUTES = 0.3, (2.0, 12.0)
_HOLE_MINUTES = (25.0, 60.0)
_FEW_MESSAGES = 8
_JUMP_DEGREES = 9.0
_BROKEN_KINDS = 4  # a hole, few messages, a jump, out of the area
# Shares of messages with each error.
_SPIKES, _OFF_GLOBE, _EMPTY, _COPIES, _LATE = 0.0005, 0.0005, 0.001, 0.002, 0.005


@dataclass(frozen=True, slots=True, eq=False)
class ReceivedMessages:
    """Messages in the order they came in.

    Attributes
    ----------
    flights : IntArray of shape (n_messages,)
        Row of the flight.
    times : FloatArray of shape (n_messages,)
        Seconds since 1970 (UTC).
    latitudes, longitudes, speeds, headings : FloatArray of shape (n_messages,)
        Degrees and knots; NaN where a message came in empty.
    """

    flights: IntArray
    times: FloatArray
    latitudes: FloatArray
    longitudes: FloatArray
    speeds: FloatArray
    headings: FloatArray

    def to_table(self, flight_ids: list[str]) -> pa.Table:
        """Return the messages as an Arrow table."""
        ids = pa.DictionaryArray.from_arrays(pa.array(self.flights), pa.array(flight_ids))
        columns = {"flight": ids.cast(pa.string()), "time": self.times}
        for name in ("latitudes", "longitudes", "speeds", "headings"):
            columns[name[:-1]] = pa.array(getattr(self, name), from_pandas=True)
        return pa.table(columns)


def receive_messages(
    paths: FlightPaths,
    takeoffs: FloatArray,
    is_broken: BoolArray,
    seconds_between: float,
    rng: np.random.Generator,
) -> ReceivedMessages:
    """Let every flight send, and lose and spoil some of it."""
    durations = paths.durations
    sizes = (durations // seconds_between).astype(np.int64)
    flights = np.repeat(np.arange(len(sizes)), sizes)
    rank = np.arange(len(flights)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    seconds = (rank + rng.uniform(0, 0.8, size=len(rank))) * seconds_between
    is_heard = _is_heard(flights, seconds, durations, is_broken, rng)
    flights, seconds, rank = flights[is_heard], seconds[is_heard], rank[is_heard]
    messages = _measure(paths, flights, seconds, takeoffs, rng)
    _lead_astray(messages, seconds / durations[flights], is_broken)
    return _spoil(messages, rng)


def _is_heard(
    flights: IntArray,
    seconds: FloatArray,
    durations: FloatArray,
    is_broken: BoolArray,
    rng: np.random.Generator,
) -> BoolArray:
    n = len(durations)
    kind = np.where(is_broken, np.arange(n) % _BROKEN_KINDS, -1)
    has_gap = (rng.random(n) < _GAP_SHARE) | (kind == 0)
    minutes = np.where(kind == 0, rng.uniform(*_HOLE_MINUTES, n), rng.uniform(*_GAP_MINUTES, n))
    length = np.where(has_gap, 60 * minutes, 0.0)
    begin = 300 + rng.random(n) * np.maximum(durations - length - 600, 0)
    is_silent = (seconds >= begin[flights]) & (seconds < (begin + length)[flights])
    first_of = np.searchsorted(flights, np.arange(n))
    is_late = np.arange(len(flights)) - first_of[flights] >= _FEW_MESSAGES
    is_missed = rng.random(len(flights)) < _MISSED
    return np.asarray(~is_silent & ~(is_late & (kind[flights] == 1)) & ~is_missed)


def _measure(
    paths: FlightPaths,
    flights: IntArray,
    seconds: FloatArray,
    takeoffs: FloatArray,
    rng: np.random.Generator,
) -> ReceivedMessages:
    n = len(flights)
    latitudes, longitudes = paths.positions(flights, seconds)
    later = paths.positions(flights, seconds + _LOOK_AHEAD)
    north, east = displacement(latitudes, longitudes, *later)
    knots = np.hypot(north, east) * _KM_A_DEGREE / KM_PER_NAUTICAL_MILE * 3600 / _LOOK_AHEAD
    headings = np.degrees(np.arctan2(east, north)) + rng.normal(0, _HEADING_DEGREES, n)
    return ReceivedMessages(
        flights,
        np.round(takeoffs[flights] + seconds, 1),
        np.round(latitudes + rng.normal(0, _POSITION_DEGREES, n), 5),
        np.round(longitudes + rng.normal(0, _POSITION_DEGREES, n), 5),
        np.maximum(np.round(knots + rng.normal(0, _SPEED_KNOTS, n)), 0.0),
        np.round(headings % 360.0, 1),
    )


def _lead_astray(messages: ReceivedMessages, share: FloatArray, is_broken: BoolArray) -> None:
    """Make some broken flights jump in the middle, others leave the area northwards."""
    kind = np.where(is_broken, np.arange(len(is_broken)) % _BROKEN_KINDS, -1)[messages.flights]
    jumps, leaves = (kind == 2) & (share > 0.5), kind == 3
    messages.latitudes[jumps] += np.where(messages.latitudes[jumps] > 37, -1, 1) * _JUMP_DEGREES
    messages.latitudes[leaves] += 26 * share[leaves]


def _spoil(messages: ReceivedMessages, rng: np.random.Generator) -> ReceivedMessages:
    n = len(messages.flights)

    def some(share: float) -> IntArray:
        return np.flatnonzero(rng.random(n) < share)

    spikes = some(_SPIKES)
    messages.latitudes[spikes] += rng.choice([-1, 1], len(spikes)) * rng.uniform(3, 8, len(spikes))
    messages.latitudes[some(_OFF_GLOBE)] = 91.0 + 8 * rng.random()
    for values in (messages.latitudes, messages.speeds):
        values[some(_EMPTY)] = np.nan
    arrival = messages.times.copy()
    late = some(_LATE)
    arrival[late] += rng.uniform(60, 300, len(late))
    rows = np.concatenate([np.arange(n), some(_COPIES)])
    order = rows[np.argsort(arrival[rows], kind="stable")]
    return ReceivedMessages(
        messages.flights[order],
        messages.times[order],
        messages.latitudes[order],
        messages.longitudes[order],
        messages.speeds[order],
        messages.headings[order],
    )
