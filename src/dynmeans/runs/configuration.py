"""RunConfig: everything that decides what a run finds, as named fields that can be compared."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dynmeans.follow.defaults import make_model_config
from dynmeans.follow.model_config import PARAMETERS, ModelConfig
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.input_error import InputError

# No window that was taken in depends on them: a run may be resumed with another choice.
_FREE = ("on_missing", "max_clusters", "min_cluster_size", "min_batches")
N_KEPT = 200  # rows of each window, for pictures, profiles and families


@dataclass(frozen=True, slots=True)
class RunConfig:
    """The configuration that decides the result of a run; fixed when its folder is created.

    See Also
    --------
    Run.create : Takes it.
    ModelConfig : The part that every interface shares.

    Examples
    --------
    >>> config = RunConfig(("x", "y"), ModelConfig(new_penalty=1.0))
    >>> other = RunConfig(("x", "y"), ModelConfig(new_penalty=2.0, max_gap=5))
    >>> for line in describe_differences(config.to_fields(), other.to_fields()):
    ...     print(line)
    new_penalty was 1.0, is 2.0
    max_gap was not set, is 5.0
    """

    features: tuple[str, ...]  # Names of the features, in the order of the columns of the points
    # How windows are clustered; by default penalties are chosen on the first windows
    model_config: ModelConfig = field(default_factory=lambda: make_model_config("Run"))
    # Where the rows come from (`input`), and the fields of `WindowOptions` and `ReadingOptions` by
    # which they were read and cut into windows
    source: Mapping[str, Any] = field(default_factory=dict)
    sample_size: int = N_KEPT  # Rows of each window kept for pictures

    def __post_init__(self) -> None:
        """Check what no later stage would catch before rows are read."""
        object.__setattr__(self, "features", tuple(self.features))
        if not isinstance(self.model_config, ModelConfig):
            raise TypeError(
                f"model_config must be a ModelConfig, got {type(self.model_config).__name__}."
            )
        if not self.features:
            rule, hint = "must name at least one column, got none", "For text use {text=...}."
            raise InputError("features", rule, hint=hint)
        if len(set(self.features)) < len(self.features):
            listed = ", ".join(self.features)
            raise InputError("features", "must not repeat a column, got {}", listed)
        if isinstance(self.sample_size, bool) or not isinstance(self.sample_size, int):
            raise TypeError(f"sample_size must be an integer, got {self.sample_size!r}.")
        if self.sample_size < 0:
            raise InputError("sample_size", "must be at least 0", got=self.sample_size)
        json.dumps(dict(self.source))

    def to_fields(self) -> dict[str, Any]:
        """Return every field under its own name, as JSON values."""
        own = {"features": self.features, "sample_size": self.sample_size}
        twice = [name for name in self.source if name in own or name in PARAMETERS]
        if twice:
            rule = "must not name {!r}, which is a field of the run itself"
            raise InputError("source", rule, twice[0])
        model_config = {
            name: one.default for name, one in PARAMETERS.items()
        } | self.model_config.to_json()
        normal: dict[str, Any] = json.loads(json.dumps({**own, **model_config, **self.source}))
        return normal

    @classmethod
    def from_fields(cls, values: Mapping[str, Any]) -> "RunConfig":
        """Read what `to_fields` gave."""
        source = dict(values)
        features, sample_size = source.pop("features"), source.pop("sample_size")
        model_config = ModelConfig.from_json({name: source.pop(name) for name in PARAMETERS})
        return cls(features, model_config, source, sample_size)


def describe_differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[ArgumentText]:
    """Return which fields differ, one line each."""
    names = [name for name in {**was, **now} if name not in _FREE]
    return [
        ArgumentText(
            f"{{{name}}} was {{}}, is {{}}",
            _format_value(was.get(name)),
            _format_value(now.get(name)),
        )
        for name in names
        if was.get(name) != now.get(name)
    ]


def _format_value(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
