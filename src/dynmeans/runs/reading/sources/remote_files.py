"""Files that are elsewhere: only if the user says so, by an extension that is installed already."""

import re
from typing import Any

import duckdb

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import quote_text

_REMOTE = re.compile(r"(https?|s3)://", re.IGNORECASE)
_INSTALL = "python -c \"import duckdb; duckdb.execute('INSTALL httpfs')\""


def is_remote(path: str) -> bool:
    """Say whether a path is an address."""
    return _REMOTE.match(path) is not None


def find_remote(connection: Any, address: str, *, network: bool) -> list[str]:
    """Return the files that an address or a pattern in S3 stands for; loads what reads them."""
    if not network:
        hint = "{network=True} allows it."
        raise InputError(
            "", "{!r} is on the network, which is not read unasked", address, hint=hint
        )
    try:
        connection.execute("LOAD httpfs")
    except duckdb.Error as error:
        raise InputError(
            "",
            "{!r} needs DuckDB's extension httpfs, which is not installed",
            address,
            hint=f"Install it once with {_INSTALL}, or fetch the file.",
        ) from error
    if not address.lower().startswith("s3://") or "*" not in address:
        return [address]
    found = connection.execute(f"SELECT file FROM glob({quote_text(address)}) ORDER BY file")
    files = [str(row[0]) for row in found.fetchall()]
    if not files:
        raise FileNotFoundError(f"there is no file {address!r} to read.")
    return files
