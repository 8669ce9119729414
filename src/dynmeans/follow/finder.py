"""Finder: how the clusters of a batch are found and continue those that are remembered."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.step import step_batch
from dynmeans.follow.matching import choose_matching, match_batch, nearest
from dynmeans.follow.memory import Memory
from dynmeans.follow.methods import OURS, clusters_of
from dynmeans.parameters.suggest import suggest_for
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.state import Clustering, ClusterState
from dynmeans.records.suggestion import Suggestion

if TYPE_CHECKING:
    from dynmeans.follow.follow import Plan
    from dynmeans.follow.recipe import Recipe

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
        self, recipe: "Recipe", memory: Memory, batches: list[Batch], gaps: Gaps, **known: Any
    ) -> Suggestion:
        """Choose penalties on the first batches; `known` are those given, and `batch_word`."""


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
        self, recipe: "Recipe", memory: Memory, batches: list[Batch], gaps: Gaps, **known: Any
    ) -> Suggestion:
        """Take the penalties that describe the points most briefly."""
        # Fixed orders; only with its own orders does one batch meet a wanted number of clusters.
        is_own = len(batches) == 1 and recipe.n_clusters is not None
        seed = memory.entropy if is_own else 0
        return suggest_for(
            batches,
            gaps,
            orders=VisitingOrders(seed, recipe.n_init, search=recipe.search),
            n_clusters=recipe.n_clusters,
            families=recipe.families,
            moving=memory.coordinates_of(recipe.penalties.moving),
            **known,
        )


class MatchedFinder:
    """Clusters that another clusterer finds in each batch, matched to those remembered."""

    is_compiled = False

    def __init__(self, method: Any) -> None:
        self._method = method

    def find(self, points: Any, ready: ClusterState, plan: "Plan", elapsed: float) -> Found:
        """Find clusters and match them one to one; the key of the orders seeds the clusterer."""
        here = points.in_memory("method=...")
        labels = clusters_of(self._method, here, plan.orders.entropy)
        limit = plan.execution.max_clusters
        return match_batch(labels, here, ready, plan.penalties, elapsed, limit)

    def predict(
        self, points: Any, ready: ClusterState, plan: "Plan", elapsed: float
    ) -> tuple[Any, Any]:
        """Return the nearest cluster: clusters of another method may have any shape."""
        rows = points.in_memory("method=...").points.astype(np.float64)
        return nearest(rows, ready, plan.penalties, elapsed)

    def choose(
        self, recipe: "Recipe", memory: Memory, batches: list[Batch], gaps: Gaps, **known: Any
    ) -> Suggestion:
        """Take lambda from the distances between the clusters of a batch."""
        given = recipe.penalties
        if given.moving is not None and given.motion is None:
            known["motion"] = "steady"
        return choose_matching(self._method, batches, gaps, memory.entropy, **known)


_DYNAMIC_MEANS = DynamicMeansFinder()


def finder_of(method: Any) -> Finder:
    """Return what finds clusters by this method: that of a recipe, or the text in a memory."""
    return _DYNAMIC_MEANS if method == OURS else MatchedFinder(method)
