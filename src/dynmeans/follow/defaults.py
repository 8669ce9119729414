"""Defaults: the value of each parameter that no one gave, by interface and kind of rows.

A parameter that is not listed here has the default of its field in every interface.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from textwrap import fill
from typing import Any, TypeVar

from dynmeans.follow.model_config import PARAMETERS, ModelConfig

Interface = TypeVar("Interface", bound=Callable[..., Any])

# Kinds of rows: features as numbers; embeddings; texts; messages of a stream.
NUMBERS, VECTORS, TEXTS, STREAM = "numbers", "vectors", "texts", "streams"

# If a call is repeated or resumed, it must give the same.
_REPEATABLE = {"random_state": 0}
# Rows that are left out are counted and reported.
_TABLE = _REPEATABLE | {"on_missing": "drop"}
# One that cannot be read becomes a dead letter.
_MESSAGES = _REPEATABLE | {"on_missing": "error"}
# Lengths of vectors have no meaning. On the sphere more orders or a deeper search do not help.
_ON_SPHERE: dict[str, Any] = {"search": "paper", "n_init": 1}
_INPUT = {
    NUMBERS: _TABLE,
    VECTORS: _TABLE | _ON_SPHERE | {"space": "cosine:centered"},
    TEXTS: _TABLE | _ON_SPHERE | {"space": "words"},
}

INTERFACES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    # An array does not show whether it holds vectors.
    "DynamicMeans": {NUMBERS: {}},
    "DPMeans": {NUMBERS: {}},
    "RiverDynamicMeans": {NUMBERS: _REPEATABLE},
    # Algorithm 2 as printed.
    "VisitingOrders": {NUMBERS: {"n_init": 1, "search": "paper"}},
    "fit_groups": {NUMBERS: {}},
    # A random subset is one of many.
    "fit_anytime": {NUMBERS: {"n_init": 1}},
    "tune": {NUMBERS: _REPEATABLE},
    # The settings of a page, by which its reader repeats the run.
    "ReclusterSettings": {NUMBERS: _REPEATABLE},
    "cluster": _INPUT,
    "dynmeans cluster": {**_INPUT, STREAM: _MESSAGES},
    "dynmeans suggest": _INPUT,
    # Code that reads windows itself is told of the first row that lacks a value.
    "Run": {NUMBERS: _MESSAGES},
    "foreach_batch": {STREAM: _MESSAGES},
}


def defaults_of(interface: str, rows: str | None = None) -> dict[str, Any]:
    """Return the defaults of an interface that differ from those of the fields.

    >>> defaults_of("cluster", VECTORS)["space"]
    'cosine:centered'
    """
    by_rows = INTERFACES[interface]
    return dict(by_rows[next(iter(by_rows)) if rows is None else rows])


def depends_on_rows(interface: str) -> dict[str, dict[str, Any]]:
    """Return the parameters whose default depends on the rows, with those of each kind."""
    by_rows = INTERFACES[interface]
    names = {name: None for own in by_rows.values() for name in own}
    listed = {
        name: {
            rows: own[name] if name in own else PARAMETERS[name].default
            for rows, own in by_rows.items()
        }
        for name in names
    }
    return {name: values for name, values in listed.items() if len(set(values.values())) > 1}


def by_rows_in_words(interface: str, name: str) -> str:
    """Return the defaults of a parameter for each kind of rows.

    >>> by_rows_in_words("dynmeans cluster", "on_missing")
    'drop; error for streams'
    """
    (_, usual), *others = depends_on_rows(interface)[name].items()
    return "; ".join(
        [str(usual), *(f"{value} for {rows}" for rows, value in others if value != usual)]
    )


def with_defaults(interface: str) -> Callable[[Interface], Interface]:
    """Replace ``{defaults}`` in the docstring of an interface by its defaults."""
    by_rows = depends_on_rows(interface)
    own = {name: repr(value) for name, value in defaults_of(interface).items()}
    own |= {name: by_rows_in_words(interface, name) for name in by_rows}
    message = ", ".join(f"`{name}` ({value})" for name, value in own.items())
    words = fill(f"Defaults that differ from `DynamicMeans`: {message}.", 92)

    def decorate(function: Interface) -> Interface:
        if function.__doc__ is not None:  # as it is under python -OO
            text = words.replace("\n", "\n        ")
            function.__doc__ = function.__doc__.replace("{defaults}", text)
        return function

    return decorate


def make_model_config(
    interface: str, model_config: ModelConfig | None = None, **parameters: Any
) -> ModelConfig:
    """Return the model configuration, or make one from its parameters by name; both are refused.

    Without a seed it takes that of the interface.
    """
    if model_config is None:
        model_config = ModelConfig(**parameters)
    elif parameters:
        ModelConfig(**parameters)  # refuses an unknown name first
        raise TypeError(
            f"give either a model configuration or {', '.join(parameters)}, and not both."
        )
    elif not isinstance(model_config, ModelConfig):
        raise TypeError(f"model_config must be a ModelConfig, got {type(model_config).__name__}.")
    seed = defaults_of(interface).get("random_state")
    return (
        replace(model_config, random_state=seed)
        if model_config.random_state is None
        else model_config
    )
