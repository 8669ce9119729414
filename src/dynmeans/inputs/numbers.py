"""One real number from outside: checked, or refused by name."""

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.inputs.input_error import InputError


def check_number(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    infinity_allowed: bool = False,
    hint: str = "",
) -> float:
    """Return `value` as a float, or raise an error that names the argument, the rule and the value.

    >>> check_number("elapsed", 2, above=0)
    2.0
    >>> check_number("elapsed", 0, above=0)
    Traceback (most recent call last):
        ...
    dynmeans.inputs.input_error.InputError: elapsed must be greater than 0, got 0.
    """
    # An abstract class is slow to ask.
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, Real)):
        raise TypeError(f"{name} must be a real number, got {value!r}.")
    try:
        number = float(value)
    except OverflowError:  # of an integer of hundreds of digits
        number = math.nan
    if math.isnan(number) or (math.isinf(number) and not infinity_allowed):
        rule = "a number" if infinity_allowed else "finite"
        raise InputError(name, f"must be {rule}", got=value)
    if not number > above:
        raise InputError(name, f"must be greater than {above:g}", got=value, hint=hint)
    if number < at_least:
        raise InputError(name, f"must be at least {at_least:g}", got=value, hint=hint)
    return number


def number_or_none(**rule: Any) -> Callable[[str, Any], float | None]:
    """Return the check of a number that need not be given."""
    return lambda name, value: None if value is None else check_number(name, value, **rule)


def check_range(name: str, value: Any, *, above: float = 0.0) -> tuple[float, float]:
    """Return lowest and highest of a number, or of a pair of them.

    >>> check_range("n_clusters", 5), check_range("n_clusters", (4, 8))
    ((5.0, 5.0), (4.0, 8.0))
    """
    ends = value if isinstance(value, tuple | list) else (value, value)
    if len(ends) != 2:
        raise InputError(name, "must be a number or a pair (lowest, highest)", got=value)
    low, high = (check_number(name, end, above=above) for end in ends)
    if low > high:
        raise InputError(name, "must have lowest <= highest if it is a pair", got=value)
    return low, high


def check_count(name: str, value: Any, at_least: int = 1, at_most: int | None = None) -> int:
    """Return an integer parameter, or refuse it by name."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if at_most is not None and not at_least <= value <= at_most:
        raise InputError(name, f"must be from {at_least} to {at_most}", got=value)
    if value < at_least:
        raise InputError(name, f"must be at least {at_least}", got=value)
    return int(value)


def check_finite_array(name: str, value: Any, n_dimensions: int) -> npt.NDArray[np.float64]:
    """Return an array of finite numbers with this number of dimensions, or refuse it."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or array.ndim != n_dimensions or not array.size:
        rule = f"must be numbers in {n_dimensions} dimensions"
        raise InputError(name, rule, got=f"{array.dtype} of shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(name, "must be finite", got="NaN or infinity")
    return array.astype(np.float64)
