"""Guard: who may ask, and how much; before any request is looked at."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.responses import JSONResponse

MAX_BODY = 1 << 20
BODY_SECONDS = 10.0
_TOO_LARGE = 413, f"a request may hold at most {MAX_BODY:,} bytes"
COOKIE = "dynmeans_token"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Lets a request through if it has the token, or comes to this machine by its own name.

    Without a token a request may use only the `hosts`: a page of another site that resolves to this
    machine has another name.
    """

    def __init__(self, app: App, token: str | None, hosts: tuple[str, ...] = LOOPBACK) -> None:
        self._app, self._token, self._hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        refusal, app = self._refusal(scope, headers), self._app
        if refusal is None and scope["method"] not in ("GET", "HEAD"):
            body = await _whole_body(receive)
            if isinstance(body, bytes):
                receive = _given_token(body, receive)
            else:
                refusal = body
        cookie = self._new_cookie(scope)
        if refusal is not None:
            app, cookie = _refuse(*refusal), []

        async def send_more(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                added = [pair for pair in _HEADERS if pair[0] not in own]
                message["headers"] = [*message["headers"], *added, *cookie]
            await send(message)

        await app(scope, receive, send_more)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        if int(_digits(headers.get(b"content-length", b"0"))) > MAX_BODY:
            return _TOO_LARGE
        if self._token is not None:
            if not self._has_token(scope, headers):
                return 401, (
                    "the token is missing or wrong: send the header Authorization: Bearer TOKEN, "
                    "or open the address with ?token=TOKEN"
                )
        elif _host_of(headers.get(b"host", b"")) not in self._hosts:
            return 403, "this server answers to its own name only; use a token for others"
        if scope["method"] not in ("GET", "HEAD"):
            return _check_origin(scope, headers)
        return None

    def _has_token(self, scope: Scope, headers: dict[bytes, bytes]) -> bool:
        requires_token = [headers.get(b"authorization", b"").removeprefix(b"Bearer ")]
        requires_token += [token.encode() for token in _requested_host(scope)]
        try:
            cookies = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
            requires_token += [cookies[COOKIE].value.encode()] if COOKIE in cookies else []
        except CookieError:
            pass
        expected = (self._token or "").encode()
        # Each is compared to its end, so that time tells nothing.
        return any([hmac.compare_digest(one, expected) for one in requires_token])

    def _new_cookie(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """The token of the address goes into a cookie, which scripts cannot read."""
        if self._token is None or not _requested_host(scope):
            return []
        value = f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/"
        return [(b"set-cookie", value.encode("latin-1"))]


def _requested_host(scope: Scope) -> list[str]:
    query = scope.get("query_string", b"").decode("latin-1")
    try:
        return parse_qs(query, max_num_fields=50).get("token", [])
    except ValueError:
        return []


def _check_origin(scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
    """A page of another site can send forms and plain text, but not this kind and origin."""
    kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
    if kind != b"application/json":
        return 415, "send JSON, with the content type application/json"
    origin = headers.get(b"origin")
    if origin is None:
        return None
    parts = urlsplit(origin.decode("latin-1"))
    if parts.netloc.encode("latin-1") != headers.get(b"host", b""):
        return 403, "a page of another site may not change anything"
    return None


def _host_of(value: bytes) -> str:
    try:
        return urlsplit(f"//{value.decode('latin-1')}").hostname or ""
    except ValueError:
        return ""


def _digits(value: bytes) -> str:
    text = value.decode("latin-1").strip()
    return text if text.isascii() and text.isdecimal() and len(text) < 19 else str(MAX_BODY + 1)


async def _whole_body(receive: Receive) -> bytes | tuple[int, str]:
    """Read a body to its end, or return the reason."""
    body, is_more = b"", True
    end = asyncio.get_running_loop().time() + BODY_SECONDS
    while is_more:
        try:
            left = end - asyncio.get_running_loop().time()
            message = await asyncio.wait_for(receive(), left)
        except TimeoutError:
            return 408, "the body of the request did not come in time"
        if message["type"] == "http.disconnect":
            return 400, "the body of the request is incomplete"
        body += message.get("body", b"")
        is_more = message.get("more_body", False)
        if len(body) > MAX_BODY:
            return _TOO_LARGE
    return body


def _given_token(body: bytes, receive: Receive) -> Receive:
    """Hand out a body that was read already, then what comes after it."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def requires_token() -> MutableMapping[str, Any]:
        return left.pop() if left else await receive()

    return requires_token


def _refuse(status: int, text: str) -> App:
    headers = {"connection": "close"} | ({"www-authenticate": "Bearer"} if status == 401 else {})
    return JSONResponse({"error": text}, status, headers)
