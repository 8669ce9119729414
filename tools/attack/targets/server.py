"""Requests to `dynmeans serve`: random paths, tokens, hosts, queries and bodies."""

import asyncio
import copy
import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from attack.mutate import FLOATS, INTEGERS, TEXTS, damaged
from attack.targets import Case
from dynmeans import Run
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.serve.server import make_guarded_app

_TOKEN = "a-token-of-some-length"
_PATHS = [
    "/", "/health", "/metrics", "/api/status", "/api/clusters", "/api/events",
    "/api/labels", "/api/predict", "/api/names", "/api/edits", "/run.sqlite", "/../run.sqlite",
    "/labels/part-000000000000.parquet", "/api/../../etc/passwd", "/static/x", "//etc/passwd",
]  # fmt: skip
_BODIES: list[Any] = [
    {"points": [[0, 0], [9, 9]]}, {"cluster_id": 0, "name": "tug"}, {"cluster_id": 1, "name": ""},
    {"kind": "merge", "cluster_id": 0, "other_id": 1}, {"kind": "undo"}, [], None, 1e308,
    {"cluster_id": 0, "name": "</script><script>alert(1)</script>", "who": "\u202e"},
    {"kind": "pin", "cluster_id": 0},
]  # fmt: skip
_QUERIES = ["", "limit=3", "after=0", "step=1", "kind=born", "status=seen", "limit=-1&after=x"]
_SECRETS = (b"SQLite format", b"PAR1", b"root:", b"Traceback", b"/tmp/")


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """A small run behind a server with a token, and one without."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        with Run.create(
            folder, RunConfig(("x", "y"), ModelConfig(new_penalty=1.0, random_state=0))
        ) as run:
            run.process([Window([[0.0, 0.0], [9.0, 9.0]])] * 3)
        apps = {token: make_guarded_app(folder, token) for token in (None, _TOKEN)}
        yield lambda rng: asyncio.run(_attack(rng, apps))


async def _attack(rng: random.Random, apps: dict[str | None, Any]) -> int:
    token = rng.choice([None, _TOKEN])
    scope, body, is_allowed = _request(rng, token)
    status, headers, answer = await _answer(apps[token], scope, body)
    assert status < 500 or status == 503, f"status {status}: {answer[:200]!r}"
    assert status not in (200, 422) or is_allowed, f"let in: {scope['path']} {scope['headers']}"
    assert not any(secret in answer for secret in _SECRETS), answer[:200]
    assert b"content-security-policy" in headers
    assert b"<script>alert" not in answer
    return 1


def _request(rng: random.Random, token: str | None) -> tuple[dict[str, Any], bytes, bool]:
    path = rng.choice(_PATHS)
    if rng.random() < 0.3:
        path = damaged(path.encode(), rng, []).decode("latin-1")
    body = json.dumps(_body(rng)).encode()
    if rng.random() < 0.5:
        body = damaged(body, rng, [])
    host = rng.choice([b"localhost:8765", b"127.0.0.1", b"evil.example", b"", b"[::1", b"\xff"])
    given = rng.choice([_TOKEN, "", _TOKEN[:-1], _TOKEN + "x", "\x00", _TOKEN.upper()])
    headers = [(b"host", host), (b"content-type", rng.choice([b"application/json", b"text/plain"]))]
    headers += [(b"content-length", rng.choice([str(len(body)).encode(), b"-1", b"9" * 30]))]
    query = rng.choice(_QUERIES).encode()
    way = rng.choice(["bearer", "cookie", "query", "none"])
    if way == "bearer":
        headers.append((b"authorization", f"Bearer {given}".encode()))
    elif way == "cookie":
        headers.append((b"cookie", f"dynmeans_token={given}".encode()))
    elif way == "query":
        query += f"&token={quote(given)}".encode()
    if rng.random() < 0.3:
        query = damaged(query, rng, [])
    is_known_host = host in (b"localhost:8765", b"127.0.0.1")
    is_allowed = is_known_host if token is None else way != "none" and given == _TOKEN
    if token is not None and way == "query":
        is_allowed = True  # the query may have been changed into one that holds the token or not
    method = rng.choice(["GET", "GET", "POST", "POST", "HEAD", "PUT", "DELETE", "\x00"])
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode("latin-1"),
        "query_string": query, "headers": headers, "http_version": "1.1", "scheme": "http",
        "server": ("127.0.0.1", 8765), "client": ("127.0.0.1", 1), "root_path": "",
    }  # fmt: skip
    return scope, body, is_allowed


def _body(rng: random.Random) -> Any:
    """A body that is asked for, often with one wild value or without one of its fields."""
    body = copy.deepcopy(rng.choice(_BODIES))
    if isinstance(body, dict) and rng.random() < 0.4:
        pool = rng.choice([TEXTS, INTEGERS, FLOATS, (None, [], {}, [[]], [[1e101, 0]], "\ud800")])
        body[rng.choice([*body, "who", "number"])] = rng.choice(pool)
    if isinstance(body, dict) and rng.random() < 0.1:
        body.pop(rng.choice([*body]))
    return body


async def _answer(app: Any, scope: dict[str, Any], body: bytes) -> tuple[int, set[bytes], bytes]:
    status, headers, parts = 0, set[bytes](), list[bytes]()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, headers = message["status"], {name for name, _ in message["headers"]}
        else:
            parts.append(message.get("body", b""))

    await app(scope, receive, send)
    return status, headers, b"".join(parts)
