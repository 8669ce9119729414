"""Where readers of a page begin when they try another scale: the settings of the run."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dynmeans.engine.checks import entropy_of_seed
from dynmeans.follow.defaults import defaults_of
from dynmeans.follow.model_config import PARAMETERS
from dynmeans.records.penalties import Penalties
from dynmeans.spaces.cosine import Cosine
from dynmeans.spaces.cyclic import Cyclic
from dynmeans.spaces.geo import Geo
from dynmeans.spaces.mixed import Mixed
from dynmeans.spaces.raw import RAW, Raw
from dynmeans.spaces.space import Space
from dynmeans.spaces.standard import Standard

if TYPE_CHECKING:
    from dynmeans.report.data import ReportData

_USUAL: dict[str, Any] = {
    **{name: field.default for name, field in PARAMETERS.items()},
    **defaults_of("ReclusterSettings"),
}
_NO_MAP = "Other scales cannot be tried on this page: it has no map of the space {!r}."
_TOO_MANY = (
    "Other scales cannot be tried on this page: it holds {shown} of the {all} features by which "
    "the rows were clustered."
)


@dataclass(frozen=True, slots=True, eq=False)
class ReclusterSettings:
    """What decided the clusters of a page."""

    penalties: Penalties  # lambda, Q and tau, the revival rule and the motion
    random_state: int = _USUAL["random_state"]  # Seed of the visiting orders
    n_init: int = _USUAL["n_init"]  # Visiting orders tried on every batch
    search: str = _USUAL["search"]  # {"paper", "split", "deep"}; how the minimum was searched
    learned: Space = RAW  # How rows became points
    space: str = _USUAL["space"]  # The same, as the estimators name it
    command: str | None = None  # The command that clusters the same rows, without its penalties


def encode_recluster(data: "ReportData") -> dict[str, Any] | None:
    """Return the settings as JSON values, or why there is nothing to try; None without any."""
    trial, matrix = data.trial, data.matrix
    if trial is None or matrix is None or not len(data.points.slots):
        return None
    features = [row for row, axis in enumerate(data.axes) if axis.kind == "feature"]
    if len(features) < len(matrix):
        return {"reason": _TOO_MANY.format(shown=len(features), all=len(matrix))}
    penalties, entropy = trial.penalties, int(entropy_of_seed(trial.random_state))
    pieces = pieces_of(trial.learned, list(range(len(matrix))))
    if pieces is None:
        return {"reason": _NO_MAP.format(trial.learned.name)}
    is_moving = None
    if penalties.moving_features is not None:
        n_coordinates = trial.learned.n_coordinates(len(matrix))
        is_moving = [row in penalties.moving_features for row in range(n_coordinates)]
    return {
        "features": features,
        "transforms": pieces,
        "directions": {
            row: matrix[:, row].tolist() for row in range(len(data.axes)) if row not in features
        },
        "new_penalty": penalties.new_penalty,
        "max_gap": penalties.max_gap if np.isfinite(penalties.max_gap) else None,
        "reach": max(1.0, penalties.reach),
        "revival": penalties.revival,
        "motion": penalties.motion,
        "centers": penalties.centers,
        "moving": is_moving,
        "n_init": trial.n_init,
        "random_state": trial.random_state,
        "entropy": [entropy % 2**32, entropy >> 32],
        "search": trial.search,
        "space": trial.space,
        "command": trial.command,
    }


def pieces_of(space: Space, features: list[int], weight: float = 1.0) -> list[Any] | None:
    """Return how a page maps these features; None for a space that it cannot map.

    >>> pieces_of(Geo(), [0, 1])
    [{'kind': 'geo', 'features': [0, 1], 'unit': 'km', 'weight': 1.0}]
    """
    common: dict[str, Any] = {"unit": space.unit, "weight": weight}
    if isinstance(space, Mixed):
        groups = [
            pieces_of(g.space, [features[int(f)] for f in g.features], weight * g.weight)
            for g in space.groups
        ]
        return None if None in groups else [piece for group in groups for piece in group or ()]
    if isinstance(space, Geo):
        ordered = features[::-1] if space.longitude_first else features
        return [{"kind": "geo", "features": ordered, **common}]
    if isinstance(space, Cyclic):
        angle = {"kind": "angle", "period": space.period}
        return [{**angle, "features": [feature], **common} for feature in features]
    if isinstance(space, Cosine) and space.axes is None and space.mean is None:
        return [{"kind": "direction", "features": features, **common}]
    if isinstance(space, Raw | Standard):
        spread = space.spread.tolist() if isinstance(space, Standard) else [1.0] * len(features)
        return [{"kind": "scaled", "features": features, "scales": spread, **common}]
    return None
