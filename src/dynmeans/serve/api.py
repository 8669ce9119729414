"""The application: the page, what a run holds as JSON, edits of it, and a stream of what is new."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from dynmeans.serve.feed import RunFeed
from dynmeans.serve.handlers import (
    MAX_STEPS,
    READ,
    TablePage,
    current_edits,
    parse_query_integer,
    post_edit,
    post_name,
    post_predict,
)
from dynmeans.serve.metrics import metrics_text

MAX_CLIENTS = 200
TOTAL = "x-total-count"  # the header of a table that says how many rows there are
_ALIVE_SECONDS, _PAUSE_SECONDS, _SUMMARY_PAUSE = 15.0, 0.2, 2.5
_PAGE_POLICY = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_WAITING = (
    "<!DOCTYPE html><meta charset=utf-8><title>dynmeans</title>"
    "<p>The run has no window yet. This page reloads automatically.</p>"
)


def make_app(feed: RunFeed) -> Starlette:
    """Return the application without its guard."""
    api = _Api(feed)
    routes = [Route("/", api.page), Route("/metrics", api.metrics)]
    routes += [Route(path, api.get_route(work)) for path, work in READ.items()]
    routes += [
        Route("/api/predict", api.post_route(feed.read, post_predict), methods=["POST"]),
        Route("/api/names", api.post_route(feed.change, post_name), methods=["POST"]),
        Route("/api/edits", api.post_route(feed.change, post_edit), methods=["POST"]),
        Route("/api/stream", api.stream),
    ]
    handlers: Any = {OSError: _server_error, HTTPException: _http_error}
    handlers |= dict.fromkeys((ValueError, TypeError, OverflowError), _bad_request)
    return Starlette(routes=routes, exception_handlers=handlers)


class _Api:
    """What is answered, and how many read the stream."""

    def __init__(self, feed: RunFeed) -> None:
        self._feed = feed
        self._n_readers = 0

    async def page(self, request: Request) -> Response:
        """The report, which grows with the run."""
        if self._feed.last_step < 0:
            return HTMLResponse(_WAITING, headers={"refresh": "2"})
        page = await self._feed.page()
        return HTMLResponse(page, headers={"content-security-policy": _PAGE_POLICY})

    async def metrics(self, request: Request) -> Response:
        """Numbers for Prometheus."""
        text = await self._feed.read(lambda run: metrics_text(run, self._n_readers))
        return Response(text, media_type="text/plain; version=0.0.4")

    def get_route(self, work: Callable[..., Any]) -> Any:
        """Return what answers with what the run holds."""

        async def answer(request: Request) -> Response:
            return _json(await self._feed.read(lambda run: work(run, request.query_params)))

        return answer

    def post_route(self, call: Callable[..., Any], work: Callable[..., Any]) -> Any:
        """Return what answers to a body: reads the run, or changes it."""

        async def answer(request: Request) -> Response:
            body = await _body(request)
            return _json(await call(lambda run: work(run, body)))

        return answer

    async def stream(self, request: Request) -> Response:
        """Server-sent events: windows as they are committed, and edits as they are made."""
        requires_token = request.headers.get(
            "last-event-id", request.query_params.get("after", "-1")
        )
        after = parse_query_integer("after", requires_token, -1, MAX_STEPS)
        run_id = request.query_params.get("run", self._feed.run_id)
        if self._n_readers >= MAX_CLIENTS:
            raise HTTPException(503, f"at most {MAX_CLIENTS} clients are allowed")
        self._n_readers += 1  # at once, so that others who ask meanwhile are counted too
        return _EventStream(self._events(run_id, after), self._leave)

    def _leave(self) -> None:
        self._n_readers -= 1

    async def _events(self, run_id: str, step: int) -> Any:
        yield "retry: 1000\n\n"
        n_edits, message = -1, step
        while run_id == self._feed.run_id and step <= self._feed.last_step:
            try:
                if (now := self._feed.n_edits) != n_edits:
                    edits = _json_text(await self._feed.read(current_edits, run_id))
                    yield f"event: edits\ndata: {edits}\n\n"
                    n_edits = now
                while self._feed.last_step > step:
                    step, chunk = await self._feed.chunk_after(run_id, step)
                    yield b"id: %d\nevent: windows\ndata: %b\n\n" % (step, chunk)
                if message < step:
                    message, fields = await self._feed.summary(run_id)
                    yield f"event: summary\ndata: {_json_text(fields)}\n\n"
            except (OSError, ValueError):  # replaced, as the feed will see, or away for a moment
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            seconds = _ALIVE_SECONDS if message >= step else _SUMMARY_PAUSE
            await self._feed.wait(run_id, step, n_edits, seconds)
            yield ": still here\n\n"
        yield "event: run_replaced\ndata: {}\n\n"


class _EventStream(StreamingResponse):
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


async def _body(request: Request) -> dict[str, Any]:
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "the body is not JSON") from error
    if not isinstance(found, dict):
        raise HTTPException(422, "the body must be a JSON object")
    return found


def _json(value: Any, status: int = 200) -> Response:
    """Answer with a value; of a table with its rows, and in a header with how many there are."""
    headers = {TOTAL: str(value.n_all)} if isinstance(value, TablePage) else None
    text = _json_text(value.rows if isinstance(value, TablePage) else value)
    return Response(text, status, headers, "application/json")


def _json_text(value: Any) -> str:
    """Return JSON in which no text can be parsed as a tag."""
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


async def _bad_request(request: Request, error: Exception) -> Response:
    return _json({"error": str(error)}, 422)


async def _server_error(request: Request, error: Exception) -> Response:
    return _json({"error": "the run cannot be read or written now"}, 503)


async def _http_error(request: Request, error: HTTPException) -> Response:
    return _json({"error": str(error.detail)}, error.status_code)
