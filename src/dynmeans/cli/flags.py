"""Names of options for the arguments that a message names."""

from collections.abc import Iterable, Mapping

import typer

from dynmeans.cli.app import app_for
from dynmeans.inputs.argument_text import ArgumentText, as_cli_options


def with_flags(text: str, words: Iterable[str], run: str = "RUN") -> str:
    """Name options of the command of these words where a text names arguments."""
    return (
        text.render(as_cli_options(run, _flags_of(words)))
        if isinstance(text, ArgumentText)
        else text
    )


def _flags_of(words: Iterable[str]) -> Mapping[str, str]:
    """Return the options of the command that was called, by the names that Python has for them."""
    words = list(words)
    command = typer.main.get_command(app_for(words))
    for word in words:
        commands = getattr(command, "commands", {})
        if word not in commands:
            break
        command = commands[word]
    options = [(str(p.name), [o for o in p.opts if o.startswith("--")]) for p in command.params]
    return {name: flags[0] for name, flags in options if flags}
