"""Find and follow clusters in data that arrives batch by batch.

The public names are loaded when first used, so that ``import dynmeans`` stays light.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynmeans.estimators.ddp_mixture import DDPMixture
    from dynmeans.estimators.dp_means import DPMeans
    from dynmeans.estimators.dynamic_means import DynamicMeans
    from dynmeans.functional import step
    from dynmeans.records.events import Event
    from dynmeans.records.history import History
    from dynmeans.records.orders import HashOrders
    from dynmeans.records.penalties import Penalties
    from dynmeans.records.state import Clustering, ClusterState

__version__ = "0.1.0"

__all__ = [
    "ClusterState",
    "Clustering",
    "DDPMixture",
    "DPMeans",
    "DynamicMeans",
    "Event",
    "HashOrders",
    "History",
    "Penalties",
    "step",
]

_HOMES = {
    "ClusterState": "dynmeans.records.state",
    "Clustering": "dynmeans.records.state",
    "DDPMixture": "dynmeans.estimators.ddp_mixture",
    "DPMeans": "dynmeans.estimators.dp_means",
    "DynamicMeans": "dynmeans.estimators.dynamic_means",
    "Event": "dynmeans.records.events",
    "HashOrders": "dynmeans.records.orders",
    "History": "dynmeans.records.history",
    "Penalties": "dynmeans.records.penalties",
    "step": "dynmeans.functional",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
