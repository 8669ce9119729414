"""Coasts, borders or walls from a GeoJSON file, cut down to what a page shows of them."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray

_DEPTHS = {"LineString": 0, "MultiLineString": 1, "Polygon": 1, "MultiPolygon": 2}
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
_FINEST = 2000  # places along the longer side of the data
_MARGIN = 0.5  # of the data, on every side


def read_lines(path: str | os.PathLike[str]) -> list[FloatArray]:
    """Return the lines and the outlines in a GeoJSON file, each of shape (n_places, 2)."""
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
        lines = [np.asarray(line, dtype=np.float64)[:, :2] for line in _lines_of(value)]
    except _UNREADABLE as error:
        raise _not_read(path) from error
    if not lines or not all(map(_is_line, lines)):
        raise _not_read(path)
    return lines


def _is_line(line: FloatArray) -> bool:
    return line.ndim == 2 and line.shape[1] == 2 and bool(np.isfinite(line).all())


def _not_read(path: str | os.PathLike[str]) -> InputError:
    return InputError("lines", "must be a GeoJSON file with lines or polygons", got=str(path))


def _lines_of(value: Mapping[str, Any]) -> Iterator[Any]:
    """Go through collections, features and geometries to the lists of places."""
    for part in (*value.get("features", ()), *value.get("geometries", ())):
        yield from _lines_of(part)
    if value.get("geometry"):
        yield from _lines_of(value["geometry"])
    if value.get("type") in _DEPTHS:
        yield from _at_depth(value["coordinates"], _DEPTHS[value["type"]])


def _at_depth(coordinates: Any, depth: int) -> Iterator[Any]:
    if depth == 0:
        yield coordinates
        return
    for part in coordinates:
        yield from _at_depth(part, depth - 1)


def lines_near(lines: Iterable[FloatArray], places: FloatArray) -> list[FloatArray]:
    """Keep the parts of lines around some places, no finer than a screen shows.

    >>> coast = np.array([[-90.0, 0.0], [0.1, 0.2], [0.1, 0.2001], [0.9, 0.8], [80.0, 0.0]])
    >>> lines_near([coast], np.array([[0.0, 0.0], [1.0, 1.0]]))[0].shape
    (4, 2)
    """
    if len(places) == 0:
        return []
    low, high = places.min(axis=0), places.max(axis=0)
    span = float((high - low).max()) or 1.0
    kept = []
    for line in lines:
        is_near = ((line > low - _MARGIN * span) & (line < high + _MARGIN * span)).all(axis=1)
        # A place beside one that is near ends a piece that leaves the picture.
        is_kept = is_near | np.append(is_near[1:], False) | np.append(False, is_near[:-1])
        cells = np.rint(line / span * _FINEST)
        is_new = np.append(True, (np.diff(cells, axis=0) != 0).any(axis=1))
        ends = np.flatnonzero(np.diff(is_kept.astype(int))) + 1
        pieces = zip(
            np.split(line, ends), np.split(is_kept, ends), np.split(is_new, ends), strict=True
        )
        kept += [
            piece[new | (np.arange(len(piece)) == 0)] for piece, keep, new in pieces if keep[0]
        ]
    return [piece for piece in kept if len(piece) > 1]
