"""A field of a record of options: its default, and its text on the command line and on pages."""

from collections.abc import Callable
from dataclasses import field
from typing import Any

from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.old_names import suggest_value

Check = Callable[[str, Any], Any]


def option(default: Any, words: str, kind: Any = str, **more: Any) -> Any:
    """Write a field down: default, one sentence of help, and its type for a command line.

    `more` may have `choices`, the short `flag`, a `metavar`, `check`, a rule of its value, and
    `command_help`, the help of the command line if it is not that of Python.
    """
    return field(default=default, metadata={"help": words, "type": kind, **more})


def one_of(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a value that is none of the choices."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        rule = f"must be one of {', '.join(filter(None, choices))}"
        raise InputError(name, rule, got=value, hint=suggest_value(value, choices))


def choice(*choices: str | None) -> Check:
    """Return the check of one of these words; None is one of them where it may be left out."""

    def check(name: str, value: Any) -> Any:
        one_of(name, value, choices)
        return value

    return check
