"""What the server answers, from an open run and a request: values for JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import check_points
from dynmeans.follow.predict import predict
from dynmeans.records.events import KINDS
from dynmeans.runs.analysis.suggested_matches import suggested_matches_of_run
from dynmeans.runs.edits import UNDO
from dynmeans.runs.run import Run
from dynmeans.runs.store.run_tables import count_clusters, count_events

MAX_ROWS = 10_000
MAX_STEPS = 1 << 53
Body = Mapping[str, Any]

# The fields of an edit besides its kind: those it needs, and those it may have.
_EDIT_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "merge": (("cluster_id", "other_id"), ("author",)),
    "pin": (("cluster_id",), ("author",)),
    "undo": ((), ("edit_id", "author")),
    "level": (("level",), ()),
}


class TablePage(NamedTuple):
    """The first rows of a table, and how many it has."""

    rows: list[Any]
    n_all: int


def _status(run: Run, asked: QueryParams) -> dict[str, Any]:
    found = asdict(run.status())
    del found["folder"]  # where it lies is nobody's business
    return found


def _clusters(run: Run, asked: QueryParams) -> TablePage:
    """The newest first."""
    status, limit = asked.get("status"), _limit(asked, 1000)
    found = run.clusters(status=status, limit=limit, frame="arrow").to_pylist()
    return TablePage(found[::-1], count_clusters(run.store, run.cluster_state, status))


def _events(run: Run, asked: QueryParams) -> TablePage:
    limit, kinds = _limit(asked, 1000), asked.getlist("kind")
    first = 1 + parse_query_integer("after", asked.get("after", "-1"), -1, MAX_STEPS)
    if unknown := set(kinds) - set(KINDS):
        raise HTTPException(422, f"there is no kind {min(unknown)!r}")
    found = run.events(kinds=kinds, first_step=first, limit=limit, frame="arrow")
    return TablePage(found.to_pylist(), count_events(run.store, kinds, first_step=first))


def _labels(run: Run, asked: QueryParams) -> TablePage:
    limit, step = _limit(asked, MAX_ROWS), max(0, run.status().n_windows - 1)
    if "step" in asked:
        step = parse_query_integer("step", asked["step"], 0, MAX_STEPS)
    found = run.labels(first_step=step, last_step=step, frame="arrow")
    return TablePage(found.slice(0, limit).to_pylist(), found.num_rows)


def _names(run: Run, asked: QueryParams | None = None) -> dict[str, str]:
    return {str(k): name for k, name in run.edits.display_names().items()}


READ = {
    "/health": lambda run, asked: {"status": "ok", "is_running": run.status().is_running},
    "/api/status": _status,
    "/api/clusters": _clusters,
    "/api/events": _events,
    "/api/labels": _labels,
    "/api/names": _names,
    "/api/edits": lambda run, asked: [asdict(edit) for edit in run.edits.log],
    "/api/suggested-matches": lambda run, asked: [
        link._asdict() for link in suggested_matches_of_run(run)
    ],
}


def post_predict(run: Run, body: Body) -> dict[str, Any]:
    """The cluster of each point, as of the last window; -1 where it would be a new one."""
    _check_fields(body, "points")
    points = body["points"]
    if not isinstance(points, list) or not 0 < len(points) <= MAX_ROWS:
        raise HTTPException(422, f"points must be a list of 1 to {MAX_ROWS:,} rows")
    rows, memory = check_points(points, len(run.config.features)), run.memory
    labels, costs = np.full(len(rows), -1), np.zeros(len(rows))
    if memory is not None:  # something is remembered
        labels, costs = predict(run.config.model_config, memory, Batch(rows))
    return {"cluster_ids": labels.tolist(), "costs": costs.tolist()}


def post_name(run: Run, body: Body) -> dict[str, Any]:
    """Give a cluster a name."""
    _check_fields(body, "cluster_id", "name", optional=("author",))
    k, name = _integer(body, "cluster_id"), _text(body, "name")
    return asdict(run.name_cluster(k, name, author=_author(body)))


def post_edit(run: Run, body: Body) -> dict[str, Any]:
    """Merge, pin, undo, or choose the level that the run shows."""
    kind = body.get("kind")
    if not isinstance(kind, str) or kind not in _EDIT_FIELDS:
        raise HTTPException(422, "kind must be merge, pin, undo or level")
    required, optional = _EDIT_FIELDS[kind]
    _check_fields(body, "kind", *required, optional=optional)
    if kind == "level":
        run.choose_level(_text(body, "level"))
        return {"kind": kind, "level": body["level"]}
    author = _author(body)
    if kind == "merge":
        pair = _integer(body, "cluster_id"), _integer(body, "other_id")
        return asdict(run.merge_clusters(*pair, author=author))
    if kind == "pin":
        return asdict(run.pin_cluster(_integer(body, "cluster_id"), author=author))
    edit_id = _integer(body, "edit_id") if "edit_id" in body else None
    return asdict(run.undo_edit(edit_id, author=author))


def current_edits(run: Run) -> dict[str, Any]:
    """Return what edits come to, as fields of the header of a page."""
    edits = run.edits
    undone = edits.undone_edits()
    kept = [edit for edit in edits.log if edit.kind != UNDO and edit.edit_id not in undone]
    return {
        "cluster_names": _names(run),
        "merged": {str(k): shown for k, shown in edits.merged.items()},
        "pinned": sorted(edits.pinned),
        "last_edit": asdict(kept[-1]) if kept else None,
    }


def parse_query_integer(name: str, text: str, low: int, high: int) -> int:
    """Return an integer of an address, or refuse it by name."""
    if not text.removeprefix("-").isdecimal() or not text.isascii() or len(text) > 18:
        raise HTTPException(422, f"{name} must be an integer")
    if not low <= int(text) <= high:
        raise HTTPException(422, f"{name} must be from {low:,} to {high:,}, got {int(text):,}")
    return int(text)


def _limit(asked: QueryParams, default: int) -> int:
    return parse_query_integer("limit", asked.get("limit", str(default)), 1, MAX_ROWS)


def _check_fields(body: Body, *required: str, optional: tuple[str, ...] = ()) -> None:
    """Refuse a field that is not known: it may be another one mistyped, as that of an undo."""
    known = (*required, *optional)
    if missing := [name for name in required if name not in body]:
        raise HTTPException(422, f"{missing[0]} is missing")
    if unknown := [name for name in body if name not in known]:
        fields = ", ".join(known)
        raise HTTPException(422, f"there is no field {unknown[0]!a:.40}; the fields are {fields}")


def _integer(body: Body, name: str) -> int:
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
        raise HTTPException(422, f"{name} must be an integer of at least 0")
    return value


def _text(body: Body, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise HTTPException(422, f"{name} must be text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise HTTPException(422, f"{name} must be text in Unicode") from error
    return value


def _author(body: Body) -> str:
    return _text(body, "author") if "author" in body else "over HTTP"
