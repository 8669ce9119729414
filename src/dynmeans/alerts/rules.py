"""Alert rules of one TOML file: events and deliveries."""

import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.streams.addresses import is_address

_FIELDS: dict[str, tuple[str, ...]] = {
    "born": (),
    "returned": (),
    "grown": ("percent", "over_windows"),
    "entered": ("box",),
    "unseen": ("over_windows",),
}
KINDS = tuple(_FIELDS)
TARGETS = ("command", "webhook", "stream")
_COMMON = ("name", "event", "min_points", *TARGETS)
_MAX_WINDOWS = 1000


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule."""

    name: str  # Tells it from the others of its file
    # A cluster is ``born``, has ``returned``, ``grown`` by `percent` within so many `over_windows`,
    # ``entered`` a `box`, or is ``unseen`` for so many `over_windows`.
    event: str
    percent: float = 0.0
    over_windows: int = 1
    box: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    # Windows in which a cluster has fewer points are passed over: one that is born or enters small
    # is told of in the first window that shows it large enough.
    min_points: float = 0.0
    # Program and arguments; gets the alert as JSON on standard input. No shell is involved.
    command: tuple[str, ...] | None = None
    webhook: str | None = None  # Address that the alert is posted to as JSON
    stream: str | None = None  # Address of a place as of ``--events-to``


def read_rules(path: Path, features: Sequence[str]) -> list[Rule]:
    """Read and check the rules of a file."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # also integers of thousands of digits
        message = " ".join(str(error).split())
        raise InputError("alerts", ": {!r} is not TOML: {}", str(path), message) from error
    rules = found.get("rule")
    if set(found) != {"rule"} or not isinstance(rules, list):
        raise InputError("alerts", ": {!r} must hold tables [[rule]], and nothing else", str(path))
    made = [_rule(values, features) for values in rules]
    names = [rule.name for rule in made]
    if len(set(names)) < len(names):
        raise InputError("alerts", ": two rules of {!r} have the same name", str(path))
    return made


def _rule(values: Any, features: Sequence[str]) -> Rule:
    if not isinstance(values, dict) or not isinstance(values.get("name"), str):
        hint = 'Add a line such as name = "machine started" after [[rule]].'
        raise InputError("alerts", ": every rule needs a name", hint=hint)
    name, event = values["name"], values.get("event")
    if event not in KINDS:
        _refuse(name, f"event must be one of {', '.join(KINDS)}")
    known = (*_COMMON, *_FIELDS[str(event)])
    if unknown := set(values) - set(known):
        _refuse(name, f"{min(unknown)} is not known; there are {', '.join(known)}")
    plain = {key: value for key, value in values.items() if key not in ("box", "command")}
    rule = Rule(**plain, box=_box(name, values, features), command=_command(name, values))
    _check_numbers(rule)
    _check_targets(rule)
    return rule


def _check_numbers(rule: Rule) -> None:
    for key in ("percent", "min_points"):
        value = getattr(rule, key)
        if not _is_real(value) or not 0 <= value < 1e100:
            _refuse(rule.name, f"{key} must be a number of at least 0")
    windows = rule.over_windows
    if isinstance(windows, bool) or not isinstance(windows, int):
        _refuse(rule.name, "over_windows must be an integer")
    if not 1 <= windows <= _MAX_WINDOWS:
        _refuse(rule.name, f"over_windows must be from 1 to {_MAX_WINDOWS:,}, got {windows:,}")
    if rule.event == "grown" and rule.percent <= 0:
        _refuse(rule.name, 'event = "grown" requires percent, greater than 0')
    if rule.event == "entered" and not rule.box:
        _refuse(rule.name, 'event = "entered" requires a box, such as box = {x = [0, 1]}')


def _check_targets(rule: Rule) -> None:
    if all(getattr(rule, target) is None for target in TARGETS):
        _refuse(rule.name, "needs a delivery: command, webhook or stream")
    if rule.webhook is not None and not _is_web_address(rule.webhook):
        _refuse(rule.name, "webhook must be an address that begins with http:// or https://")
    if rule.stream is not None and not is_address(rule.stream):
        _refuse(rule.name, "stream must be an address such as redis://HOST/DB?stream=NAME")


def _is_web_address(text: Any) -> bool:
    if not isinstance(text, str) or not text.isprintable():
        return False
    try:
        parts = urlsplit(text)
    except ValueError:  # a bracket without its other half
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _command(name: str, values: dict[str, Any]) -> tuple[str, ...] | None:
    command = values.get("command")
    if command is None:
        return None
    if not isinstance(command, list) or not command:
        _refuse(name, 'command must be a list: command = ["mail", "-s", "news", "me"]')
    if not all(isinstance(word, str) and "\0" not in word for word in command):
        _refuse(name, "command must be a list of texts")
    return tuple(command)


def _box(
    name: str, values: dict[str, Any], features: Sequence[str]
) -> dict[str, tuple[float, float]]:
    box = values.get("box", {})
    if not isinstance(box, dict):
        _refuse(name, "box must give two ends for each feature: box = {x = [0, 1]}")
    for feature, ends in box.items():
        if feature not in features:
            _refuse(name, f"there is no feature {feature!r}; there are {', '.join(features)}")
        is_pair = isinstance(ends, list) and len(ends) == 2
        if not is_pair or not all(_is_real(end) for end in ends):
            _refuse(name, f"box must give two numbers for {feature}")
        if not ends[0] <= ends[1]:
            _refuse(name, f"the ends of {feature} must rise")
    return {feature: (float(low), float(high)) for feature, (low, high) in box.items()}


def _is_real(value: Any) -> bool:
    """Return whether a value is a number that a float can hold, or infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, float) or abs(value) <= sys.float_info.max


def _refuse(name: str, what: str) -> None:
    raise InputError("alerts", ": rule {!r}: {}", name, what)
