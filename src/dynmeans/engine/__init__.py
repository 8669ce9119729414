"""Ways to run one step: the specification, and fast forms that must agree with it."""

import importlib
from functools import cache
from typing import Protocol, cast

from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

BACKENDS = ("native", "reference")
ACCELERATIONS = ("auto", "none")


class Backend(Protocol):
    """What every backend module offers; its arguments are checked already."""

    @staticmethod
    def step(
        points: BatchArray,
        state: ClusterState,
        penalties: Penalties,
        orders: IntArray,
        elapsed: float,
        point_weights: FloatArray | None,
        revival: str,
        *,
        acceleration: str = "auto",
        n_threads: int | None = None,
    ) -> tuple[ClusterState, Clustering]:
        """Cluster one batch and return what is remembered, and the clustering."""

    @staticmethod
    def predict_labels(
        points: BatchArray, state: ClusterState, penalties: Penalties, revival: str
    ) -> tuple[IntArray, FloatArray]:
        """Return the identity and the cost of each point, changing nothing."""


def get_backend(name: str) -> Backend:
    """Load a backend by name; its optional packages are imported only then."""
    if name not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {name!r}.")
    return _load(name)


@cache
def _load(name: str) -> Backend:
    return cast(Backend, importlib.import_module(f"dynmeans.engine.{name}"))
