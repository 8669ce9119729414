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

This page is generated from the command line (`make commands`); `dynmeans COMMAND --help` prints the
same text. An option with the same meaning in several commands is described once. Add `--debug` to
any command to print the traceback of an error.
"""
_EXAMPLES = re.compile(r"\[bold\]Examples?\[/bold\]")


def page() -> str:
    """Return the page as Markdown."""
    described: dict[str, str] = {}
    sections = [_section(*found, described) for found in _commands("dynmeans", _root())]
    return "\n".join([BEGIN, *sections])


def _root() -> Any:
    return typer.main.get_command(app_for())


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, in the order of the list."""
    for word, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _commands(f"{name} {word}", inner)
    if not getattr(command, "commands", {}):
        yield name, command


def _section(name: str, command: Any, described: dict[str, str]) -> str:
    words, *rest = _EXAMPLES.split(command.help or "")
    examples = "".join(rest)
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    usage = " ".join([name, *map(_shown_argument, arguments), "[OPTIONS]"])
    lines = [f"## {name}", "", "```text", usage, "```", "", _joined(words), ""]
    if examples.strip():
        commands = [" ".join(part.split()) for part in examples.strip().split("\n\n")]
        lines += ["```sh", *commands, "```", ""]
    lines += _list("", arguments)
    repeated = [option for option in options if _row(option) in described]
    new = [option for option in options if option not in repeated]
    in_order = sorted(new, key=lambda option: _panel_place(option, options))
    for panel, group in groupby(in_order, key=_panel):
        lines += _list(panel, list(group))
    lines += _references(repeated, described)
    described.update({_row(option): name for option in new})
    return "\n".join(lines)


def _references(options: list[Any], described: dict[str, str]) -> list[str]:
    """Return one sentence for each command that describes some of these options."""
    by_command: dict[str, list[str]] = {}
    for option in options:
        by_command.setdefault(described[_row(option)], []).append(f"`{max(option.opts, key=len)}`")
    sentences = [
        f"As in [`{name}`](#{name.replace(' ', '-')}): {', '.join(names)}."
        for name, names in by_command.items()
    ]
    return [line for sentence in sentences for line in (sentence, "")]


def _joined(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def _shown_argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _panel(option: Any) -> str:
    return getattr(option, "rich_help_panel", None) or ""


def _panel_place(option: Any, options: list[Any]) -> int:
    return [_panel(other) for other in options].index(_panel(option))


def _list(title: str, parameters: list[Any]) -> list[str]:
    if not parameters:
        return []
    head = [f"**{title}**", ""] if title else []
    return [*head, *map(_row, parameters), ""]


def _row(parameter: Any) -> str:
    return f"- {_names(parameter)}: {_escaped(parameter.help or '')}{_default(parameter)}"


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
    is_shown = isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
    if parameter.required and parameter.param_type_name == "option":
        return " Needed."
    return f" Default: `{value}`." if is_shown else ""


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
