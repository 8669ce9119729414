"""Flows: the largest clusters of trajectories, each with its mean way, spread and counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from paper.flights.airports import Airport, busiest_airport
from paper.flights.globe import distance_km
from paper.flights.trajectories import Trajectories

ELSEWHERE = "Elsewhere"
_N_PLACES = 40  # along the mean way
_AIRPORT_WITHIN_KM = 120.0
_SHARE_OF_AN_AIRPORT = 0.15  # of flights, for an airport to be in the name of a flow


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """One cluster of trajectories.

    Attributes
    ----------
    cluster_id : int
    name : str
        From where to where: the airports nearest to the ends of its trajectories, if any.
    region : str
        Where most of its flights take off.
    n_flights : int
    way : FloatArray of shape (n_places, 2)
        Mean latitude and longitude at equal shares of the distance.
    deviations : FloatArray of shape (n_places, 2)
        Standard deviations of the same.
    takeoff_covariance : FloatArray of shape (2, 2)
        Of the latitudes and longitudes of the first points.
    counts : IntArray of shape (n_windows,)
        Take-offs in each window.
    """

    cluster_id: int
    name: str
    region: str
    n_flights: int
    way: FloatArray
    deviations: FloatArray
    takeoff_covariance: FloatArray
    counts: IntArray

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can keep, coordinates to a thousandth of a degree."""
        return {
            "cluster_id": self.cluster_id,
            "name": self.name,
            "region": self.region,
            "n_flights": self.n_flights,
            "way": self.way.round(3).tolist(),
            "deviations": self.deviations.round(3).tolist(),
            "takeoff_covariance": self.takeoff_covariance.round(6).tolist(),
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Flow":
        """Return the flow that `to_dict` was taken of."""
        arrays = ("way", "deviations", "takeoff_covariance")
        floats = {name: np.array(values[name], dtype=np.float64) for name in arrays}
        counts = np.array(values["counts"], dtype=np.int64)
        return cls(**{**values, **floats, "counts": counts})


def find_flows(
    trajectories: Trajectories,
    labels: Sequence[IntArray],
    windows: Sequence[IntArray],
    n_flows: int | None = 12,
) -> list[Flow]:
    """Describe the largest clusters, the largest first.

    Parameters
    ----------
    trajectories : Trajectories
    labels : sequence of IntArray
        Cluster of each trajectory, for each window.
    windows : sequence of IntArray
        Rows of the trajectories that took off in each window.
    n_flows : int, optional
        How many; None for all.
    """
    rows = np.concatenate([*windows, np.empty(0, dtype=np.int64)]).astype(np.int64)
    clusters = np.concatenate([*labels, np.empty(0, dtype=np.int64)]).astype(np.int64)
    steps = np.repeat(np.arange(len(windows)), [len(window) for window in windows])
    ids, counts = np.unique(clusters, return_counts=True)
    largest = ids[np.lexsort([ids, -counts])][:n_flows]
    return [
        _flow(
            trajectories.select(rows[clusters == k]),
            int(k),
            np.bincount(steps[clusters == k], minlength=len(windows)),
        )
        for k in largest
    ]


def even_places(trajectories: Trajectories, n_places: int = _N_PLACES) -> FloatArray:
    """Latitude and longitude of every trajectory at equal shares of its distance."""
    places = np.empty((len(trajectories), n_places, 2))
    shares = np.linspace(0, 1, n_places)
    for row in range(len(trajectories)):
        points = slice(trajectories.starts[row], trajectories.starts[row + 1])
        latitudes, longitudes = trajectories.latitudes[points], trajectories.longitudes[points]
        steps = distance_km(latitudes[:-1], longitudes[:-1], latitudes[1:], longitudes[1:])
        flown = np.concatenate([[0.0], np.cumsum(steps)])
        at = shares * flown[-1]
        places[row, :, 0] = np.interp(at, flown, latitudes)
        places[row, :, 1] = np.interp(at, flown, longitudes)
    return places


def _flow(members: Trajectories, cluster_id: int, counts: IntArray) -> Flow:
    places = even_places(members)
    origins = _airports_at(places[:, 0])
    regions = [ELSEWHERE if airport is None else airport.region for airport in origins]
    names, sizes = np.unique(regions, return_counts=True)
    takeoffs = places[:, 0]
    covariance = np.cov(takeoffs.T) if len(takeoffs) > 1 else np.zeros((2, 2))
    return Flow(
        cluster_id,
        f"{_name_of(origins)} → {_name_of(_airports_at(places[:, -1]))}",
        str(names[np.argmax(sizes)]),
        len(members),
        places.mean(axis=0),
        places.std(axis=0),
        covariance,
        counts,
    )


def _airports_at(places: FloatArray) -> list[Airport | None]:
    # Many flights share an airport: places are asked for once for each tenth of a degree.
    rounded, which = np.unique(places.round(1), axis=0, return_inverse=True)
    found = [busiest_airport(lat, lon, _AIRPORT_WITHIN_KM) for lat, lon in rounded.tolist()]
    return [found[i] for i in which.ravel().tolist()]


def _name_of(found: list[Airport | None]) -> str:
    """Airports that a good share of the flights use, the busiest first; at most three."""
    codes, counts = np.unique(["" if a is None else a.code for a in found], return_counts=True)
    order = np.lexsort([codes, -counts])
    is_common = counts[order] >= _SHARE_OF_AN_AIRPORT * len(found)
    names = [code for code in codes[order][is_common][:3].tolist() if code]
    return "/".join(names) or "?"
