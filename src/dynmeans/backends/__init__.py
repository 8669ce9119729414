"""Ways to run one step: the specification, and fast forms that must agree with it."""

import importlib
from typing import Protocol, cast

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

BACKENDS = ("native", "reference")


class Backend(Protocol):
    """What every backend module offers; its arguments are checked already."""

    @staticmethod
    def step(
        points: FloatArray,
        state: ClusterState,
        penalties: Penalties,
        orders: IntArray,
        elapsed: float,
        point_weights: FloatArray | None,
        revival: str,
    ) -> tuple[ClusterState, Clustering]:
        """Cluster one batch and return what is remembered, and the clustering."""

    @staticmethod
    def predict_labels(
        points: FloatArray, state: ClusterState, penalties: Penalties, revival: str
    ) -> tuple[IntArray, FloatArray]:
        """Return the identity and the cost of each point, changing nothing."""


def get_backend(name: str) -> Backend:
    """Load a backend by name; its optional packages are imported only then."""
    if name not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {name!r}.")
    return cast(Backend, importlib.import_module(f"dynmeans.backends.{name}"))
