"""Memory: all that is kept of a stream between two batches, as one value and one file."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.families.evidence import Evidence
from dynmeans.files.archive import Arrays, pack_archive, read_archive, unpack_archive, write_archive
from dynmeans.follow.clusterers import DYNMEANS
from dynmeans.follow.lifetimes import NO_LIFETIMES, Lifetimes, count_lifetimes
from dynmeans.inputs.features import feature_numbers
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_count
from dynmeans.records.arrays import FloatArray
from dynmeans.records.cluster_rows import fields_of
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState
from dynmeans.spaces.named import space_from_json
from dynmeans.spaces.raw import RAW, Raw
from dynmeans.spaces.space import Space

_KIND, _VERSION = "Memory", 1
_CLUSTERS, _EVIDENCE = "clusters.", "evidence."
_ARRAYS = ("ids", "centers", "weights", "ages", "counts", "velocities", "velocity_covariances")
_MAX_FEATURES = 2**31 - 1
_MAX_WEIGHT = 1e100  # of a cluster; no rows have so much, and squares of larger sums overflow
_SPHERE_TOLERANCE = 1e-6  # of a length that was rounded a few times


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """Everything that is kept between batches; saved to a file, a stream continues from it.

    Attributes
    ----------
    clusters : ClusterState
        The remembered clusters (C_t of the paper), as points of `space`.
    space : Space
        Fitted feature space; not fitted before the first point.
    penalties : Penalties or None
        Penalties in use; None before they are chosen.
    seed : int
        Seed of the visiting orders.
    n_features : int
        Number of values of a row.
    feature_names : tuple of str, optional
        Names of the features.
    lifetimes : Lifetimes
        Points and batches of each cluster so far.
    evidence : Evidence, optional
        Statistics of families; only with `families=True`.
    method : str
        Clusterer of each batch.

    See Also
    --------
    DynamicMeans.from_memory : Continue from a memory.
    merge_memories : One memory of two streams.
    ClusterState : The clusters alone.

    Examples
    --------
    >>> import tempfile
    >>> from dynmeans import DynamicMeans, Memory
    >>> path = tempfile.mkdtemp() + "/memory.npz"
    >>> DynamicMeans(1.0, random_state=0).fit([[0.0], [5.0]]).memory_.save(path)
    >>> model = DynamicMeans.from_memory(Memory.load(path))
    >>> model.partial_fit([[5.1]]).labels_.tolist()
    [1]
    """

    clusters: ClusterState
    space: Space
    penalties: Penalties | None
    seed: int
    n_features: int
    feature_names: tuple[str, ...] | None
    lifetimes: Lifetimes
    evidence: Evidence | None = None
    plan: Any = None  # what the last model configuration came to; made again where it is missing
    method: str = DYNMEANS

    def with_clusters(self, clusters: ClusterState, lifetimes: Lifetimes) -> "Memory":
        """Return the memory after one more batch of which nothing else is kept."""
        return Memory(
            clusters,
            self.space,
            self.penalties,
            self.seed,
            self.n_features,
            self.feature_names,
            lifetimes,
            self.evidence,
            self.plan,
            self.method,
        )

    @property
    def is_initialized(self) -> bool:
        """Whether space and penalties are known."""
        return self.penalties is not None and self.space.is_fitted

    @property
    def space_or_raw(self) -> Space:
        """The space; as long as no point has come, nothing is mapped."""
        return self.space if self.space.is_fitted else RAW

    @property
    def centers(self) -> FloatArray:
        """Where the remembered clusters were last seen, in the units of the rows."""
        return self.space_or_raw.to_rows(self.clusters.centers)

    @property
    def velocities(self) -> FloatArray:
        """How far each moves in a step of time, in the units of the rows; 0 in still motion."""
        centers, moves = self.clusters.centers, self.clusters.velocities
        moves = np.zeros_like(centers) if moves is None else moves
        return self.space_or_raw.velocities_to_rows(moves, centers)

    def point_columns(self, features: Sequence[Any] | None) -> tuple[int, ...] | None:
        """Return the coordinates of features that are given by name, number or boolean."""
        found = feature_numbers(features, self.n_features, self.feature_names)
        return None if found is None else self.space.point_columns(found)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the memory to one file, whole or not at all."""
        write_archive(path, _KIND, _VERSION, *self._parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Memory":
        """Read a memory written by `save`; a damaged or foreign file raises `ValueError`."""
        return read_archive(path, _KIND, _VERSION, _from_arrays)

    def to_bytes(self) -> bytes:
        """Return what `save` writes, for a field of a database."""
        return pack_archive(_KIND, _VERSION, *self._parts())

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "memory") -> "Memory":
        """Read what `to_bytes` gave; anything else raises `ValueError` with its `name`."""
        return unpack_archive(data, name, _KIND, _VERSION, _from_arrays)

    def _parts(self) -> tuple[Arrays, dict[str, Any]]:
        state, lifetimes = self.clusters, count_lifetimes(self.lifetimes)
        arrays = {
            f"{_CLUSTERS}{name}": getattr(state, name)
            for name in _ARRAYS
            if getattr(state, name) is not None
        }
        arrays["lifetimes"] = np.array([(k, *life) for k, life in lifetimes.items()]).reshape(-1, 3)
        header = {
            "next_id": state.next_id,
            "n_steps": state.n_steps,
            "time": state.time,
            "space": self.space.to_json(),
            "penalties": None if self.penalties is None else self.penalties.to_json(),
            "seed": self.seed,
            "n_features": self.n_features,
            "method": self.method,
            "feature_names": None if self.feature_names is None else list(self.feature_names),
        }
        if self.evidence is not None:
            more, header["evidence"] = self.evidence.to_arrays()
            arrays |= {f"{_EVIDENCE}{name}": array for name, array in more.items()}
        return arrays, header


