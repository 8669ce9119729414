"""ADS-B messages to cleaned trajectories (Sec. 6.2)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from paper.flights.globe import displacement
from paper.flights.message_file import MessageFile, Messages
from paper.flights.message_units import (
    DETECT,
    heading_scale,
    in_knots_and_degrees,
    speed_scale,
    time_scale,
)
from paper.flights.trajectories import FilterReport, Trajectories
from paper.flights.trajectory_filter import (
    TrajectoryBounds,
    believable_legs,
    believable_messages,
    remove_spikes,
    sort_messages,
    split_legs,
    thin_out,
)

Progress = Callable[[float, float], None]


def read_trajectories(
    path: str | Path,
    *,
    columns: Mapping[str, str | None] | None = None,
    bounds: TrajectoryBounds | None = None,
    time_unit: str = DETECT,
    speed_unit: str = DETECT,
    heading_unit: str = DETECT,
    messages_a_part: int = 4_000_000,
    on_progress: Progress | None = None,
) -> tuple[Trajectories, FilterReport]:
    r"""Read messages from a CSV or Parquet file, join them to trajectories and filter these.

    Parameters
    ----------
    path : path
        A file of messages, in any order; `*` may stand for many files.
    columns : mapping, optional
        Columns for "id", "time", "latitude", "longitude", "speed" and "heading". Those not given
        are found by well-known names. Without a heading the direction of flight is taken from the
        neighboring positions, and so it is where a message has none.
    bounds : TrajectoryBounds, optional
        What is believed; by default flights over the contiguous United States.
    time_unit : {"detect", "s", "ms", "us", "ns"}
        Unit of times that are numbers. Dates need none; without a time zone they are UTC.
    speed_unit : {"detect", "kt", "m/s", "km/h", "mph"}
        Unit of speeds. It is detected from the distances between positions, and one that is
        stated but does not fit them is refused.
    heading_unit : {"detect", "degrees", "radians"}
        Unit of headings, clockwise from North.
    messages_a_part : int
        Messages held in memory at once. All messages of one id are in one part.
    on_progress : callable, optional
        Called with the messages done and their total.

    Returns
    -------
    trajectories : Trajectories
        In order of take-off. It may be empty; the report says why.
    report : FilterReport
        Counts of all that was dropped, by reason, and the columns and units found.

    Raises
    ------
    ValueError
        If a column is missing, or a unit cannot be detected or does not fit.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "messages.csv"
    ...     rows = [f"N1,{60 * i},40,{-100 + 0.13 * i},360" for i in range(40)]
    ...     _ = path.write_text("\n".join(["id,time,lat,lon,speed", *rows, "N2,0,40,-100,9"]))
    ...     flights, report = read_trajectories(path)
    >>> len(flights), report.notes["speed"], report.dropped_trajectories["one message"]
    (1, 'kt (detected: 0.997 knots for each unit of speed)', 1)
    >>> flights.east[:2].round().tolist()
    [360.0, 360.0]
    """
    bounds = TrajectoryBounds() if bounds is None else bounds
    file = MessageFile(path, columns)
    reader = _Reader(bounds, file.is_dated, time_unit, speed_unit, heading_unit)
    parts, n_done = [], 0
    for messages in file.parts(messages_a_part):
        n_done += len(messages)
        parts.append(reader.take(messages))
        if on_progress is not None:
            on_progress(n_done, file.n_messages)
    reader.report.notes["columns"] = ", ".join(f"{k} = {c}" for k, c in file.columns.items())
    return Trajectories.join(parts), reader.report


class _Reader:
    """Turns parts of one file into trajectories; the first part decides the units."""

    def __init__(
        self, bounds: TrajectoryBounds, is_dated: bool, time: str, speed: str, heading: str
    ) -> None:
        self.bounds = bounds
        self.report = FilterReport()
        self._is_dated = is_dated
        self._units = (time, speed, heading)
        self._seconds: float | None = None
        self._scales: tuple[float, float] | None = None

    def take(self, messages: Messages) -> Trajectories:
        messages = believable_messages(messages, self.report)
        messages = self._in_seconds(messages)
        messages = sort_messages(messages, self.report)
        if not len(messages):
            return _to_trajectories(messages, np.empty(0, dtype=np.int64))
        messages = self._in_knots(messages)
        legs = split_legs(messages, self.bounds)
        messages, legs, n_removed = remove_spikes(messages, legs, self.bounds, self.report)
        is_good = believable_legs(messages, legs, n_removed, self.bounds, self.report)
        kept = np.flatnonzero(is_good[legs])
        messages, legs = messages.select(kept), legs[kept]
        messages = replace(messages, headings=_courses(messages, legs))
        thinned = np.flatnonzero(thin_out(messages, legs, self.bounds.thin))
        return _to_trajectories(messages.select(thinned), legs[thinned])

    def _in_seconds(self, messages: Messages) -> Messages:
        if self._is_dated:
            self.report.notes["time"] = "dates, UTC unless they say otherwise"
            return messages
        if not len(messages):
            return messages
        if self._seconds is None:
            scale, self.report.notes["time"] = time_scale(self._units[0], messages.times)
            self._seconds = scale
        return replace(messages, times=messages.times * self._seconds)

    def _in_knots(self, messages: Messages) -> Messages:
        if self._scales is None:
            knots, self.report.notes["speed"] = speed_scale(self._units[1], messages)
            if messages.headings is None:
                degrees, note = 1.0, "none given: taken from the positions"
            else:
                degrees, note = heading_scale(self._units[2], messages)
            self.report.notes["heading"] = note
            self._scales = (knots, degrees)
        return in_knots_and_degrees(messages, *self._scales)


def _courses(messages: Messages, legs: IntArray) -> FloatArray:
    """Direction of flight in degrees: the heading, or from the neighboring positions."""
    n = len(messages)
    rows = np.arange(n)
    is_start, is_end = np.diff(legs, prepend=-1) != 0, np.diff(legs, append=-1) != 0
    before, after = rows - ~is_start, rows + ~is_end
    north, east = displacement(
        messages.latitudes[before],
        messages.longitudes[before],
        messages.latitudes[after],
        messages.longitudes[after],
    )
    has_moved = (north != 0) | (east != 0)
    # Where nothing moved the direction is that of the nearest message before that did, or after.
    last = np.maximum.accumulate(np.where(has_moved | is_start, rows, 0))
    following = np.minimum.accumulate(np.where(has_moved | is_end, rows, n - 1)[::-1])[::-1]
    source = np.where(has_moved[last], last, following)
    courses = np.degrees(np.arctan2(east, north))[source] % 360.0
    if messages.headings is None:
        return np.asarray(courses)
    return np.where(np.isfinite(messages.headings), messages.headings, courses)


def _to_trajectories(messages: Messages, legs: IntArray) -> Trajectories:
    starts = np.flatnonzero(np.diff(legs, prepend=-1))
    headings = np.empty(0) if messages.headings is None else np.radians(messages.headings)
    return Trajectories(
        [messages.ids[code] for code in messages.codes[starts].tolist()],
        np.append(starts, len(legs)).astype(np.int64),
        messages.times,
        messages.latitudes,
        messages.longitudes,
        messages.speeds * np.cos(headings),
        messages.speeds * np.sin(headings),
    )
