"""Positions of ships with their identities, window by window, from ../shared/data/ais_noaa."""

from pathlib import Path

import numpy as np
import pandas as pd

from dynmeans.records.arrays import FloatArray, IntArray

_FOLDER = Path(__file__).parents[3] / "shared" / "data" / "ais_noaa"
SHIPS = {
    "ships, New York": _FOLDER / "ny_harbor_2020_06_30_first_hour.parquet",
    "ships, Virginia": _FOLDER / "virginia_beach_2020_06_04_06.parquet",
}
WINDOWS = {"ships, New York": "1min", "ships, Virginia": "30min"}
_KM_PER_DEGREE = 111.2


def read_ships(name: str) -> tuple[list[FloatArray], list[IntArray]]:
    """Return positions in km and ships, in windows of a minute (New York) or half an hour."""
    table = pd.read_parquet(SHIPS[name]).rename(columns=str.lower)
    table = table.rename(columns={"basedatetime": "time"}).sort_values("time", kind="stable")
    table = table.dropna(subset=["time", "lon", "lat", "mmsi"])
    east = table["lon"] * np.cos(np.deg2rad(table["lat"].mean()))
    points = _KM_PER_DEGREE * np.column_stack([east, table["lat"]])
    ships = pd.factorize(table["mmsi"])[0]
    windows = pd.to_datetime(table["time"]).dt.floor(WINDOWS[name])
    ends = np.flatnonzero(windows.to_numpy()[1:] != windows.to_numpy()[:-1]) + 1
    return np.split(points, ends), np.split(ships.astype(np.int64), ends)
