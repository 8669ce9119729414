"""Find and follow clusters in data that arrives batch by batch.

The public names are loaded when first used, so that ``import dynmeans`` stays light.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynmeans.engine.step import step
    from dynmeans.estimators.ddp_mixture import DDPMixture
    from dynmeans.estimators.dp_means import DPMeans
    from dynmeans.estimators.dynamic_means import DynamicMeans
    from dynmeans.parameters.suggest_penalties import suggest_penalties
    from dynmeans.parameters.tune import tune
    from dynmeans.records.events import Event
    from dynmeans.records.group_states import GroupStates
    from dynmeans.records.history import History
    from dynmeans.records.orders import VisitingOrders
    from dynmeans.records.penalties import Penalties
    from dynmeans.records.state import Clustering, ClusterState
    from dynmeans.records.suggestion import SuggestionWarning
    from dynmeans.runs.run import Run
    from dynmeans.scale.anytime.fit_anytime import anytime_results, fit_anytime
    from dynmeans.scale.anytime.label_rows import label_rows
    from dynmeans.scale.anytime.result import AnytimeResult
    from dynmeans.scale.groups.fit_groups import GroupResult, fit_groups

__version__ = "0.1.0"

__all__ = [
    "AnytimeResult",
    "ClusterState",
    "Clustering",
    "DDPMixture",
    "DPMeans",
    "DynamicMeans",
    "Event",
    "GroupResult",
    "GroupStates",
    "History",
    "Penalties",
    "Run",
    "SuggestionWarning",
    "VisitingOrders",
    "anytime_results",
    "fit_anytime",
    "fit_groups",
    "label_rows",
    "step",
    "suggest_penalties",
    "tune",
]

_HOMES = {
    "AnytimeResult": "dynmeans.scale.anytime.result",
    "ClusterState": "dynmeans.records.state",
    "Clustering": "dynmeans.records.state",
    "DDPMixture": "dynmeans.estimators.ddp_mixture",
    "DPMeans": "dynmeans.estimators.dp_means",
    "DynamicMeans": "dynmeans.estimators.dynamic_means",
    "Event": "dynmeans.records.events",
    "GroupResult": "dynmeans.scale.groups.fit_groups",
    "GroupStates": "dynmeans.records.group_states",
    "VisitingOrders": "dynmeans.records.orders",
    "History": "dynmeans.records.history",
    "Penalties": "dynmeans.records.penalties",
    "Run": "dynmeans.runs.run",
    "SuggestionWarning": "dynmeans.records.suggestion",
    "anytime_results": "dynmeans.scale.anytime.fit_anytime",
    "fit_anytime": "dynmeans.scale.anytime.fit_anytime",
    "fit_groups": "dynmeans.scale.groups.fit_groups",
    "label_rows": "dynmeans.scale.anytime.label_rows",
    "step": "dynmeans.engine.step",
    "suggest_penalties": "dynmeans.parameters.suggest_penalties",
    "tune": "dynmeans.parameters.tune",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
