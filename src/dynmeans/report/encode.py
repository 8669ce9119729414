"""The data of a page as JSON, columns of numbers as base64 (docs/report-format.md)."""

import base64
import json
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.plots.earth import earth
from dynmeans.plots.identity_colors import DARK_PALETTE, MARKERS, PALETTE, UNASSIGNED_COLOR
from dynmeans.records.arrays import FloatArray
from dynmeans.records.events import KINDS
from dynmeans.report.arguments import BatchTimes
from dynmeans.report.data import Axis, Backdrop, ReportData
from dynmeans.report.family_levels import FamilyLevels

FORMAT = "dynmeans.report"
VERSION = 2
NO_CLUSTER = 65535  # the slot of a point that belongs to no cluster shown

STYLE = {
    "light": list(PALETTE),
    "dark": list(DARK_PALETTE),
    "markers": list(MARKERS),
    "unassigned": UNASSIGNED_COLOR,
}
_BASE64 = 4 / 3
_BATCH_BYTES = 48 * _BASE64
EVENT_BYTES = 17 * _BASE64
_PLAIN_AXIS = ("name", "kind")


def batch_bytes(times: BatchTimes) -> float:
    """Bytes that the batches take themselves."""
    names = 0 if times.names is None else len(json.dumps(times.names))
    return len(times.values) * _BATCH_BYTES + names


def row_bytes(n_axes: int, has_velocities: bool) -> float:
    """Bytes that one cluster in one batch takes."""
    return (8 + 2 * n_axes * (2 if has_velocities else 1)) * _BASE64


def point_bytes(n_axes: int) -> float:
    """Bytes that one point takes."""
    return (2 + 2 * n_axes) * _BASE64