def _from_arrays(arrays: Arrays, header: Mapping[str, Any]) -> Memory:
    penalties, names = header["penalties"], header["feature_names"]
    evidence = header.get("evidence")
    lifetimes = arrays["lifetimes"].tolist()
    clusters = ClusterState(**fields_of(_under(_CLUSTERS, arrays), dict(header)))
    space = space_from_json(header["space"])
    if names is not None and not isinstance(names, list):
        raise TypeError(f"feature_names must be a list, got {names!r}.")
    names = None if names is None else tuple(map(str, names))
    n_features = check_count("n_features", header["n_features"], at_most=_MAX_FEATURES)
    if not isinstance(header["method"], str):
        raise TypeError(f"method must be text, got {header['method']!r}.")
    if names is not None and len(names) != n_features:
        raise ValueError(f"there are {len(names)} names for {n_features} features.")
    if penalties is not None:
        penalties = Penalties.from_json(penalties)
        check_state_lengths(penalties, clusters)
    _check_width(space if space.is_fitted else RAW, clusters, n_features, names is not None)
    return Memory(
        clusters,
        space,
        penalties,
        check_count("seed", header["seed"], at_least=0, at_most=2**64 - 1),
        n_features,
        names,
        NO_LIFETIMES._replace(counted={int(k): (points, int(n)) for k, points, n in lifetimes}),
        None if evidence is None else Evidence.from_arrays(_under(_EVIDENCE, arrays), evidence),
        method=header["method"],
    )


def _check_width(space: Space, clusters: ClusterState, n_features: int, is_named: bool) -> None:
    # Clusters that came from elsewhere may have coordinates without names: then those are counted.
    is_counted = not is_named and n_features == clusters.n_features and not isinstance(space, Raw)
    width = space.to_rows(clusters.centers).shape[1]
    if width != n_features and not (is_counted and width < n_features):
        raise ValueError(f"n_features must be {width} for this space, got {n_features}.")
    n = clusters.n_features if is_counted else space.n_coordinates(n_features)
    if n != clusters.n_features:
        raise ValueError(f"clusters have {clusters.n_features} coordinates, not {n}.")


def check_state_lengths(penalties: Penalties, clusters: ClusterState) -> None:
    """Refuse centers off the unit sphere, if the penalties say that they lie on it."""
    if not penalties.is_on_sphere:
        return
    with np.errstate(over="ignore"):
        lengths = np.sqrt(np.sum(np.square(clusters.centers), axis=1))
    wrong = np.flatnonzero(~(np.abs(lengths - 1.0) <= _SPHERE_TOLERANCE))
    if len(wrong):
        one = clusters.ids[wrong[0]]
        rule = "must have length 1 in this space; that of cluster {} has length {}"
        raise InputError("centers", rule, int(one), float(lengths[wrong[0]]))
    if np.any(clusters.weights > _MAX_WEIGHT):
        raise InputError("weights", f"must be at most {_MAX_WEIGHT:g} in this space")


def _under(prefix: str, arrays: Arrays) -> Arrays:
    found = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
    return {name: array.copy() for name, array in found.items()}
