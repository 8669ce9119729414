"""JSON lines from outside: each is an object of bounded length and depth, or refused by number."""

import json
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

MAX_LINE = 16 * 2**20


def bounded_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a stream; a line without an end only as far as it takes to refuse it."""
    while line := stream.readline(MAX_LINE + 1):
        yield line


def quote_short(value: Any) -> str:
    """Show a value in an error, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def parse_line(line: str | bytes, number: int) -> dict[str, Any]:
    """Return the object on one line, or raise an error."""
    return parse_object(line, f"line {number} of the input")


def parse_object(text: str | bytes, position: str) -> dict[str, Any]:
    """Return the JSON object that a text holds, or raise an error that names `position`."""
    if len(text) > MAX_LINE:
        raise ValueError(f"{position} is longer than {MAX_LINE:,} bytes.")
    try:
        record = json.loads(text)
    except UnicodeDecodeError as error:
        raise ValueError(f"{position} is not JSON: it is not UTF-8.") from error
    except json.JSONDecodeError as error:
        # The place within the line alone: the error counts lines of its own.
        what = f"{error.msg.removesuffix(' at')} at character {error.colno}"
        rule = "Each line must be one JSON object; a table in CSV must be a file"
        raise ValueError(f"{position} is not JSON: {what}. {rule}.") from error
    except RecursionError as error:
        raise ValueError(f"{position} is nested too deeply.") from error
    except ValueError as error:  # thousands of digits
        raise ValueError(f"{position} holds a number that is too long.") from error
    if not isinstance(record, dict):
        raise ValueError(f"{position} must be a JSON object, got {quote_short(record)}.")
    return record


def is_finite(value: Any) -> bool:
    """Return whether a value is a number that a float can hold."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return -sys.float_info.max <= value <= sys.float_info.max
