"""Write the coasts and borders that maps are drawn on: npm pack world-atlas, then this.

Natural Earth, 1:110m, is in the public domain; world-atlas (ISC license) holds it as TopoJSON.

    python tools/earth_lines.py package/countries-110m.json src/dynmeans/plots/earth.json
"""

import base64
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

STEP = 0.02  # degrees, 2 km: below what the lines are good to
ORIGIN = "Natural Earth 4.1.0, 1:110m, public domain, by way of world-atlas 2.0.2"

Line = list[tuple[float, float]]


def arcs_of(topology: dict[str, Any]) -> list[Line]:
    """Undo the quantization of a TopoJSON file."""
    (sx, sy), (tx, ty) = (topology["transform"][name] for name in ("scale", "translate"))
    arcs = []
    for steps in topology["arcs"]:
        x = y = 0
        arc = []
        for dx, dy in steps:
            x, y = x + dx, y + dy
            arc.append((x * sx + tx, y * sy + ty))
        arcs.append(arc)
    return arcs


def rings_of(geometry: dict[str, Any]) -> list[list[int]]:
    """Return the numbers of the arcs of every ring of a geometry."""
    parts = geometry.get("geometries", [])
    if parts:
        return [ring for part in parts for ring in rings_of(part)]
    polygons = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
    return [ring for polygon in polygons for ring in polygon]


def joined(ring: list[int], arcs: list[Line]) -> Line:
    """Put the arcs of a ring together; one with a negative number is walked backward."""
    line: Line = []
    for number in ring:
        arc = arcs[number] if number >= 0 else arcs[~number][::-1]
        line += arc[1:] if line else arc
    return whole(line)


def whole(line: Line) -> Line:
    """Go on beyond 180 degrees at the date line; a ring about the pole is closed through it."""
    found = line[:1]
    for x, y in line[1:]:
        turns = round((found[-1][0] - x) / 360.0)
        found.append((x + 360.0 * turns, y))
    if abs(found[-1][0] - found[0][0]) > 180.0:
        found += [(found[-1][0], -90.0), (found[0][0], -90.0), found[0]]
    return found


def packed(lines: list[Line]) -> str:
    """Write how many places a line has, then the steps between them: zigzag, seven bits a byte."""
    found = bytearray()

    def put(number: int) -> None:
        rest = 2 * number if number >= 0 else -2 * number - 1
        while rest >= 128:
            found.append(rest & 127 | 128)
            rest >>= 7
        found.append(rest)

    for line in lines:
        places = [(round(x / STEP), round(y / STEP)) for x, y in line]
        kept = [p for row, p in enumerate(places) if row == 0 or p != places[row - 1]]
        if len(kept) < 2:
            continue
        put(len(kept))
        for (x, y), (before_x, before_y) in zip(kept, [(0, 0), *kept[:-1]], strict=True):
            put(x - before_x)
            put(y - before_y)
    return base64.b64encode(bytes(found)).decode("ascii")


def main(source: str, target: str) -> None:
    """Write land as closed rings, and borders, which are the arcs that two countries share."""
    topology = json.loads(Path(source).read_text(encoding="utf-8"))
    arcs, objects = arcs_of(topology), topology["objects"]
    land = [joined(ring, arcs) for ring in rings_of(objects["land"])]
    used = Counter(
        number if number >= 0 else ~number
        for country in objects["countries"]["geometries"]
        for ring in rings_of(country)
        for number in ring
    )
    borders = [whole(arcs[number]) for number, n in sorted(used.items()) if n > 1]
    lines = {"origin": ORIGIN, "step": STEP, "land": packed(land), "borders": packed(borders)}
    Path(target).write_text(json.dumps(lines, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
