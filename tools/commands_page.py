"""The page of all commands and options, docs/commands.md, written from the command line itself.

Run as ``make commands`` after a change to a command; tests/test_docs.py compares the two.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import typer

from dynmeans.cli.app import app_for

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
BEGIN = """# All commands and options

Written from the command line itself (`make commands`); `dynmeans COMMAND --help` says the same.
`--debug`, anywhere in a command, shows where an error came from.
"""
_EXAMPLES = re.compile(r"\[bold\]Examples?\[/bold\]")


def page() -> str:
    """Return the page as Markdown."""
    sections = [BEGIN, *(_section(*found) for found in _commands("dynmeans", _root()))]
    return "\n".join(sections)


def _root() -> Any:
    return typer.main.get_command(app_for())


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, in the order of the list."""
    for word, inner in getattr(command, "commands", {}).items():
        yield from _commands(f"{name} {word}", inner)
    if not getattr(command, "commands", {}):
        yield name, command


def _section(name: str, command: Any) -> str:
    words, *rest = _EXAMPLES.split(command.help or "")
    examples = "".join(rest)
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    usage = " ".join([name, *map(_shown_argument, arguments), "[OPTIONS]"])
    lines = [f"## {name}", "", "```text", usage, "```", "", _joined(words), ""]
    if examples.strip():
        told = [" ".join(part.split()) for part in examples.strip().split("\n\n")]
        lines += ["```sh", *told, "```", ""]
    lines += _table("", arguments)
    in_order = sorted(options, key=lambda option: _panel_place(option, options))
    for panel, group in groupby(in_order, key=_panel):
        lines += _table(panel, list(group))
    return "\n".join(lines)


def _joined(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def _shown_argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _panel(option: Any) -> str:
    return getattr(option, "rich_help_panel", None) or ""


def _panel_place(option: Any, options: list[Any]) -> int:
    return [_panel(other) for other in options].index(_panel(option))


def _table(title: str, parameters: list[Any]) -> list[str]:
    if not parameters:
        return []
    head = [f"**{title}**", ""] if title else []
    rows = [f"| {_names(p)} | {_escaped(p.help or '')}{_default(p)} |" for p in parameters]
    return [*head, "| | |", "|---|---|", *rows, ""]


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    names = ", ".join(f"`{name}`" for name in parameter.opts)
    if parameter.secondary_opts:
        names += ", " + ", ".join(f"`{name}`" for name in parameter.secondary_opts)
    if parameter.is_flag:
        return names
    return f"{names} {_escaped(parameter.metavar or 'VALUE')}"


def _default(parameter: Any) -> str:
    value = parameter.default
    is_told = isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
    if parameter.required and parameter.param_type_name == "option":
        return " Needed."
    return f" Default: `{value}`." if is_told else ""


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
