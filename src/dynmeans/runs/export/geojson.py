"""Tracks of the clusters of a run as GeoJSON, cut at the date line (RFC 7946, 3.1.9)."""

import json
import os
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dynmeans.files.whole_file import whole_file
from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray
from dynmeans.runs.run import Run
from dynmeans.spaces.geo import earth_features
from dynmeans.spaces.globe import great_circle

_DIGITS = 6  # of a degree: 10 cm


def geojson_of(run: Run) -> dict[str, Any]:
    """Return a track along great circles from center to center, for each cluster ever seen."""
    tracks: dict[int, list[FloatArray]] = {}
    lives: dict[int, dict[str, Any]] = {}
    lon_lat = _lon_lat(run)
    edits, names = run.edits, run.config.features
    for record in run.history(labels=False):
        ids = edits.shown(record.ids)
        for k, center, count in zip(ids.tolist(), record.centers, record.counts, strict=True):
            tracks.setdefault(k, []).append(center[list(lon_lat)])
            life = lives.setdefault(k, {"first_step": record.step, "n_points": 0.0})
            life |= {"last_step": record.step, "center": dict(zip(names, center, strict=True))}
            life["n_points"] += float(count)
    features = []
    for k, places in tracks.items():
        told = {"cluster_id": k, "name": edits.name_of(k), **lives[k]}
        track = track_geometry(places)
        features.append({"type": "Feature", "geometry": track, "properties": told})
    return {"type": "FeatureCollection", "features": features}


def write_geojson(run: Run, path: str | os.PathLike[str]) -> Path:
    """Write what `geojson_of` returns to a file, whole or not at all."""
    text = json.dumps(geojson_of(run), allow_nan=False)
    with whole_file(path) as temporary:
        Path(temporary).write_text(text + "\n", encoding="utf-8")
    return Path(path)


def _lon_lat(run: Run) -> tuple[int, int]:
    memory, names = run.memory, run.config.features
    if memory is None or run.store.is_empty:
        raise ValueError(f"the run {str(run.folder)!r} has no windows yet.")
    found = memory.known_space.lon_lat() or earth_features(names, *_ranges(run))
    if found is None:
        rule = "needs a longitude and a latitude in degrees; the features are {}"
        raise InputError("path", f".geojson {rule}", ", ".join(names))
    return found


def _ranges(run: Run) -> tuple[list[float], list[float]]:
    seen = [record.centers for record in run.history(labels=False) if len(record.centers)]
    centers = np.concatenate(seen) if seen else np.zeros((1, len(run.config.features)))
    return centers.min(axis=0).tolist(), centers.max(axis=0).tolist()


def track_geometry(places: list[FloatArray]) -> dict[str, Any]:
    """Return the way from place to place (longitude, latitude); a point where it never moved.

    >>> across = track_geometry([np.array([179.0, 10.0]), np.array([-179.0, 10.0])])
    >>> across["type"], [line[-1][0] for line in across["coordinates"]]
    ('MultiLineString', [180.0, -179.0])
    """
    start = _wrapped(places[0])
    line = [start[None]]
    for place in places[1:]:
        piece = great_circle(line[-1][-1], place)
        line.append(piece[1:])
    whole = np.concatenate(line)
    if len(np.unique(whole, axis=0)) == 1:
        return {"type": "Point", "coordinates": _rounded(whole)[0]}
    lines = [_rounded(part) for part in _split(whole) if np.ptp(part, axis=0).any()]
    if len(lines) == 1:
        return {"type": "LineString", "coordinates": lines[0]}
    return {"type": "MultiLineString", "coordinates": lines}


def _turn_of(longitude: float) -> float:
    return float(np.floor((longitude + 180.0) / 360.0))


def _crossing(a: FloatArray, b: FloatArray, edge: float) -> FloatArray:
    share = (edge - a[0]) / (b[0] - a[0])
    return np.array([edge, a[1] + share * (b[1] - a[1])])


def _split(line: FloatArray) -> Iterable[FloatArray]:
    """Yield parts of a line between -180 and 180, ended and begun at the date line."""
    part, turn = [line[0]], _turn_of(line[0, 0])
    for before, here in pairwise(line):
        after = _turn_of(here[0])
        if after != turn:
            edge = 360.0 * turn + (180.0 if after > turn else -180.0)
            crossing = _crossing(before, here, edge)
            yield np.array([*part, crossing]) - [360.0 * turn, 0.0]
            part, turn = [crossing], after
        part.append(here)
    yield np.array(part) - [360.0 * turn, 0.0]


def _wrapped(place: FloatArray) -> FloatArray:
    return np.array([(place[0] + 180.0) % 360.0 - 180.0, place[1]])


def _rounded(line: FloatArray) -> list[list[float]]:
    return [[round(float(x), _DIGITS), round(float(y), _DIGITS)] for x, y in line]
