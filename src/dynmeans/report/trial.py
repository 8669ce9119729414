"""Where readers of a page begin when they try another scale: the settings of the run."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dynmeans.engine.checks import entropy_of_seed
from dynmeans.records.arrays import FloatArray
from dynmeans.records.penalties import Penalties

if TYPE_CHECKING:
    from dynmeans.report.data import ReportData

_TOO_MANY = (
    "Other scales cannot be tried on this page: it holds {shown} of the {all} features by which "
    "the rows were clustered."
)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What decided the clusters of a page."""

    penalties: Penalties  # lambda, Q and tau, the revival rule and the motion
    random_state: int = 0  # Seed of the visiting orders
    n_init: int = 3  # Visiting orders tried on every batch
    search: str = "paper"  # {"deep", "paper"}; how the minimum was searched
    # (n_features,); by which features were divided before they were clustered.
    spreads: FloatArray | None = None
    space: str = "raw"  # What did that, as the estimators name it
    command: str | None = None  # The command that clusters the same rows, without its penalties


def packed_trial(data: "ReportData") -> dict[str, Any] | None:
    """Return the settings as JSON values, or why there is nothing to try; None without any."""
    trial, matrix = data.trial, data.matrix
    if trial is None or matrix is None or not len(data.points.slots):
        return None
    features = [row for row, axis in enumerate(data.axes) if axis.kind == "feature"]
    if len(features) < len(matrix):
        return {"reason": _TOO_MANY.format(shown=len(features), all=len(matrix))}
    penalties, entropy = trial.penalties, int(entropy_of_seed(trial.random_state))
    scales = np.ones(len(matrix)) if trial.spreads is None else trial.spreads
    is_moving = None
    if penalties.moving is not None:
        is_moving = [row in penalties.moving for row in range(len(matrix))]
    return {
        "features": features,
        "scales": scales.tolist(),
        "directions": {
            row: matrix[:, row].tolist() for row in range(len(data.axes)) if row not in features
        },
        "new_penalty": penalties.new_penalty,
        "max_gap": penalties.max_gap if np.isfinite(penalties.max_gap) else None,
        "reach": max(1.0, penalties.reach),
        "revival": penalties.revival,
        "motion": penalties.motion,
        "moving": is_moving,
        "n_init": trial.n_init,
        "random_state": trial.random_state,
        "entropy": [entropy % 2**32, entropy >> 32],
        "search": trial.search,
        "space": trial.space,
        "unit": _unit(data, trial),
        "command": trial.command,
    }


def _unit(data: "ReportData", trial: Trial) -> str:
    """Name the unit of distances: that of the features, where it is known."""
    if trial.spreads is not None:
        return "spreads"
    is_map = data.lon_lat is not None and len(data.axes) == 2
    return "degrees" if is_map else ""
