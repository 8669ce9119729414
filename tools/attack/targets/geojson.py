"""Line files of a report: any damage is refused in one line, or leaves lines that can be drawn."""

import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from attack.held import refused
from attack.mutate import damaged
from attack.targets import Case
from dynmeans.report.line_file import lines_near, read_lines

_LINE = [[0, 0], [1, 1], [2, 0.5]]
_GEOMETRIES = [
    {"type": "LineString", "coordinates": _LINE},
    {"type": "MultiPolygon", "coordinates": [[_LINE, _LINE]]},
    {"type": "GeometryCollection", "geometries": [{"type": "Polygon", "coordinates": [_LINE]}]},
]


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Write a few files; a case damages one of them."""
    features = [{"type": "Feature", "geometry": geometry} for geometry in _GEOMETRIES]
    values = [*_GEOMETRIES, {"type": "FeatureCollection", "features": features}]
    originals = [json.dumps(value).encode() for value in values]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.geojson"

        def attack(rng: random.Random) -> None:
            path.write_bytes(damaged(rng.choice(originals), rng, originals))
            is_refused, lines = refused(lambda: read_lines(path))
            if is_refused:
                return
            for line in lines_near(lines, np.array([[0.0, 0.0], [1.0, 1.0]])):
                if line.ndim != 2 or line.shape[1] != 2 or not np.isfinite(line).all():
                    raise AssertionError("a line that cannot be drawn was accepted")

        yield attack
