"""Features named by the user: their names, their numbers, or a yes or no for each."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynmeans.inputs.input_error import InputError


def feature_numbers(
    chosen: Sequence[Any] | None,
    n_features: int | None,
    names: Sequence[Any] | None,
    argument: str = "moving_features",
) -> tuple[int, ...] | None:
    """Return the numbers of the chosen features, or raise an error for a missing one.

    >>> feature_numbers(["y"], 3, ["x", "y", "color"]), feature_numbers([True, False], 2, None)
    ((1,), (0,))
    """
    if chosen is None:
        return None
    if isinstance(chosen, str):
        chosen = [chosen]
    values = list(chosen)
    if values and all(isinstance(value, bool | np.bool_) for value in values):
        if n_features is not None and len(values) != n_features:
            rule = f"must have one boolean for each of {n_features} features"
            raise InputError(argument, rule, got=len(values))
        return tuple(np.flatnonzero(values).tolist())
    return tuple(_number(value, names, argument) for value in values)


def _number(value: Any, names: Sequence[Any] | None, argument: str) -> int:
    if not isinstance(value, str):
        return value  # type: ignore[no-any-return] # checked where the penalties are made
    found = [] if names is None else list(names)
    if value not in found:
        rule = "must name features, which are {}"
        raise InputError(argument, rule, ", ".join(found) or "without names", got=value)
    return found.index(value)
