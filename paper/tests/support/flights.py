"""Small made-up flights for the tests of trajectories and features."""

import numpy as np

from paper.flights.trajectories import Trajectories

KNOTS_A_DEGREE = 60.04  # nautical miles in a degree of latitude
START = 1_575_200_000.0


def straight_rows(name, *, n=40, seconds=60.0, start=START, knots=420.0, latitude=30.0, lon=-100.0):
    """Messages of a flight due North, as rows of id, time, latitude, longitude, speed."""
    step = knots * seconds / 3600 / KNOTS_A_DEGREE
    return [[name, start + i * seconds, latitude + i * step, lon, knots] for i in range(n)]


def write_csv(path, rows, header="id,time,latitude,longitude,speed"):
    lines = [",".join("" if value is None else str(value) for value in row) for row in rows]
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def made_trajectories(n=5, seed=0, sizes=(20, 60)):
    """Curved flights with noise, of different lengths."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(*sizes, size=n)
    starts = np.concatenate([[0], np.cumsum(counts)])
    parts = []
    for count in counts:
        share = np.linspace(0, 1, count)
        angle = rng.uniform(0, 2 * np.pi)
        latitude = 37 + 6 * np.cos(angle) * (share - 0.5) + rng.normal(0, 0.5) * share**2
        longitude = -95 + 20 * np.sin(angle) * (share - 0.5) + rng.normal(0, 2) * share**2
        north = 400 * np.cos(angle + 2 * share) + rng.normal(0, 30, count)
        east = 400 * np.sin(angle + 2 * share) + rng.normal(0, 30, count)
        parts.append((60.0 * np.arange(count), latitude, longitude, north, east))
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Trajectories([f"N{i}" for i in range(n)], starts, *columns)
