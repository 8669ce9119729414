"""Text that names arguments, so that a command line can name its options in the same place."""

from collections.abc import Callable
from string import Formatter
from typing import Any

# From an argument and what is given for it, if anything ("..." for any value), to its name.
Namer = Callable[[str, str], str]


class ArgumentText(str):
    """A sentence as a caller of Python functions reads it; `told` says it in other names.

    Parameters
    ----------
    template : str
        The sentence. ``{max_gap}`` and ``{on_missing='drop'}`` stand for arguments, empty braces,
        with a format if need be, for the values.
    *values
        What the sentence is about; nothing in it is taken for an argument.

    Examples
    --------
    >>> text = ArgumentText("{max_gap} must be greater than 1, got {!r}.", 0.5)
    >>> text
    'max_gap must be greater than 1, got 0.5.'
    >>> text.told(lambda name, value: "--max-gap")
    '--max-gap must be greater than 1, got 0.5.'
    """

    template: str
    values: tuple[Any, ...]

    def __new__(cls, template: str, *values: Any) -> "ArgumentText":
        """Write the sentence with the names of Python."""
        text = super().__new__(cls, _filled(template, values, _in_python))
        text.template, text.values = template, values
        return text

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Say how to make it again, for pickle."""
        return (self.template, *self.values)

    def told(self, name_of: Namer) -> str:
        """Write the sentence with the names that `name_of` gives to arguments."""
        return _filled(self.template, self.values, name_of)


def _filled(template: str, values: tuple[Any, ...], name_of: Namer) -> str:
    pieces, rest = [], iter(values)
    for plain, field, form, conversion in Formatter().parse(template):
        pieces.append(plain)
        if field == "":
            value = next(rest)
            pieces.append(format(repr(value) if conversion == "r" else value, form or ""))
        elif field is not None:
            name, _, given = field.partition("=")
            pieces.append(name_of(name, given))
    return "".join(pieces)


def _in_python(name: str, given: str) -> str:
    return f"{name}={given}" if given else name
