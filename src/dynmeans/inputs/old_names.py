"""Old names of arguments and commands: an error names the new one. Removed at the next release."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

OLD_NAMES = (
    ("batch", "batch_column"),
    ("batch", "window_column"),
    ("beside", "compare_with"),
    ("carry", "carried_sample"),
    ("config", "model_config"),
    ("count", "rows_per_window"),
    ("describe", "name_by"),
    ("hold_last", "keep_last_open"),
    ("keep", "label_retention"),
    ("level", "family_level"),
    ("lateness", "allowed_lateness"),
    ("min_life", "min_batches"),
    ("moving", "moving_features"),
    ("out", "run_folder"),
    ("picture", "plot"),
    ("n_clusters_hint", "n_clusters"),
    ("recipe", "model_config"),
    ("token", "idempotency_key"),
    ("trust", "allow_stored_sql"),
    ("unique_ids", "deduplicate"),
    ("until_idle", "idle_timeout"),
    ("who", "author"),
)
OLD_COMMANDS = {"alerts": "test-alerts", "story": "summary"}
# Values of arguments, attributes of a result, and names of the package.
OLD_VALUES = {
    "still": "random_walk",
    "steady": "constant_velocity",
    "direction": "cosine",
    "angle": "cyclic",
    "links": "matches",
    "identities": "clusters",
}
OLD_ATTRIBUTES = {
    "story": "summary",
    "links": "suggested_matches",
    "missing": "missing_counts",
    "run": "open_run",
    "doubts": "warnings",
    "ClusteredRows": "ClusterResult",
    "Recipe": "ModelConfig",
    "RowsLeftOutWarning": "DroppedRowsWarning",
    "anytime_results": "iter_anytime",
    "seed_of_key": "key_seed",
    "suggest_details": "suggest",
}
REMOVED = {
    "order": "Results do not depend on the order of rows: omit it.",
    "visiting_order": "Results do not depend on the order of rows: omit it.",
}


def find_new_name(old: str, known: Iterable[Any]) -> str | None:
    """Return the present name, among those known, of an argument that was renamed."""
    known = set(known)
    return next((new for name, new in OLD_NAMES if name == old and new in known), None)


def suggest_name(name: str, known: Sequence[str]) -> str:
    """Return a sentence that names the argument that was probably meant, or all of them.

    >>> suggest_name("min_life", ["new_penalty", "min_batches"])
    "Did you mean 'min_batches'?"
    """
    if name in REMOVED and name not in known:
        return REMOVED[name]
    near = find_new_name(name, known) or next(iter(difflib.get_close_matches(name, known, 1)), None)
    return f"Did you mean {near!r}?" if near else f"There are {', '.join(known)}."


def suggest_value(value: Any, choices: Iterable[Any]) -> str:
    """Return a sentence that names the choice that an old or misspelled text stands for, or "".

    >>> suggest_value("still", ["random_walk", "constant_velocity"])
    "Did you mean 'random_walk'?"
    """
    if not isinstance(value, str):
        return ""
    known = [one for one in choices if isinstance(one, str)]
    name, colon, parameter = value.partition(":")
    new = OLD_VALUES.get(name, "")
    near = new if new in known else next(iter(difflib.get_close_matches(name, known, 1)), "")
    tail = colon + parameter if parameter.replace(".", "").isalnum() else ""
    return f"Did you mean {near + tail!r}?" if near else ""


def suggest_attribute(name: str) -> str:
    """Return a sentence that names the present name of an attribute that was renamed, or "".

    >>> suggest_attribute("story")
    " Did you mean 'summary'?"
    """
    return f" Did you mean {OLD_ATTRIBUTES[name]!r}?" if name in OLD_ATTRIBUTES else ""


def suggest_arguments(others: Iterable[str] = ()) -> Callable[[Function], Function]:
    """Make an unknown keyword raise a TypeError that names the argument probably meant.

    `others` are names that a function accepts in addition to those of its signature.

    >>> @suggest_arguments()
    ... def cut(*, min_batches=1):
    ...     return min_batches
    >>> cut(min_life=2)
    Traceback (most recent call last):
    TypeError: cut() has no argument 'min_life'. Did you mean 'min_batches'?
    """

    def decorate(function: Function) -> Function:
        parameters = signature(function).parameters.items()
        own = [name for name, one in parameters if one.kind != one.VAR_KEYWORD and name != "self"]
        known = [*own, *others]
        shown = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            for name in options:
                if name not in known:
                    hint = suggest_name(name, known)
                    raise TypeError(f"{shown}() has no argument {name!r}. {hint}")
            return function(*arguments, **options)

        return call  # type: ignore[return-value]

    return decorate
