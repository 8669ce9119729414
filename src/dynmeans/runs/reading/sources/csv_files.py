"""CSV files before DuckDB sees them: those without rows would spoil the reading of the others."""

import gzip
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path

_SEPARATOR = re.compile(r"[,;|\t]")
_NUMBER = re.compile(r"\s*\"?[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\"?\s*")


def files_with_rows(files: list[str]) -> list[str]:
    """Return the files that hold more than a header; refuse if there is none."""
    kept = [name for name in files if _has_rows(name)]
    if kept:
        return kept
    if len(files) > 1:
        raise ValueError(f"none of the {len(files)} files holds a row: {files[0]!r}, ...")
    is_header = Path(files[0]).stat().st_size > 0 and _first_lines(files[0])
    raise ValueError(f"{files[0]!r} holds no rows{', only a header' if is_header else ''}.")


def _has_rows(name: str) -> bool:
    """Look at the first two lines. One alone is a header, unless a number stands in it."""
    if name.endswith(".zst"):
        return True
    lines = _first_lines(name)
    return len(lines) > 1 or any(
        _NUMBER.fullmatch(field) for line in lines for field in _SEPARATOR.split(line)
    )


def _first_lines(name: str) -> list[str]:
    """Return the first two lines that are not blank."""
    with _open(name) as file:
        lines = (line.decode("utf-8", "replace") for line in file)
        return list(islice((line for line in lines if line.strip("\ufeff \t\r\n")), 2))


def _open(name: str) -> AbstractContextManager[Iterable[bytes]]:
    return gzip.open(name) if name.endswith(".gz") else open(name, "rb")
