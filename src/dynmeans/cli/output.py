"""What a command prints: for people on a terminal, plain in logs, JSON for machines."""

import json
import logging
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dynmeans.inputs.input_error import InputError

PICTURES = (".png", ".svg", ".pdf")
# Bidirectional overrides make a text read otherwise than it is.
_UNPRINTABLE = {
    number: f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
    for number in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


_as_json = False  # whether lines about the work are JSON objects


def printable(text: str) -> str:
    r"""Return one line in which names and values cannot command a terminal.

    >>> print(printable("a\x1b[31mred"))
    a\x1b[31mred
    """
    return text.translate(_UNPRINTABLE)


def print_line(text: str) -> None:
    """Print one line on standard output."""
    sys.stdout.write(f"{printable(text)}\n")


def log_line(text: str, level: str = "info") -> None:
    """Print one line about the work itself on standard error, as text or as a JSON object."""
    if not _as_json:
        sys.stderr.write(f"dynmeans: {printable(text)}\n")
        return
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    sys.stderr.write(json.dumps({"at": at, "level": level, "message": text}) + "\n")


def is_json() -> bool:
    """Return whether lines about the work are JSON objects."""
    return _as_json


class _StderrHandler(logging.Handler):
    """Prints log records of the library, one line each."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        log_line(record.getMessage(), record.levelname.lower())


def log_to_standard_error(*, as_json: bool = False) -> None:
    """Print warnings of the library, such as that a source cannot be reached."""
    global _as_json
    _as_json = as_json
    logger = logging.getLogger("dynmeans.runs")
    if not any(isinstance(handler, _StderrHandler) for handler in logger.handlers):
        logger.addHandler(_StderrHandler())


def format_cluster(cluster_id: int, names: Mapping[int, str]) -> str:
    """Return the number of a cluster, and its name if it has one."""
    return f"{cluster_id} ({names[cluster_id]})" if cluster_id in names else str(cluster_id)


def print_json(value: Any) -> None:
    """Print one JSON value on standard output; infinity as options take it, "inf"."""
    sys.stdout.write(json.dumps(_without_infinity(value), default=str, allow_nan=False) + "\n")


def _without_infinity(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_infinity(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinity(part) for part in value]
    return "inf" if value == math.inf else value


def check_file(argument: str, path: Path, endings: Sequence[str] = ()) -> None:
    """Refuse a file that could not be written, before the work for it is done."""
    if endings and path.suffix not in endings:
        rule = f"must end in {', '.join(endings[:-1])} or {endings[-1]}"
        raise InputError(argument, rule, got=str(path))
    if path.is_dir():
        raise InputError(argument, "must be a file, not a folder", got=str(path))
    if not path.parent.is_dir():
        raise InputError(argument, "must be in an existing folder", got=str(path))


def standard_input() -> Iterator[bytes]:
    """Read lines on access, which only a live source does."""
    from dynmeans.runs.reading.json_lines import bounded_lines

    yield from bounded_lines(sys.stdin.buffer)
