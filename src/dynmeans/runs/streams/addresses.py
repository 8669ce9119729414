"""Addresses of places that streams live in: ``redis://``, ``kafka://``, ``mqtt://``, ``postgresql://``."""

import importlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from dynmeans.inputs.input_error import InputError

if TYPE_CHECKING:
    from dynmeans.runs.streams.message import Stream
    from dynmeans.runs.streams.sink import Sink

# The module of each kind of place, and the library it needs; loaded when such an address is given.
_PLACES = {
    "redis": "redis_connector",
    "rediss": "redis_connector",
    "kafka": "kafka_connector",
    "mqtt": "mqtt_connector",
    "mqtts": "mqtt_connector",
    "postgresql": "postgresql_connector",
    "postgres": "postgresql_connector",
}


@dataclass(frozen=True, slots=True)
class Address:
    """An address in its parts.

    Attributes
    ----------
    scheme, hosts, path : str
        Kind of place, ``host:port`` (several with commas), and what follows the first slash.
    user, password : str or None
    options : dict of str to str
        What follows the question mark.
    """

    scheme: str
    hosts: str
    path: str
    user: str | None
    password: str | None
    options: dict[str, str]

    def __str__(self) -> str:
        """Return the address without its password, as it is stored and told."""
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        shown = {name: value for name, value in self.options.items() if "password" not in name}
        options = f"?{urlencode(shown, safe='/:,')}" if shown else ""
        return f"{self.scheme}://{user}{self.hosts}/{quote(self.path, safe='/+#$')}{options}"

    def host_and_port(self, port: int) -> tuple[str, int]:
        """Return the one host, and its port or the usual one."""
        parts = urlsplit(f"//{self.hosts}")
        try:
            return parts.hostname or "localhost", parts.port or port
        except ValueError as error:
            raise InputError("input", ": {} in {!r}", str(error), str(self)) from error

    def taken(self, *names: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return the options of these names, and all others."""
        mine = {name: value for name, value in self.options.items() if name in names}
        return mine, {name: v for name, v in self.options.items() if name not in names}

    def only(self, *names: str) -> dict[str, str]:
        """Return the options; others than these are refused."""
        mine, others = self.taken(*names)
        if others:
            rule = ": {!r} has the option {!r}; known here: {}"
            raise InputError("input", rule, str(self), min(others), ", ".join(names) or "none")
        return mine


def is_address(text: object) -> bool:
    """Say whether a text is the address of a place that streams live in.

    Examples
    --------
    >>> is_address("redis://localhost/0?stream=rows"), is_address("rows.parquet")
    (True, False)
    """
    return isinstance(text, str) and text.partition("://")[0] in _PLACES and "://" in text


def parse_address(text: str) -> Address:
    """Take an address apart.

    Examples
    --------
    >>> address = parse_address("mqtt://me:secret@broker:1883/ships/+/rows?client=one")
    >>> address.path, address.user, address.password, address.options
    ('ships/+/rows', 'me', 'secret', {'client': 'one'})
    >>> str(address)
    'mqtt://me@broker:1883/ships/+/rows?client=one'
    """
    scheme, _, rest = text.partition("://")
    rest, _, query = rest.partition("?")
    where, _, path = rest.partition("/")
    who, _, hosts = where.rpartition("@")
    user, _, password = who.partition(":")
    return Address(
        scheme,
        hosts,
        unquote(path),
        unquote(user) or None,
        unquote(password) or None,
        dict(parse_qsl(query, keep_blank_values=True)),
    )


def open_stream(text: str, columns: tuple[str, ...], stop: threading.Event) -> "Stream":
    """Return the stream at an address; it is connected to when it is first read.

    Parameters
    ----------
    text : str
        The address.
    columns : tuple of str
        Those that are needed; a place that has columns gives these alone.
    stop : threading.Event
        Ends pauses.
    """
    made: Stream = _module(text).open_stream(parse_address(text), columns, stop)
    return made


def open_sink(text: str, stop: threading.Event) -> "Sink":
    """Return the place at an address that labels and events are sent to."""
    if not is_address(text):
        known = ", ".join(f"{name}://" for name in _PLACES if name not in ("rediss", "mqtts"))
        raise InputError("to", f"must begin with one of {known}", got=text)
    made: Sink = _module(text).open_sink(parse_address(text), stop)
    return made


def _module(text: str) -> Any:
    return importlib.import_module(f"dynmeans.runs.streams.{_PLACES[text.partition('://')[0]]}")
