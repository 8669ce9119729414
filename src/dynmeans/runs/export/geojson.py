"""Tracks of the clusters of a run as GeoJSON, cut at the date line (RFC 7946, 3.1.9)."""

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dynmeans.files.atomic_write import atomic_write
from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray
from dynmeans.runs.run import Run
from dynmeans.spaces.geo import earth_features
from dynmeans.spaces.globe import great_circle

_DIGITS = 6  # of a degree: 10 cm


def geojson_of(run: Run) -> dict[str, Any]:
    """Return a track along great circles from center to center, for each cluster ever seen."""
    edits, names, memory = run.edits, run.config.features, run.memory
    records = [record for record in run.history(labels=False) if len(record.ids)]
    if memory is None or not records:
        raise ValueError(
            f"the run {str(run.folder)!r} has no windows yet. Wait for the first commit."
        )
    centers = np.concatenate([record.centers for record in records])
    ends = centers.min(axis=0).tolist(), centers.max(axis=0).tolist()
    lon_lat = memory.space_or_raw.lon_lat() or earth_features(names, *ends)
    if lon_lat is None:
        rule = ".geojson needs a longitude and a latitude in degrees; the features are {}"
        raise InputError("path", rule, ", ".join(names))
    tracks: dict[int, list[FloatArray]] = {}
    lifetimes: dict[int, dict[str, Any]] = {}
    for record in records:
        ids = edits.resolve_ids(record.ids)
        for k, center, count in zip(ids.tolist(), record.centers, record.counts, strict=True):
            tracks.setdefault(k, []).append(center[list(lon_lat)])
            life = lifetimes.setdefault(k, {"first_step": record.step, "n_points": 0.0})
            life |= {"last_step": record.step, "center": dict(zip(names, center, strict=True))}
            life["n_points"] += float(count)
    features = [
        {
            "type": "Feature",
            "geometry": track_geometry(places),
            "properties": {"cluster_id": k, "name": edits.name_of(k), **lifetimes[k]},
        }
        for k, places in tracks.items()
    ]
    return {"type": "FeatureCollection", "features": features}


def write_geojson(run: Run, path: str | os.PathLike[str]) -> Path:
    """Write what `geojson_of` returns to a file, whole or not at all."""
    text = json.dumps(geojson_of(run), allow_nan=False)
    with atomic_write(path) as temporary:
        Path(temporary).write_text(text + "\n", encoding="utf-8")
    return Path(path)


def track_geometry(places: list[FloatArray]) -> dict[str, Any]:
    """Return the way from place to place (longitude, latitude); a point where it never moved.

    >>> across = track_geometry([np.array([179.0, 10.0]), np.array([-179.0, 10.0])])
    >>> across["type"], [line[-1][0] for line in across["coordinates"]]
    ('MultiLineString', [180.0, -179.0])
    """
    way = [np.array([[(places[0][0] + 180.0) % 360.0 - 180.0, places[0][1]]])]
    for place in places[1:]:
        way.append(great_circle(way[-1][-1], place)[1:])
    line = np.concatenate(way)
    if not np.ptp(line, axis=0).any():
        return {"type": "Point", "coordinates": np.round(line[0], _DIGITS).tolist()}
    parts = [np.round(part, _DIGITS).tolist() for part in _parts(line)]
    return {"type": "MultiLineString", "coordinates": parts}


def _parts(line: FloatArray) -> list[FloatArray]:
    """Cut a line whose longitudes exceed 180 into parts that end at the date line."""
    turns = np.floor((line[:, 0] + 180.0) / 360.0)
    parts, part = [], [line[0]]
    for (before, here), (turn, after) in zip(pairwise(line), pairwise(turns), strict=True):
        if after != turn:
            edge = 360.0 * max(after, turn) - 180.0
            share = (edge - before[0]) / (here[0] - before[0])
            crossing = before + share * (here - before)
            parts.append(np.array([*part, crossing]) - [360.0 * turn, 0.0])
            part = [crossing]
        part.append(here)
    parts.append(np.array(part) - [360.0 * turns[-1], 0.0])
    return [part for part in parts if np.ptp(part, axis=0).any()]
