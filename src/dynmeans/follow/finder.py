"""Finder: how the clusters of a batch are found and continue those that are remembered."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.step import step_batch
from dynmeans.follow.clusterers import DYNMEANS, clusters_of
from dynmeans.follow.match_clusters import choose_matching, match_batch, nearest
from dynmeans.follow.memory import Memory
from dynmeans.parameters.selection import suggest_checked
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.state import Clustering, ClusterState
from dynmeans.records.suggestion import Suggestion

if TYPE_CHECKING:
    from dynmeans.follow.follow import Plan
    from dynmeans.follow.model_config import ModelConfig

Gaps = Sequence[float]
Found = tuple[ClusterState, Clustering]


class Finder(Protocol):
    """What finds clusters. `ready` are those remembered, where they are expected."""

    is_compiled: bool  # whether compiled code finds the same in small batches and in sequences

    def find(self, points: Any, ready: ClusterState, plan: "Plan", elapsed: float) -> Found:
        """Return what is remembered after the batch, and its clustering."""

    def predict(
        self, points: Any, ready: ClusterState, plan: "Plan", elapsed: float
    ) -> tuple[Any, Any]:
        """Return the identity and the cost of each row; nothing is changed."""

    def choose(
        self,
        model_config: "ModelConfig",
        memory: Memory,
        batches: list[Batch],
        gaps: Gaps,
        **known: Any,
    ) -> Suggestion:
        """Choose penalties on the first batches; `known` are those given, and `batch_noun`."""


class DynamicMeansFinder:
    """Dynamic Means: Algorithm 2, and the search that follows it."""

    is_compiled = True

    def find(self, points: Any, ready: ClusterState, plan: "Plan", elapsed: float) -> Found:
        """Run one step."""
        return step_batch(points, ready, plan.penalties, plan.orders, elapsed, plan.execution)

    def predict(
        self, points: Any, ready: ClusterState, plan: "Plan", elapsed: float
    ) -> tuple[Any, Any]:
        """Return -1 where a new cluster would be cheaper."""
        found: tuple[Any, Any] = points.predict(ready, plan.penalties, plan.execution, elapsed)
        return found

    def choose(
        self,
        model_config: "ModelConfig",
        memory: Memory,
        batches: list[Batch],
        gaps: Gaps,
        **known: Any,
    ) -> Suggestion:
        """Take the penalties that describe the points most briefly."""
        # Fixed orders; only with its own orders does one batch meet a wanted number of clusters.
        is_own = len(batches) == 1 and model_config.n_clusters is not None
        seed = memory.seed if is_own else 0
        return suggest_checked(
            batches,
            gaps,
            orders=VisitingOrders(seed, model_config.n_init, search=model_config.search),
            n_clusters=model_config.n_clusters,
            families=model_config.families,
            moving_features=memory.point_columns(model_config.penalties.moving_features),
            **known,
        )


class MatchedFinder:
    """Clusters that another clusterer finds in each batch, matched to those remembered."""

    is_compiled = False

    def __init__(self, method: Any) -> None:
        self._method = method

    def find(self, points: Any, ready: ClusterState, plan: "Plan", elapsed: float) -> Found:
        """Find clusters and match them one to one; the key of the orders seeds the clusterer."""
        here = points.to_numpy("method=...")
        labels = clusters_of(self._method, here, plan.orders.seed)
        limit = plan.execution.max_clusters
        return match_batch(labels, here, ready, plan.penalties, elapsed, limit)

    def predict(
        self, points: Any, ready: ClusterState, plan: "Plan", elapsed: float
    ) -> tuple[Any, Any]:
        """Return the nearest cluster: clusters of another method may have any shape."""
        rows = points.to_numpy("method=...").points.astype(np.float64)
        return nearest(rows, ready, plan.penalties, elapsed)

    def choose(
        self,
        model_config: "ModelConfig",
        memory: Memory,
        batches: list[Batch],
        gaps: Gaps,
        **known: Any,
    ) -> Suggestion:
        """Take lambda from the distances between the clusters of a batch."""
        given = model_config.penalties
        if given.moving_features is not None and given.motion is None:
            known["motion"] = "constant_velocity"
        return choose_matching(self._method, batches, gaps, memory.seed, **known)


_DYNAMIC_MEANS = DynamicMeansFinder()


def finder_of(method: Any) -> Finder:
    """Return what finds the clusters: `method` of a configuration, or its text in a memory."""
    return _DYNAMIC_MEANS if method == DYNMEANS else MatchedFinder(method)