def pack_report(data: ReportData) -> dict[str, Any]:
    """Return the header and one chunk with all batches."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": data.title,
        "axes": [_encode_axis(axis) for axis in data.axes],
        "initial_axes": list(data.view),
        "is_dated": data.batches.is_dated,
        "event_kinds": list(KINDS),
        "style": STYLE,
        "n_clusters": data.n_clusters,
        "parameters": [list(pair) for pair in data.parameters],
        "scores": [
            {"name": score.name, "value": _number(score.value), "meaning": score.meaning}
            for score in data.scores
        ],
        "notes": list(data.notes),
        "summary": list(data.summary),
        "warnings": [warned._asdict() for warned in data.warnings],
        "y_down": data.y_down,
        "totals": None if data.totals is None else list(data.totals),
        "cluster_names": {str(k): name for k, name in data.cluster_names.items()},
        "merged": {str(k): shown for k, shown in data.merged.items()},
        "pinned": sorted(data.pinned),
        "levels": data.levels,
        "counts": data.counts,
        "calls": data.calls,
        "suggested_matches": [list(link) for link in data.suggested_matches],
        "descriptions": {str(k): list(texts) for k, texts in data.descriptions.items()},
        "backdrop": _encode_backdrop(data.backdrop),
        "families": _encode_families(data.families),
        "confirmed": {"min_cluster_size": data.min_cluster_size, "min_batches": data.min_batches},
        "lon_lat": None if data.lon_lat is None else list(data.lon_lat),
        "earth": earth() if data.lon_lat is not None and data.backdrop is None else None,
        "unit": data.unit,
        "chunks": [pack_chunk(data)],
    }


def pack_chunk(data: ReportData) -> dict[str, Any]:
    """Return the columns of all batches, the form in which a live page is given more."""
    places = np.concatenate([data.clusters.places, data.points.places])
    low, high = _limits(places)
    batches, events = data.batches, data.events
    slots = np.where(data.points.slots < 0, NO_CLUSTER, data.points.slots)
    return {
        "batches": {
            "steps": _encode_floats(batches.steps, "<u4"),
            "times": _encode_floats(batches.times, "<f8"),
            "utc_offsets": _encode_floats(batches.utc_offsets, "<i2"),
            "clocks": _encode_floats(batches.clocks, "<f8"),
            "costs": _encode_floats(batches.costs, "<f8"),
            "n_points": _encode_floats(batches.n_points, "<u4"),
            "n_seen": _encode_floats(batches.n_seen, "<u4"),
            "n_remembered": _encode_floats(batches.n_remembered, "<u4"),
            "names": None if batches.names is None else list(batches.names),
        },
        "limits": [low.tolist(), high.tolist()],
        "clusters": {
            "sizes": _encode_floats(data.clusters.sizes, "<u4"),
            "ids": _encode_floats(data.clusters.ids, "<u4"),
            "counts": _encode_floats(data.clusters.counts, "<f4"),
            "places": _encode_floats(_quantize(data.clusters.places, low, high), "<u2"),
            **_encode_velocities(data.clusters.velocities),
        },
        "points": {
            "sizes": _encode_floats(data.points.sizes, "<u4"),
            "slots": _encode_floats(slots, "<u2"),
            "places": _encode_floats(_quantize(data.points.places, low, high), "<u2"),
        },
        "events": {
            "sizes": _encode_floats(events.sizes, "<u4"),
            "kinds": _encode_floats(events.kinds, "<u1"),
            "ids": _encode_floats(events.ids, "<u4"),
            "others": _encode_floats(events.others, "<i4"),
            "gaps": _encode_floats(events.gaps, "<f4"),
            "displacements": _encode_floats(events.displacements, "<f4"),
        },
    }


def _encode_axis(axis: Axis) -> dict[str, Any]:
    is_around = axis.period is not None
    return {name: value for name, value in asdict(axis).items() if is_around or name in _PLAIN_AXIS}


def _encode_backdrop(backdrop: Backdrop | None) -> dict[str, Any] | None:
    """Write lines to six digits: a page shows no more."""
    if backdrop is None:
        return None
    lines = [
        [[float(f"{value:.6g}") for value in place] for place in line.tolist()]
        for line in backdrop.lines
    ]
    return {"axes": [backdrop.x, backdrop.y], "lines": lines}


def _encode_families(families: FamilyLevels | None) -> dict[str, Any] | None:
    if families is None:
        return None
    level = float(np.clip(families.level, -1e300, 1e300))
    return {
        "joined": _encode_floats(families.children, "<u4"),
        "heights": _encode_floats(families.heights, "<f4"),
        "level": level,
    }


def _encode_velocities(velocities: FloatArray | None) -> dict[str, Any]:
    """Write 32,767 steps up to the fastest of each axis."""
    if velocities is None:
        return {}
    most = np.abs(velocities).max(axis=0, initial=0.0)
    most = np.where(most > 0, most, 1.0)
    steps = np.rint(velocities / most * 32767.0).T
    return {"velocities": _encode_floats(steps, "<i2"), "max_speed": most.tolist()}


def report_json(data: ReportData, trial: dict[str, Any] | None = None) -> str:
    """Return the packed report as text that may stand inside a script element."""
    return in_script(pack_report(data) | ({} if trial is None else {"engine": trial}))


def in_script(value: Any) -> str:
    """Return JSON that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    # Only strings hold these signs, and there they may be written as escapes.
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _limits(places: FloatArray) -> tuple[FloatArray, FloatArray]:
    if len(places) == 0:
        return np.zeros(places.shape[1]), np.ones(places.shape[1])
    low, high = places.min(axis=0), places.max(axis=0)
    return low, np.where(high > low, high, low + np.maximum(1.0, np.abs(low)))


def _quantize(places: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return places in 65,536 steps from low to high, one axis after the other."""
    return np.asarray(np.rint((places - low) / (high - low) * 65535.0).T)


def _encode_floats(values: npt.NDArray[Any], dtype: str) -> str:
    limits = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
    if limits and values.size and (values.min() < limits.min or values.max() > limits.max):
        raise ValueError(
            f"a report holds numbers from {limits.min} to {limits.max} here, "
            f"got {values.min()} to {values.max()}."
        )
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode("ascii")
