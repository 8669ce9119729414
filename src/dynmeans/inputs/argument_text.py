"""Text that names arguments, so that a command line can name its options in the same place."""

import re
from collections.abc import Callable, Mapping
from shlex import quote
from string import Formatter
from typing import Any

# From an argument and what is given for it, if anything ("..." for any value), to its name.
Namer = Callable[[str, str], str]
# Given so, an option stands for itself: it has no value, or one that is not known.
_WITHOUT_VALUE = ("", "...", "True", "False")
# What is done with a run once it is there: in Python, on what `dynmeans.cluster` returns, and as a
# command of the folder.
_OF_RUNS = {
    "suggested_matches": ("result.suggested_matches", "dynmeans edit {run} matches"),
    "n_families": (
        "families=True and result.families.cut_to({given})",
        "dynmeans families {run} --n-families {given}",
    ),
}
_ADVICE = "\0"  # stands for what is advised, and is in no text
_ENDS = re.compile(r"(?<=[.!?]) (?=\S)")  # of sentences


class ArgumentText(str):
    """A sentence with names of Python arguments; `render` uses the names of another interface.

    ``{max_gap}`` and ``{on_missing='drop'}`` stand for arguments, empty braces, with a format if
    need be, for the values; nothing in these is an argument.

    >>> text = ArgumentText("{max_gap} must be greater than 1, got {!r}.", 0.5)
    >>> text
    'max_gap must be greater than 1, got 0.5.'
    >>> text.render(lambda name, value: "--max-gap")
    '--max-gap must be greater than 1, got 0.5.'
    """

    template: str
    values: tuple[Any, ...]

    def __new__(cls, template: str, *values: Any) -> "ArgumentText":
        """Write the sentence with the names of Python."""
        text = super().__new__(cls, _fill_template(template, values, as_python_arguments))
        text.template, text.values = template, values
        return text

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Support pickle."""
        return (self.template, *self.values)

    @property
    def advises(self) -> dict[str, str]:
        """Arguments that the sentence names, and what it gives for each, if anything."""
        fields = [field for _, field, *_ in Formatter().parse(self.template) if field]
        return {name: given for name, _, given in (field.partition("=") for field in fields)}

    @property
    def without_advice(self) -> str:
        """The sentences that name no argument with a value, or none to use; empty if all do.

        >>> ArgumentText("Clusters touch. Try {families=True}.").without_advice
        'Clusters touch.'
        """
        text = self.render(
            lambda name, given: f"{name}{_ADVICE if given or name in _OF_RUNS else ''}"
        )
        return " ".join(one for one in _ENDS.split(text) if _ADVICE not in one)

    def render(self, name_of: Namer) -> str:
        """Write the sentence with the names that `name_of` gives to arguments."""
        return _fill_template(self.template, self.values, name_of)


def _fill_template(template: str, values: tuple[Any, ...], name_of: Namer) -> str:
    pieces, rest = [], iter(values)
    for plain, field, form, conversion in Formatter().parse(template):
        pieces.append(plain)
        if field == "":
            value = next(rest)
            pieces.append(format(repr(value) if conversion == "r" else value, form or ""))
        elif field is not None:
            name, _, given = field.partition("=")
            pieces.append(name_of(name, f"{given}:{form}" if form else given))
    return "".join(pieces)


def as_python_arguments(name: str, given: str) -> str:
    """Name an argument as a caller of Python functions gives it."""
    if name in _OF_RUNS and (given or "{given}" not in _OF_RUNS[name][0]):
        return _OF_RUNS[name][0].format(given=given)
    return f"{name}={given}" if given else name


def as_cli_options(run: str = "RUN", flags: Mapping[str, str] | None = None) -> Namer:
    """Return what names arguments as the command takes them, for a run in this folder.

    `flags` has the options by the names that Python has for them; any other name stays what it is.
    Without, every argument is an option of its name, as with `dynmeans cluster`.

    >>> text = ArgumentText("Try {space=standard}, {families=True} or {n_families=4}.")
    >>> text.render(as_cli_options("run"))
    'Try --space standard, --families or dynmeans families run --n-families 4.'
    """

    def name_of(name: str, given: str) -> str:
        flag = f"--{name.replace('_', '-')}" if flags is None else flags.get(name)
        if flag is not None and (name not in _OF_RUNS or flags is not None):
            return flag if given in _WITHOUT_VALUE else f"{flag} {quote(given.strip(chr(39)))}"
        if name in _OF_RUNS:
            return _OF_RUNS[name][1].format(run=run, given=given)
        return as_python_arguments(name, given)

    return name_of
