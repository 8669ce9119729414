"""Flights along great circles, bent sideways: where each is at any moment."""

from dataclasses import dataclass

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from paper.flights.globe import EARTH_RADIUS_KM, KM_PER_NAUTICAL_MILE

_END_SPEED = 150.0  # knots, at take-off and landing
_CLIMB_SECONDS, _DESCENT_SECONDS = 15 * 60.0, 18 * 60.0


@dataclass(frozen=True, slots=True, eq=False)
class FlightPaths:
    """Ways of many flights, one row each.

    Attributes
    ----------
    origins, destinations : FloatArray of shape (n_flights, 3)
        Unit vectors from the middle of the Earth.
    cruise_speeds : FloatArray of shape (n_flights,)
        Knots over ground.
    bows, waves : FloatArray of shape (n_flights,)
        How far the way leaves the great circle to the left, in km: `bows` in its middle,
        `waves` once to each side.
    """

    origins: FloatArray
    destinations: FloatArray
    cruise_speeds: FloatArray
    bows: FloatArray
    waves: FloatArray

    @property
    def lengths(self) -> FloatArray:
        """Great-circle distances in km."""
        cosines = np.sum(self.origins * self.destinations, axis=1)
        return np.asarray(EARTH_RADIUS_KM * np.arccos(np.clip(cosines, -1, 1)))

    @property
    def durations(self) -> FloatArray:
        """Seconds from take-off to landing."""
        return np.asarray(
            _CLIMB_SECONDS
            + _DESCENT_SECONDS
            + (self.lengths - self._ramp_km()) / (self.cruise_speeds * _KM_PER_KNOT_SECOND)
        )

    def positions(self, flights: IntArray, seconds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Latitude and longitude, in degrees, of flights at seconds after their take-off."""
        share = self._distances(flights, seconds) / self.lengths[flights]
        angle = self.lengths[flights] / EARTH_RADIUS_KM
        start, end = self.origins[flights], self.destinations[flights]
        ahead = (np.sin((1 - share) * angle)[:, None] * start) + (
            np.sin(share * angle)[:, None] * end
        )
        left = np.cross(start, end)
        left /= np.linalg.norm(left, axis=1, keepdims=True)
        aside = self.bows[flights] * np.sin(np.pi * share)
        aside += self.waves[flights] * np.sin(2 * np.pi * share)
        aside /= EARTH_RADIUS_KM
        ahead *= (np.cos(aside) / np.sin(angle))[:, None]
        place = ahead + np.sin(aside)[:, None] * left
        latitudes = np.degrees(np.arcsin(np.clip(place[:, 2], -1, 1)))
        return latitudes, np.degrees(np.arctan2(place[:, 1], place[:, 0]))

    def _ramp_km(self) -> FloatArray:
        """Distance flown in climb and descent, where speed changes evenly."""
        mean_speed = (self.cruise_speeds + _END_SPEED) / 2
        return np.asarray(mean_speed * (_CLIMB_SECONDS + _DESCENT_SECONDS) * _KM_PER_KNOT_SECOND)

    def _distances(self, flights: IntArray, seconds: FloatArray) -> FloatArray:
        """Km flown at these seconds."""
        cruise, duration = self.cruise_speeds[flights], self.durations[flights]
        gained = cruise - _END_SPEED
        climbing = np.minimum(seconds, _CLIMB_SECONDS)
        descending = np.clip(seconds - (duration - _DESCENT_SECONDS), 0, _DESCENT_SECONDS)
        lost = gained * (climbing - climbing**2 / (2 * _CLIMB_SECONDS))
        lost += gained * descending**2 / (2 * _DESCENT_SECONDS)
        return np.asarray((cruise * seconds - lost) * _KM_PER_KNOT_SECOND)


_KM_PER_KNOT_SECOND = KM_PER_NAUTICAL_MILE / 3600


def unit_vectors(latitudes: FloatArray, longitudes: FloatArray) -> FloatArray:
    """Turn degrees into vectors from the middle of the Earth, of length 1."""
    phi, lam = np.radians(latitudes), np.radians(longitudes)
    return np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=1)
