"""Coasts and borders of the Earth, as they lie in the package.

earth.json is Natural Earth, 1:110m, in the public domain; tools/earth_lines.py wrote it. Its lines
are good to about 20 km.
"""

import base64
import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from dynmeans.records.arrays import FloatArray

SMALLEST = 3.0  # degrees: lines that are 20 km off say nothing on a map below this


@cache
def earth() -> dict[str, Any]:
    """Return the lines as they lie in the package."""
    found = files("dynmeans.plots").joinpath("earth.json").read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(found)
    return value


def lines_of(name: str) -> list[FloatArray]:
    """Return the rings of "land" or the "borders": longitudes and latitudes.

    >>> len(lines_of("land")), float(max(line[:, 1].max() for line in lines_of("land"))) < 84
    (125, True)
    """
    numbers = _numbers(base64.b64decode(earth()[name]))
    lines, at = [], 0
    while at < len(numbers):
        n = int(numbers[at])
        steps = numbers[at + 1 : at + 1 + 2 * n].reshape(n, 2)
        lines.append(np.cumsum(steps, axis=0) * earth()["step"])
        at += 1 + 2 * n
    return lines


def _numbers(data: bytes) -> Any:
    found, rest, shift = [], 0, 0
    for byte in data:
        rest |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(rest >> 1 if rest % 2 == 0 else -(rest + 1) >> 1)
            rest = shift = 0
    return np.array(found)
