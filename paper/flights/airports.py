"""Larger airports of the United States and of Canada near it: where they are, how busy.

Positions are facts of public record; `traffic` is a rough number of passengers boarding in 2013,
in millions, for the simulator. Time is that of March, when the paper's week was.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from paper.flights.globe import distance_km


@dataclass(frozen=True, slots=True)
class Airport:
    """One airport; coordinates in degrees, local time in hours ahead of UTC."""

    code: str
    city: str
    latitude: float
    longitude: float
    region: str
    utc_offset: float
    traffic: float


@cache
def airports() -> tuple[Airport, ...]:
    """Return the table, busiest first.

    Examples
    --------
    >>> airports()[0].code, len(airports()) > 50
    ('ATL', True)
    """
    text = files("paper.flights").joinpath("airports.csv").read_text(encoding="utf-8")
    return tuple(
        Airport(
            row["code"],
            row["city"],
            float(row["latitude"]),
            float(row["longitude"]),
            row["region"],
            float(row["utc_offset"]),
            float(row["traffic"]),
        )
        for row in csv.DictReader(text.splitlines())
    )


def busiest_airport(latitude: float, longitude: float, within_km: float) -> Airport | None:
    """Return the airport that stands for a place, or None if none is so near.

    That is the busiest of those about as near as the nearest: tracks often begin a few
    kilometers away from the runway, nearer to a small neighbor.

    Examples
    --------
    >>> busiest_airport(37.7, -122.25, 100.0).city  # nearer to Oakland
    'San Francisco'
    >>> busiest_airport(0.0, 0.0, 100.0) is None
    True
    """
    table = airports()
    distances = distance_km(
        latitude, longitude, [a.latitude for a in table], [a.longitude for a in table]
    )
    if distances.min() > within_km:
        return None
    near = np.flatnonzero(distances <= distances.min() + _ONE_CITY_KM)
    return max((table[row] for row in near.tolist()), key=lambda airport: airport.traffic)


_ONE_CITY_KM = 35.0
