"""Where to look for the three parameters: ranges from the data, or from the user."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynmeans.records.arrays import BatchArray
from dynmeans.records.penalties import MOTIONS, Penalties

Ranges = Mapping[str, tuple[float, float]]

PARAMETERS = ("new_penalty", "max_gap", "reach")
# lambda as a share of the variance of a batch; T_Q and k_tau where streams of many kinds had
# their best (decision 0311).
_PENALTY_SHARES = (1e-3, 4.0)
_MAX_GAPS = (1.3, 25.0)
_REACHES = (1.0, 4.0)


def search_ranges(
    batches: Sequence[BatchArray], ranges: Ranges | None
) -> dict[str, tuple[float, float]]:
    """Return lowest and highest value of each parameter, those of the user first."""
    given = dict(ranges or {})
    unknown = [name for name in given if name not in PARAMETERS]
    if unknown:
        raise ValueError(f"ranges must be of {', '.join(PARAMETERS)}, got {unknown[0]!r}.")
    if "new_penalty" not in given:
        variance = _batch_variance(batches)
        given["new_penalty"] = (_PENALTY_SHARES[0] * variance, _PENALTY_SHARES[1] * variance)
    chosen = {"max_gap": _MAX_GAPS, "reach": _REACHES, **given}
    return {name: _checked(name, chosen[name]) for name in PARAMETERS}


def search_motions(motion: str | None, n_trials: int) -> tuple[str, ...]:
    """Return the motions to try: the one that is given, or both where there are trials for it."""
    if motion is None:
        return MOTIONS[: min(n_trials, len(MOTIONS))]
    return (Penalties(1.0, revival_penalty=0.0, drift=0.0, motion=motion).motion,)


def _batch_variance(batches: Sequence[BatchArray]) -> float:
    """Mean squared distance of the points to the mean of their batch."""
    squares = sum(float(((b - b.mean(axis=0)) ** 2).sum()) for b in batches if len(b))
    variance = squares / max(sum(map(len, batches)), 1)
    if variance == 0:
        raise ValueError(
            "batches must have points apart from each other to say where to look for "
            "new_penalty; give ranges={'new_penalty': (lowest, highest)}."
        )
    return variance


def _checked(name: str, ends: tuple[float, float]) -> tuple[float, float]:
    """Refuse a range that is none, or whose ends no `Penalties` would take."""
    if np.shape(ends) != (2,):
        raise ValueError(f"ranges[{name!r}] must be (lowest, highest), got {ends!r}.")
    for end in ends:
        values: dict[str, Any] = {"new_penalty": 1.0, "max_gap": 2.0, "reach": 1.0, name: end}
        Penalties(**values)
    low, high = map(float, ends)
    if not low < high < math.inf:
        raise ValueError(f"ranges[{name!r}] must rise and be finite, got {ends!r}.")
    return low, high
