"""Addresses of streams: each begins with the name of a connector, such as ``redis://``."""

import os
import re
import threading
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from dynmeans.inputs.format_count import format_count
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.secrets import NOT_SHOWN

if TYPE_CHECKING:
    from dynmeans.runs.streams.message import Sink, Stream

# Other packages register what an address may begin with, and the module that opens it.
CONNECTORS = "dynmeans.connectors"
_OURS = ("redis", "rediss", "kafka", "mqtt", "mqtts", "postgresql", "postgres")

# Options that are stored and shown. All others may hold a secret: they are used, and left out.
_HARMLESS = frozenset(
    (
        "stream", "table", "by", "client",
        "security.protocol", "sasl.mechanism", "sasl.mechanisms", "client.id", "group.id",
        "broker.address.family", "ssl.ca.location", "ssl.certificate.location",
        "ssl.key.location", "sasl.kerberos.service.name", "enable.ssl.certificate.verification",
        "ssl.endpoint.identification.algorithm",
        "sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "gssencmode", "channel_binding",
        "connect_timeout", "application_name", "target_session_attrs",
    )
)  # fmt: skip
_HOSTS = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[\w.-]*)(:\d+)?(,(\[[0-9A-Fa-f:.%]+\]|[\w.-]+)(:\d+)?)*")
_REFERENCE = re.compile(r"\$\{(file:)?([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Address:
    """An address in its parts."""

    # scheme, hosts, path: kind of place, ``host:port`` (several with commas), and what follows the
    # first slash.
    scheme: str
    hosts: str
    path: str
    user: str | None = field(repr=False)
    password: str | None = field(repr=False)
    options: dict[str, str] = field(repr=False)  # What follows the question mark
    shown: str  # The address as it is stored and shown: without all that may be a secret

    def __str__(self) -> str:
        """Return the address as it is stored and shown."""
        return self.shown

    def redact(self, text: object) -> str:
        """Return a text, such as an error of a client, without the secrets of this address."""
        message, names = str(text), [name for name in self.options if name not in _HARMLESS]
        # A name that is not known may be the rest of a secret with & in it.
        secrets = [self.user or "", self.password or "", *self.options.values(), *names]
        for secret in sorted(secrets, key=len, reverse=True):
            if len(secret) > 2 and secret not in self.shown:
                for form in (secret, quote(secret, safe=""), repr(secret)[1:-1]):
                    message = message.replace(form, "***")
        return message

    def host_and_port(self, port: int) -> tuple[str, int]:
        """Return the one host, and its port or the usual one."""
        parts = urlsplit(f"//{self.hosts}")
        try:
            return parts.hostname or "localhost", parts.port or port
        except ValueError as error:
            raise InputError("input", ": {} in {!r}", str(error), str(self)) from error

    def split_options(self, *names: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return the options of these names, and all others."""
        mine = {name: value for name, value in self.options.items() if name in names}
        return mine, {name: v for name, v in self.options.items() if name not in names}

    def only(self, *names: str) -> dict[str, str]:
        """Return the options; others than these are refused."""
        mine, others = self.split_options(*names)
        if others:  # not named: they may be the rest of a secret with & in it
            rule = ": {!r} has {} that {} not known here; known: {}"
            n_others, verb = (
                format_count(len(others), "option"),
                "is" if len(others) == 1 else "are",
            )
            hint = "Write & in a password as %26."
            message = ", ".join(names) or "none"
            raise InputError("input", rule, str(self), n_others, verb, message, hint=hint)
        return mine


def is_address(text: object) -> bool:
    """Return whether a text is the address of a place that streams live in."""
    return isinstance(text, str) and "://" in text and text.partition("://")[0] in _connectors()


def parse_address(text: str) -> Address:
    """Take an address apart.

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
    user, _, password = map(unquote, who.partition(":"))
    if "@" in path + query or not _HOSTS.fullmatch(hosts):
        raise InputError(
            "",
            "an address is {}://USER:PASSWORD@HOST:PORT/...; this one is not shown, because "
            "it may contain a password",
            scheme,
            hint="Write / ? # @ : and % in a name or a password as %2F %3F %23 %40 %3A and %25.",
        )
    options = dict(parse_qsl(query, keep_blank_values=True))
    is_shown = bool(user) and (bool(password) or scheme.startswith("postgres"))
    shown = f"{scheme}://{quote(user, safe='') + '@' if is_shown else ''}{hosts}/"
    shown += quote(unquote(path), safe="/+#$")
    public_options = {name: value for name, value in options.items() if name in _HARMLESS}
    shown += f"?{urlencode(public_options, safe='/:,')}" if public_options else ""
    given = {name: _resolve(value) for name, value in options.items()}
    return Address(
        scheme, hosts, unquote(path), user or None, _resolve(password) or None, given, shown
    )


def _resolve(text: str) -> str:
    """Put what ``${NAME}`` of the environment and ``${file:PATH}`` hold in their place."""

    def value(place: re.Match[str]) -> str:
        is_file, name = place.groups()
        if is_file:
            return Path(name).read_text(encoding="utf-8").rstrip("\r\n")
        if name not in os.environ:
            raise InputError("", "there is no variable {!r} in the environment", name)
        return os.environ[name]

    return _REFERENCE.sub(value, text)


def open_stream(text: str, columns: tuple[str, ...], stop: threading.Event) -> "Stream":
    """Return the stream at an address; it is connected to when it is first read."""
    made: Stream = _module(text).open_stream(parse_address(text), columns, stop)
    return made


def open_sink(text: str, stop: threading.Event, argument: str = "stream") -> "Sink":
    """Return the place at an address that labels and events are sent to."""
    if not is_address(text):
        known = ", ".join(f"{name}://" for name in sorted(_connectors()))
        raise InputError(argument, f"must begin with one of {known}, got one {NOT_SHOWN}")
    made: Sink = _module(text).open_sink(parse_address(text), stop)
    return made


@cache
def _connectors() -> dict[str, EntryPoint | None]:
    """Return what an address may begin with; other packages do not replace one of ours."""
    return {one.name: one for one in entry_points(group=CONNECTORS)} | dict.fromkeys(_OURS)


def _module(text: str) -> Any:
    scheme = text.partition("://")[0]
    entry = _connectors()[scheme]
    return _our_connector(scheme) if entry is None else entry.load()


def _our_connector(scheme: str) -> Any:
    if scheme.startswith("redis"):
        from dynmeans.runs.streams import redis_connector

        return redis_connector
    if scheme == "kafka":
        from dynmeans.runs.streams import kafka_connector

        return kafka_connector
    if scheme.startswith("mqtt"):
        from dynmeans.runs.streams import mqtt_connector

        return mqtt_connector
    from dynmeans.runs.streams import postgresql_connector

    return postgresql_connector
