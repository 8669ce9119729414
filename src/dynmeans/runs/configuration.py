"""RunConfig: everything that decides what a run finds, as named fields that can be compared."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.input_error import InputError
from dynmeans.records.penalties import DEFAULT_MOTION, Penalties

_PENALTIES = ("new_penalty", "max_gap", "reach", "revival_penalty", "drift", "revival")
_MOTION = ("motion", "moving")  # stored where clusters keep a course; runs without it are still

# No window that was taken in depends on it: a run may be resumed with another choice.
_FREE = ("source.on_missing",)


@dataclass(frozen=True, slots=True)
class RunConfig:
    """What decides the result of a run; fixed when its folder is made.

    Attributes
    ----------
    features : tuple of str
        Names of the features, in the order of the columns of the points.
    penalties : Penalties
        lambda, Q and tau, the revival rule and the motion.
    n_init : int
        Visiting orders tried on every window.
    random_state : int
        Seed of the visiting orders.
    standardize : int
        Windows at the start from which mean and spread of each feature are learned; 0 takes the
        features as they are.
    sample_size : int
        Rows of each window kept for pictures.
    source : mapping of str to JSON values
        Where the rows come from and how they are cut into windows.

    Examples
    --------
    >>> config = RunConfig(("x", "y"), Penalties(1.0, max_gap=5, reach=1.5))
    >>> other = RunConfig(("x", "y"), Penalties(2.0, max_gap=5, reach=1.5))
    >>> for line in config.differences(other):
    ...     print(line)
    new_penalty was 1.0, is 2.0
    revival_penalty was 0.2, is 0.4
    """

    features: tuple[str, ...]
    penalties: Penalties
    n_init: int = 3
    random_state: int = 0
    standardize: int = 0
    sample_size: int = 200
    source: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check what no later stage would catch before rows are read."""
        object.__setattr__(self, "features", tuple(self.features))
        if not self.features:
            raise InputError("features", "must name at least one column, got none")
        if len(set(self.features)) < len(self.features):
            listed = ", ".join(self.features)
            raise InputError("features", "must not repeat a column, got {}", listed)
        for name, least in (
            ("n_init", 1),
            ("random_state", 0),
            ("standardize", 0),
            ("sample_size", 0),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} must be an integer, got {value!r}.")
            if value < least:
                raise InputError(name, f"must be at least {least}", got=value)
        json.dumps(dict(self.source))

    def to_fields(self) -> dict[str, Any]:
        """Return every field under its own name, as JSON values."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        penalties, source = plain.pop("penalties"), plain.pop("source")
        names = _PENALTIES if penalties.motion == DEFAULT_MOTION else _PENALTIES + _MOTION
        plain |= {name: getattr(penalties, name) for name in names}
        plain |= {f"source.{name}": value for name, value in source.items()}
        normal: dict[str, Any] = json.loads(json.dumps(plain))
        return normal

    @classmethod
    def from_fields(cls, values: Mapping[str, Any]) -> "RunConfig":
        """Read what `to_fields` gave."""
        plain = dict(values)
        numbers = {name: plain.pop(name) for name in _PENALTIES}
        source = {
            name.removeprefix("source."): plain.pop(name)
            for name in list(plain)
            if name.startswith("source.")
        }
        direct = {name: numbers[name] for name in ("revival_penalty", "drift", "revival")}
        direct |= {name: plain.pop(name) for name in _MOTION if name in plain}
        penalties = Penalties(numbers["new_penalty"], **direct)
        # The pair that was derived then could differ from one derived now in its last bit.
        for name, value in numbers.items():
            object.__setattr__(penalties, name, value)
        return cls(penalties=penalties, source=source, **plain)

    def differences(self, other: "RunConfig") -> list[ArgumentText]:
        """Say field by field how `other` differs from this one."""
        return describe_differences(self.to_fields(), other.to_fields())


def describe_differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[ArgumentText]:
    """Say which fields differ, one line each."""
    names = [name for name in {**was, **now} if name not in _FREE]
    return [
        ArgumentText(
            f"{{{_argument(name)}}} was {{}}, is {{}}",
            _shown(was.get(name)),
            _shown(now.get(name)),
        )
        for name in names
        if was.get(name) != now.get(name)
    ]


def _argument(name: str) -> str:
    """Return what a field of the configuration is called where it is given."""
    name = name.removeprefix("source.")
    return {"sql": "query", "table": "database_table"}.get(name, name)


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
