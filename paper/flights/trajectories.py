"""Trajectories, what became of the messages they were made from, and the area they lie in."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

from dynmeans.inputs.numbers import check_number
from dynmeans.records.arrays import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of latitudes and longitudes, in degrees; it may not cross the date line.

    Examples
    --------
    >>> Area(45.0, 48.0, 5.0, 11.0).contains([46.0, 50.0], [6.0, 6.0]).tolist()
    [True, False]
    """

    south: float
    north: float
    west: float
    east: float

    def __post_init__(self) -> None:
        """Refuse an empty area, or one off the globe."""
        for name in ("south", "north", "west", "east"):
            limit = 90.0 if name in ("south", "north") else 180.0
            value = check_number(name, getattr(self, name), at_least=-limit)
            if value > limit:
                raise ValueError(f"{name} must be at most {limit:g} degrees, got {value!r}.")
            object.__setattr__(self, name, value)
        for low, high in (("south", "north"), ("west", "east")):
            if not getattr(self, low) < getattr(self, high):
                raise ValueError(
                    f"the area is empty: {low} must be below {high}, "
                    f"got {getattr(self, low)!r} and {getattr(self, high)!r}."
                )

    def contains(self, latitudes: npt.ArrayLike, longitudes: npt.ArrayLike) -> BoolArray:
        """Tell which places lie in the area or on its edge."""
        latitude, longitude = np.asarray(latitudes), np.asarray(longitudes)
        inside = (latitude >= self.south) & (latitude <= self.north)
        return np.asarray(inside & (longitude >= self.west) & (longitude <= self.east))


USA = Area(24.0, 50.0, -126.0, -66.0)  # the contiguous states


@dataclass(frozen=True, slots=True, eq=False)
class Trajectories:
    """Many trajectories, one after the other in flat arrays, in order of take-off.

    Attributes
    ----------
    ids : list of str
        Aircraft or flight of each trajectory, as in the messages. An id that flew more than once
        appears more than once.
    starts : IntArray of shape (n_trajectories + 1,)
        Trajectory i has the points from starts[i] up to, not including, starts[i + 1].
    times : FloatArray of shape (n_points,)
        Seconds; since 1970 (UTC) where the messages say so.
    latitudes, longitudes : FloatArray of shape (n_points,)
        Degrees.
    north, east : FloatArray of shape (n_points,)
        Velocity over ground, in knots.
    """

    ids: list[str]
    starts: IntArray
    times: FloatArray
    latitudes: FloatArray
    longitudes: FloatArray
    north: FloatArray
    east: FloatArray

    def __len__(self) -> int:
        """Return the number of trajectories."""
        return len(self.ids)

    @property
    def sizes(self) -> IntArray:
        """Points of each trajectory."""
        return np.diff(self.starts)

    @property
    def takeoff_times(self) -> FloatArray:
        """Time of the first point of each trajectory."""
        return self.times[self.starts[:-1]]

    @property
    def owners(self) -> IntArray:
        """Trajectory of every point."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def select(self, rows: npt.ArrayLike) -> Self:
        """Return the trajectories of these rows, in the order given."""
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        chosen = chosen.astype(np.int64)
        sizes = self.sizes[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        points = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], sizes)
        return type(self)(
            [self.ids[row] for row in chosen.tolist()],
            starts,
            *(getattr(self, name)[points] for name in _POINT_COLUMNS),
        )

    @classmethod
    def join(cls, parts: Iterable[Self]) -> Self:
        """Put parts together and sort them by take-off; equal times by id."""
        pieces = list(parts)
        columns = [np.concatenate([getattr(p, name) for p in pieces]) for name in _POINT_COLUMNS]
        sizes = np.concatenate([p.sizes for p in pieces])
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        joined = cls([i for p in pieces for i in p.ids], starts, *columns)
        order = np.lexsort([np.array(joined.ids, dtype=object).astype(str), joined.takeoff_times])
        return joined.select(order)


_POINT_COLUMNS = ("times", "latitudes", "longitudes", "north", "east")


@dataclass(slots=True)
class FilterReport:
    """What became of the messages and trajectories, each loss counted by its reason.

    Attributes
    ----------
    n_messages, n_trajectories : int
        What was read, and what was made from it before the filter.
    n_kept : int
        Trajectories kept.
    dropped_messages, dropped_trajectories : dict of str to int
        Losses by reason.
    n_out_of_order : int
        Messages that stood before an earlier one of the same id. They are sorted, not dropped.
    notes : dict of str to str
        What was found out about the columns: names and units, given or detected.
    """

    n_messages: int = 0
    n_trajectories: int = 0
    n_kept: int = 0
    n_out_of_order: int = 0
    dropped_messages: dict[str, int] = field(default_factory=dict)
    dropped_trajectories: dict[str, int] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def add(self, other: "FilterReport") -> None:
        """Count another part's losses to these."""
        self.n_messages += other.n_messages
        self.n_trajectories += other.n_trajectories
        self.n_kept += other.n_kept
        self.n_out_of_order += other.n_out_of_order
        for mine, theirs in (
            (self.dropped_messages, other.dropped_messages),
            (self.dropped_trajectories, other.dropped_trajectories),
        ):
            for reason, count in theirs.items():
                mine[reason] = mine.get(reason, 0) + count
        self.notes.update(other.notes)

    def lines(self) -> list[str]:
        """Say it in sentences, the largest losses first."""
        text = [f"{name}: {note}" for name, note in self.notes.items()]
        text.append(f"{self.n_messages:,} messages read, {self.n_out_of_order:,} out of order")
        text += _losses("messages", self.dropped_messages)
        text.append(f"{self.n_trajectories:,} trajectories made, {self.n_kept:,} kept")
        return text + _losses("trajectories", self.dropped_trajectories)


def _losses(what: str, counts: dict[str, int]) -> list[str]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"  {n:,} {what} dropped: {reason}" for reason, n in ordered if n]
