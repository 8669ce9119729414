"""Names of options for the arguments that a message names."""

from collections.abc import Iterable, Mapping

import typer

from dynmeans.cli.app import app_for
from dynmeans.inputs.argument_text import ArgumentText

# Given so, an option stands for itself: it has no value, or one that is not known.
_WITHOUT_VALUE = ("", "...", "True", "False")


def with_flags(text: str, words: Iterable[str]) -> str:
    """Name options where a text names arguments."""
    if not isinstance(text, ArgumentText):
        return text
    flags = _flags_of(words)

    def name_of(name: str, given: str) -> str:
        if name not in flags:
            return f"{name}={given}" if given else name
        return flags[name] if given in _WITHOUT_VALUE else f"{flags[name]} {given.strip(chr(39))}"

    return text.told(name_of)


def _flags_of(words: Iterable[str]) -> Mapping[str, str]:
    """Return the options of the command that was called, by the names that Python has for them."""
    words = list(words)
    command = typer.main.get_command(app_for(words))
    for word in words:
        commands = getattr(command, "commands", {})
        if word not in commands:
            break
        command = commands[word]
    flags: dict[str, str] = {}
    for parameter in command.params:
        names = [option for option in parameter.opts if option.startswith("--")]
        if names:
            flags |= {str(parameter.name): names[0]}
    return flags
