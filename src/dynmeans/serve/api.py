"""The answers of the server: what a run holds as JSON, and edits of it."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import checked_points
from dynmeans.follow.predict import predict
from dynmeans.records.events import KINDS
from dynmeans.runs.edits import UNDO
from dynmeans.runs.look.links import links_of_run
from dynmeans.runs.run import Run
from dynmeans.runs.store.run_tables import count_clusters, count_events
from dynmeans.serve.feed import RunFeed
from dynmeans.serve.metrics import metrics_text

MOST_READERS = 200
MOST_ROWS = 10_000
TOTAL = "x-total-count"  # the header of a table that says how many rows there are
_ALIVE_SECONDS, _PAUSE_SECONDS = 15.0, 0.2
_LAST = 1 << 53  # in place of a step: the last window
_PAGE_POLICY = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


class Api:
    """One function for each address."""

    def __init__(self, feed: RunFeed) -> None:
        self._feed = feed
        self.n_readers = 0

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/", self.page),
            Route("/health", self.health),
            Route("/metrics", self.metrics),
            Route("/api/status", self.status),
            Route("/api/clusters", self.clusters),
            Route("/api/events", self.events),
            Route("/api/labels", self.labels),
            Route("/api/stream", self.stream),
            Route("/api/predict", self.predict, methods=["POST"]),
            Route("/api/names", self.names),
            Route("/api/names", self.rename, methods=["POST"]),
            Route("/api/edits", self.edits),
            Route("/api/edits", self.edit, methods=["POST"]),
            Route("/api/links", self.links),
        ]

    async def page(self, request: Request) -> Response:
        """The report, which grows with the run."""
        if self._feed.last_step < 0:
            return HTMLResponse(_WAITING, headers={"refresh": "2"})
        page = await self._feed.page()
        return HTMLResponse(page, headers={"content-security-policy": _PAGE_POLICY})

    async def health(self, request: Request) -> Response:
        """200 if the run can be read."""
        found = await self._feed.read(lambda run: run.status().is_running)
        return _json({"status": "ok", "is_running": found})

    async def metrics(self, request: Request) -> Response:
        """Numbers for Prometheus."""
        text = await self._feed.read(lambda run: metrics_text(run, self.n_readers))
        return Response(text, media_type="text/plain; version=0.0.4")

    async def status(self, request: Request) -> Response:
        """How far the run is."""
        found = asdict(await self._feed.read(lambda run: run.status()))
        del found["folder"]  # where it lies is nobody's business
        return _json(found)

    async def clusters(self, request: Request) -> Response:
        """The clusters, newest first."""
        limit = _number(request, "limit", 1000, 1, MOST_ROWS)
        status = request.query_params.get("status")
        n_all, rows = await self._feed.read(lambda run: _clusters(run, status, limit))
        return _rows(rows[::-1], n_all)

    async def events(self, request: Request) -> Response:
        """What happened after a window."""
        limit = _number(request, "limit", 1000, 1, MOST_ROWS)
        after = _number(request, "after", -1, -1, 1 << 53)
        kinds = request.query_params.getlist("kind")
        if unknown := set(kinds) - set(KINDS):
            raise HTTPException(422, f"there is no kind {min(unknown)!r}")
        n_all, found = await self._feed.read(lambda run: _events(run, kinds, after + 1, limit))
        return _rows(found, n_all)

    async def labels(self, request: Request) -> Response:
        """The labels of a window."""
        step = _number(request, "step", _LAST, 0, 1 << 53)
        limit = _number(request, "limit", MOST_ROWS, 1, MOST_ROWS)
        found = await self._feed.read(lambda run: _labels(run, step))
        return _rows(found.slice(0, limit).to_pylist(), found.num_rows)

    async def predict(self, request: Request) -> Response:
        """The cluster of each point, as of the last window; -1 where it would be a new one."""
        body = await _body(request)
        points = body.get("points")
        if not isinstance(points, list) or not 0 < len(points) <= MOST_ROWS:
            raise HTTPException(422, f"points must be a list of 1 to {MOST_ROWS:,} rows")
        labels, costs = await self._feed.read(lambda run: _predicted(run, points))
        return _json({"cluster_ids": labels.tolist(), "costs": costs.tolist()})

    async def names(self, request: Request) -> Response:
        """Names of clusters."""
        return _json(await self._feed.read(_names))

    async def rename(self, request: Request) -> Response:
        """Give a cluster a name."""
        body = await _body(request)
        k, name = _integer(body, "cluster_id"), _text(body, "name")
        done = await self._feed.change(lambda run: run.name_cluster(k, name, who=_who(body)))
        return _json(asdict(done))

    async def edits(self, request: Request) -> Response:
        """The log of edits."""
        return _json(await self._feed.read(lambda run: [asdict(e) for e in run.edits.log]))

    async def edit(self, request: Request) -> Response:
        """Merge, pin or undo."""
        body = await _body(request)
        kind, who = body.get("kind"), _who(body)
        if kind == "merge":
            pair = _integer(body, "cluster_id"), _integer(body, "other_id")
            done = await self._feed.change(lambda run: run.merge_clusters(*pair, who=who))
        elif kind == "pin":
            k = _integer(body, "cluster_id")
            done = await self._feed.change(lambda run: run.pin_cluster(k, who=who))
        elif kind == "undo":
            number = _integer(body, "number") if "number" in body else None
            done = await self._feed.change(lambda run: run.undo_edit(number, who=who))
        else:
            raise HTTPException(422, "kind must be merge, pin or undo")
        return _json(asdict(done))

    async def links(self, request: Request) -> Response:
        """Clusters that may be forgotten ones; a merger accepts one."""
        return _json(await self._feed.read(lambda run: [e._asdict() for e in links_of_run(run)]))

    async def stream(self, request: Request) -> Response:
        """Server-sent events: windows as they are committed, and edits as they are made."""
        given = request.headers.get("last-event-id", request.query_params.get("after", "-1"))
        after = _checked_number("after", given, -1, 1 << 53)
        run_id = request.query_params.get("run", self._feed.run_id)
        if self.n_readers >= MOST_READERS:
            raise HTTPException(503, f"there are {MOST_READERS} readers already")
        self.n_readers += 1  # at once, so that others who ask meanwhile are counted too
        return _Reading(self._events(run_id, after), self._leave)

    def _leave(self) -> None:
        self.n_readers -= 1

    async def _events(self, run_id: str, step: int) -> Any:
        yield "retry: 1000\n\n"
        n_edits = -1
        while run_id == self._feed.run_id and step <= self._feed.last_step:
            try:
                if (now := self._feed.n_edits) != n_edits:
                    edits = _json_text(await self._feed.read(_edits_in_force, run_id))
                    yield f"event: edits\ndata: {edits}\n\n"
                    n_edits = now
                while self._feed.last_step > step:
                    step, chunk = await self._feed.chunk_after(run_id, step)
                    yield b"id: %d\nevent: windows\ndata: %b\n\n" % (step, chunk)
            except (OSError, ValueError):  # replaced, as the feed will see, or away for a moment
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            await self._feed.wait(run_id, step, n_edits, _ALIVE_SECONDS)
            yield ": still here\n\n"
        yield "event: replaced\ndata: {}\n\n"


class _Reading(StreamingResponse):
    """Events for one reader, who counts until they end, however they do."""

    def __init__(self, events: Any, leave: Callable[[], None]) -> None:
        headers = {"x-accel-buffering": "no", "cache-control": "no-store"}
        super().__init__(events, 200, headers, "text/event-stream")
        self._leave = leave

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


def make_app(feed: RunFeed) -> Starlette:
    """Return the application without its guard."""
    refused = (ValueError, TypeError, OverflowError)
    handlers: Any = {OSError: _failed} | dict.fromkeys(refused, _refused)
    handlers[HTTPException] = _told
    return Starlette(routes=Api(feed).routes(), exception_handlers=handlers)


def _predicted(run: Run, points: list[Any]) -> Any:
    rows, memory = checked_points(points, len(run.config.features)), run.memory
    if memory is None:  # nothing is remembered yet
        return np.full(len(rows), -1), np.zeros(len(rows))
    return predict(run.config.recipe, memory, Batch(rows))


def _clusters(run: Run, status: str | None, limit: int) -> tuple[int, list[Any]]:
    """How many clusters there are, and the newest of them."""
    found = run.clusters(status=status, limit=limit, frame="arrow")
    return count_clusters(run.store, run.state, status), found.to_pylist()


def _events(run: Run, kinds: list[str], first_step: int, limit: int) -> tuple[int, list[Any]]:
    """How many events there are, and the first of them."""
    found = run.events(kinds=kinds, first_step=first_step, limit=limit, frame="arrow")
    return count_events(run.store, kinds, first_step=first_step), found.to_pylist()


def _labels(run: Run, step: int) -> Any:
    step = max(0, run.status().n_windows - 1) if step == _LAST else step
    return run.labels(first_step=step, last_step=step, frame="arrow")


def _names(run: Run) -> dict[str, str]:
    return {str(k): name for k, name in run.edits.shown_names().items()}


def _edits_in_force(run: Run) -> dict[str, Any]:
    """Return what edits come to, as fields of the header of a page."""
    edits = run.edits
    undone = edits.undone()
    kept = [edit for edit in edits.log if edit.kind != UNDO and edit.number not in undone]
    return {
        "cluster_names": {str(k): name for k, name in edits.shown_names().items()},
        "merged": {str(k): shown for k, shown in edits.merged.items()},
        "pinned": sorted(edits.pinned),
        "last_edit": asdict(kept[-1]) if kept else None,
    }


async def _body(request: Request) -> dict[str, Any]:
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "the body is not JSON") from error
    if not isinstance(found, dict):
        raise HTTPException(422, "the body must be a JSON object")
    return found


def _number(request: Request, name: str, default: int, low: int, high: int) -> int:
    return _checked_number(name, request.query_params.get(name, str(default)), low, high)


def _checked_number(name: str, text: str, low: int, high: int) -> int:
    if not text.removeprefix("-").isdecimal() or not text.isascii() or len(text) > 18:
        raise HTTPException(422, f"{name} must be an integer")
    if not low <= int(text) <= high:
        raise HTTPException(422, f"{name} must be from {low:,} to {high:,}, got {int(text):,}")
    return int(text)


def _integer(body: dict[str, Any], name: str) -> int:
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
        raise HTTPException(422, f"{name} must be an integer of at least 0")
    return value


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise HTTPException(422, f"{name} must be text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise HTTPException(422, f"{name} must be text in Unicode") from error
    return value


def _who(body: dict[str, Any]) -> str:
    return _text(body, "who") if "who" in body else "over HTTP"


def _rows(rows: list[Any], n_all: int) -> Response:
    """Answer with the first rows, and in a header with how many there are."""
    answer = _json(rows)
    answer.headers[TOTAL] = str(n_all)
    return answer


def _json(value: Any, status: int = 200) -> Response:
    return Response(_json_text(value), status, media_type="application/json")


def _json_text(value: Any) -> str:
    """Return JSON in which no text can be taken for a tag, wherever it is put."""
    text = json.dumps(_finite(value), default=str, allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _finite(value: Any) -> Any:
    """JSON has neither infinity nor NaN."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


async def _refused(request: Request, error: Exception) -> Response:
    return _json({"error": str(error)}, 422)


async def _failed(request: Request, error: Exception) -> Response:
    return _json({"error": "the run cannot be read or written now"}, 503)


async def _told(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    return _json({"error": str(getattr(error, "detail", ""))}, status)


_WAITING = (
    "<!DOCTYPE html><meta charset=utf-8><title>dynmeans</title>"
    "<p>The run has no window yet. This page reloads automatically.</p>"
)
