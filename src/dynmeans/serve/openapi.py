"""The interface of the server in OpenAPI 3.1."""

from typing import Any

import dynmeans
from dynmeans.records.events import KINDS
from dynmeans.runs.store.run_tables import STATUSES

MOST_ROWS = 10_000
TOTAL = "x-total-count"  # the header of a table that says how many rows there are
_INTEGER = {"type": "integer", "minimum": 0}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": MOST_ROWS}
_WHO = {"type": "string", "description": "Who says so.", "maxLength": 200}


def _answer(text: str, kind: str = "application/json", **more: Any) -> dict[str, Any]:
    return {
        "summary": text,
        "responses": {"200": {"description": text, "content": {kind: {}}}},
    } | more


def _table(text: str, **more: Any) -> dict[str, Any]:
    answer = _answer(text, **more)
    told = "How many rows there are; more than the answer holds where `limit` cuts it."
    answer["responses"]["200"]["headers"] = {
        TOTAL: {"description": told, "schema": _INTEGER, "required": True}
    }
    answer["responses"]["422"] = {"description": "A parameter is out of its bounds; `error` says."}
    return answer


def _query(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema}


def _change(text: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return _answer(text) | {"requestBody": body}


_PATHS = {
    "/": {"get": _answer("The report, which grows with the run.", "text/html")},
    "/health": {"get": _answer("200 if the run can be read.")},
    "/metrics": {"get": _answer("Numbers for Prometheus.", "text/plain")},
    "/openapi.json": {"get": _answer("This description.")},
    "/api/status": {"get": _answer("How far the run is.")},
    "/api/clusters": {
        "get": _table(
            "The clusters, newest first.",
            parameters=[
                _query("limit", _LIMIT | {"default": 1000}),
                _query("status", {"enum": [*STATUSES]}),
            ],
        )
    },
    "/api/events": {
        "get": _table(
            "What happened after a window.",
            parameters=[
                _query("after", {"type": "integer", "minimum": -1}),
                _query("kind", {"enum": list(KINDS)}),
                _query("limit", _LIMIT | {"default": 1000}),
            ],
        )
    },
    "/api/links": {"get": _answer("Clusters born where a forgotten one had been.")},
    "/api/labels": {
        "get": _table(
            "The labels of a window, by default the last.",
            parameters=[
                _query("step", _INTEGER),
                _query("limit", _LIMIT | {"default": MOST_ROWS}),
            ],
        )
    },
    "/api/stream": {
        "get": _answer(
            "Server-sent events: `windows`, chunks of the report's format, with the "
            "number of the last window as id; `edits`, fields of its header.",
            "text/event-stream",
            parameters=[_query("after", {"type": "integer", "minimum": -1})],
        )
    },
    "/api/predict": {
        "post": _change(
            "The cluster of each point as of the last window; -1 for a new one.",
            points={
                "type": "array",
                "items": {"type": "array", "items": {"type": "number"}},
                "maxItems": MOST_ROWS,
            },
        )
    },
    "/api/names": {
        "get": _answer("Names of clusters."),
        "post": _change(
            "Give a cluster a name; an empty one takes it away.",
            cluster_id=_INTEGER,
            name={"type": "string", "maxLength": 200},
            who=_WHO,
        ),
    },
    "/api/edits": {
        "get": _answer("The log of edits."),
        "post": _change(
            "Merge two clusters, pin one, or undo an edit.",
            kind={"enum": ["merge", "pin", "undo"]},
            cluster_id=_INTEGER,
            other_id=_INTEGER,
            number=_INTEGER,
            who=_WHO,
        ),
    },
    "/api/runs": {
        "post": _change(
            "Cluster the run's rows with other settings, in a run beside it; `address` is "
            "where that is shown. What is not given stays; max_gap null is for ever.",
            new_penalty={"type": "number"},
            max_gap={"type": ["number", "null"]},
            reach={"type": "number"},
            motion={"enum": ["still", "steady"]},
            search={"enum": ["paper", "split", "deep"]},
        )
    },
}


def openapi() -> dict[str, Any]:
    """Return the description.

    >>> sorted(openapi()["paths"])[:3]
    ['/', '/api/clusters', '/api/edits']
    """
    bearer = {"type": "http", "scheme": "bearer"}
    cookie = {"type": "apiKey", "in": "cookie", "name": "dynmeans_token"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "dynmeans serve", "version": dynmeans.__version__},
        "components": {"securitySchemes": {"bearer": bearer, "cookie": cookie}},
        "security": [{}, {"bearer": []}, {"cookie": []}],
        "paths": _PATHS,
    }
