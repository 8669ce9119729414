"""The list of commands: each is a file, loaded when it is named."""

import importlib
from collections.abc import Sequence
from typing import Annotated

import typer

# In the order of the help; the file has the name of the command, but for those in _FILES.
COMMANDS = (
    "cluster",
    "suggest",
    "status",
    "summary",
    "clusters",
    "events",
    "test_alerts",
    "families",
    "name",
    "edit",
    "labels",
    "send",
    "dead_letters",
    "score",
    "plot",
    "report",
    "serve",
    "demo",
    "browser_page",
)
_FILES = {"summary": "status", "test_alerts": "alerts"}


def app_for(words: Sequence[str] = ()) -> typer.Typer:
    """Return the application, with the one command that the words name, or with all of them."""
    app = typer.Typer(
        help="Cluster data that arrives window by window, and track every cluster over time.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback()(_options)
    named = next((word.replace("-", "_") for word in words if not word.startswith("-")), "")
    for name in [named] if named in COMMANDS else COMMANDS:
        file = _FILES.get(name, name)
        module = importlib.import_module(f"dynmeans.cli.commands.{file}")
        command = getattr(module, name, None) or getattr(module, file)
        app.command(name.replace("_", "-"))(command)
        if name == "browser_page":
            app.command("try", hidden=True)(command)  # short to type
    return app


def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Print the traceback of an error; anywhere in a command."),
    ] = False,
) -> None:
    """Return which options there are; `main` answers to them."""
