"""The server: one application behind its guard, run until it is stopped."""

import asyncio
import contextlib
import signal
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import uvicorn

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.run import Run
from dynmeans.serve.api import make_app
from dynmeans.serve.connections import MAX_CONNECTIONS, TimedConnection
from dynmeans.serve.feed import RunFeed
from dynmeans.serve.guard import LOOPBACK, Guard

MIN_TOKEN_LENGTH = 16


def make_guarded_app(folder: Path, token: str | None) -> Guard:
    """Return the application of a run, with its guard."""
    feed = RunFeed(folder)
    app = make_app(feed)

    @contextlib.asynccontextmanager
    async def _watch(_: Any) -> AsyncIterator[None]:
        feed.look()  # before the first request
        watching = asyncio.create_task(feed.watch())
        try:
            yield
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    app.router.lifespan_context = _watch
    return Guard(app, token)


def check_free(host: str, port: int) -> None:
    """Refuse a port that cannot be listened on, before its address is printed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.closing(socket.socket(family)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError("port", "must be free, got {} ({})", port, reason) from error


def serve(folder: Path, host: str, port: int, token: str | None) -> None:
    """Serve a run until the process is stopped."""
    if token is None and host not in LOOPBACK:
        raise InputError("token", "must be given if {host} is not this machine")
    if token is not None and len(token) < MIN_TOKEN_LENGTH:
        raise InputError("token", f"must have at least {MIN_TOKEN_LENGTH} characters")
    if token is not None and not (
        token.isascii() and token.replace("-", "").replace("_", "").isalnum()
    ):
        raise InputError("token", "must hold letters, digits, - and _ only")
    Run.open(folder).close()  # before a port is taken
    with _end_cleanly():
        uvicorn.Server(server_config(folder, token, host=host, port=port)).run()


@contextlib.contextmanager
def _end_cleanly() -> Iterator[None]:
    """End with exit code 0 on SIGTERM, which uvicorn raises again once it has stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def server_config(folder: Path, token: str | None, **place: Any) -> uvicorn.Config:
    """Return how a run is served: the application, and the bounds of its connections."""
    return uvicorn.Config(
        make_guarded_app(folder, token),
        log_level="warning",
        access_log=False,
        server_header=False,
        http=TimedConnection,
        ws="none",
        limit_concurrency=2 * MAX_CONNECTIONS,  # of tasks: two where one ends and one begins
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=64 * 1024,
        **place,
    )
