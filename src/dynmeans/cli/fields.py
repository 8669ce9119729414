"""Options of a command made from the fields of records: name, type and help are written there."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, TypeVar

import typer

Command = TypeVar("Command", bound=Callable[..., None])
Fields = Mapping[str, Any]


def with_options(
    records: Mapping[type, str],
    *,
    only: Mapping[type, Sequence[str]] | None = None,
    interface: str | None = None,
) -> Callable[[Command], Command]:
    """Replace ``**fields`` of a command by an option for each field of these records.

    `records` names the panel of the help that each is in, `only` the fields to take of a record, by
    default all that have a type, `interface` the one of `follow.defaults` whose defaults are shown.
    """

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        made = [
            _parameter(one, panel, interface)
            for record, panel in records.items()
            for one in _fields_of(record)
            if one.metadata["type"] and (not only or record not in only or one.name in only[record])
        ]
        own = [one.replace(kind=one.KEYWORD_ONLY) for one in own]
        kept = [own[0], *made, *own[1:]]  # after what the command works on
        command.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in kept}
        return command

    return decorate


def _fields_of(record: type) -> Sequence[Any]:
    return record.options() if hasattr(record, "options") else fields(record)


def _parameter(one: Any, panel: str, interface: str | None) -> inspect.Parameter:
    about = one.metadata
    words = about.get("command_help", about["help"])
    default = one.default
    if interface is not None:
        from dynmeans.follow.defaults import by_rows_in_words, defaults_of, depends_on_rows

        default = defaults_of(interface).get(one.name, default)
        if one.name in depends_on_rows(interface):
            words, default = f"{words} By default {by_rows_in_words(interface, one.name)}.", None
    kind = list[str] if about["type"] is list else about["type"]
    default = None if default == () else default
    if about["type"] is not bool:
        kind = kind | None
    choices = about.get("choices")
    option = typer.Option(
        *([about["flag"]] if "flag" in about else []),
        f"--{one.name.replace('_', '-')}",
        help=_in_flags(words),
        metavar="|".join(choices) if choices else about.get("metavar"),
        rich_help_panel=about.get("panel", panel) or None,
        min=about.get("min"),
    )
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, option],
    )


def _in_flags(words: str) -> str:
    """Name options where a sentence names fields."""
    return re.sub(r"`(\w+)`", lambda found: f"--{found[1].replace('_', '-')}", words)


def select_fields(record: type, given: Fields, **more: Any) -> dict[str, Any]:
    """Return the fields of a record among the options, those that were not given left out."""
    names = [one.name for one in _fields_of(record)]
    return {name: given[name] for name in names if given.get(name) not in (None, [])} | more


def split(names: Sequence[str] | None) -> list[str] | None:
    """Take texts such as ``a,b`` apart into names."""
    return None if names is None else [name.strip() for text in names for name in text.split(",")]
