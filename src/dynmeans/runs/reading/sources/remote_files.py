"""Files that are elsewhere: only if the user says so, by an extension that is installed already."""

import re
from typing import Any

import duckdb

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import quote_text

_REMOTE = re.compile(r"(https?|s3)://", re.IGNORECASE)
_IN_TEXT = re.compile(r"\b(?:https?|s3)://.*", re.IGNORECASE)  # a password may hold anything
CUT = "***"  # in the place of what may be a secret
_INSTALL = "python -c \"import duckdb; duckdb.execute('INSTALL httpfs')\""


def is_remote(path: str) -> bool:
    """Say whether a path is an address."""
    return _REMOTE.match(path) is not None


def shown_remote(address: str) -> str:
    """Return an address as it is stored and told: without user, password and query."""
    scheme, _, rest = address.partition("://")
    before, at, rest = rest.rpartition("@")
    if re.search("[?#]", before):  # of a password or of a query, nobody knows
        return f"{scheme}://{CUT}"
    place, *query = re.split("[?#]", rest, maxsplit=1)
    return f"{scheme}://{CUT + at if at else ''}{place}{'?' + CUT if query else ''}"


def without_secrets(text: str) -> str:
    """Return a text in which addresses are as they are told."""
    return _IN_TEXT.sub(lambda found: shown_remote(found[0]), text)


def find_remote(connection: Any, address: str, *, network: bool) -> list[str]:
    """Return the files that an address or a pattern in S3 stands for; loads what reads them."""
    if not network:
        hint = "{network=True} allows it."
        raise InputError(
            "",
            "{!r} is on the network, which is not read unasked",
            shown_remote(address),
            hint=hint,
        )
    try:
        connection.execute("LOAD httpfs")
    except duckdb.Error as error:
        raise InputError(
            "",
            "{!r} needs DuckDB's extension httpfs, which is not installed",
            shown_remote(address),
            hint=f"Install it once with {_INSTALL}, or fetch the file.",
        ) from error
    if not address.lower().startswith("s3://") or "*" not in address:
        return [address]
    found = connection.execute(f"SELECT file FROM glob({quote_text(address)}) ORDER BY file")
    files = [str(row[0]) for row in found.fetchall()]
    if not files:
        raise FileNotFoundError(f"there is no file {shown_remote(address)!r} to read.")
    return files
