"""Find and follow clusters in data that arrives batch by batch.

The public names are loaded when first used, so that ``import dynmeans`` stays light.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynmeans.anytime.fit_anytime import anytime_results, fit_anytime
    from dynmeans.anytime.label_rows import label_rows
    from dynmeans.anytime.result import AnytimeResult
    from dynmeans.estimators.ddp_mixture import DDPMixture
    from dynmeans.estimators.dp_means import DPMeans
    from dynmeans.estimators.dynamic_means import DynamicMeans
    from dynmeans.functional import step
    from dynmeans.groups.fit_groups import GroupResult, fit_groups
    from dynmeans.records.events import Event
    from dynmeans.records.group_states import GroupStates
    from dynmeans.records.history import History
    from dynmeans.records.orders import HashOrders
    from dynmeans.records.penalties import Penalties
    from dynmeans.records.state import Clustering, ClusterState
    from dynmeans.records.suggestion import SuggestionWarning
    from dynmeans.runs.run import Run
    from dynmeans.suggestion.suggest_penalties import suggest_penalties
    from dynmeans.tuning.tune import tune

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
    "HashOrders",
    "History",
    "Penalties",
    "Run",
    "SuggestionWarning",
    "anytime_results",
    "fit_anytime",
    "fit_groups",
    "label_rows",
    "step",
    "suggest_penalties",
    "tune",
]

_HOMES = {
    "AnytimeResult": "dynmeans.anytime.result",
    "ClusterState": "dynmeans.records.state",
    "Clustering": "dynmeans.records.state",
    "DDPMixture": "dynmeans.estimators.ddp_mixture",
    "DPMeans": "dynmeans.estimators.dp_means",
    "DynamicMeans": "dynmeans.estimators.dynamic_means",
    "Event": "dynmeans.records.events",
    "GroupResult": "dynmeans.groups.fit_groups",
    "GroupStates": "dynmeans.records.group_states",
    "HashOrders": "dynmeans.records.orders",
    "History": "dynmeans.records.history",
    "Penalties": "dynmeans.records.penalties",
    "Run": "dynmeans.runs.run",
    "SuggestionWarning": "dynmeans.records.suggestion",
    "anytime_results": "dynmeans.anytime.fit_anytime",
    "fit_anytime": "dynmeans.anytime.fit_anytime",
    "fit_groups": "dynmeans.groups.fit_groups",
    "label_rows": "dynmeans.anytime.label_rows",
    "step": "dynmeans.functional",
    "suggest_penalties": "dynmeans.suggestion.suggest_penalties",
    "tune": "dynmeans.tuning.tune",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
