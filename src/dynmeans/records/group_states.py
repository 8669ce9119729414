"""What many streams remember together: one `ClusterState` for each key, one file for all."""

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from dynmeans.files.archive import Arrays, read_archive, write_archive
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.cluster_rows import MAX_COUNTER
from dynmeans.records.state import ClusterState

Key = int | str | tuple[int | str, ...]

_FILE_VERSION = 1
# The last two are None where clusters keep no course.
CLUSTER_ARRAYS = (
    *("ids", "centers", "weights", "ages", "counts"),
    *("velocities", "velocity_covariances"),
)
_INTEGERS = ("starts", "ids", "next_ids", "n_steps")
_FLOATS = ("centers", "weights", "ages", "counts", "times")
_GROUP_ARRAYS = ("next_ids", "n_steps", "times", "last_batches")


@dataclass(frozen=True, slots=True, eq=False)
class GroupStates(Mapping[Key, ClusterState]):
    """The states of many streams: a mapping from keys, in increasing order, to `ClusterState`.

    Attributes
    ----------
    key_list : list
        The keys: integers or text, or tuples of them where several columns make the key.
    starts : IntArray of shape (n_keys + 1,)
        First row of each key in the arrays of clusters, and the end of the last.
    ids, centers, weights, ages, counts : arrays
        The clusters of all keys, as in `ClusterState`, key after key.
    velocities, velocity_covariances : arrays, optional
        Those of all keys, as in `ClusterState`; None for random walks.
    next_ids, n_steps, times : arrays of shape (n_keys,)
        As `next_id`, `n_steps` and `time` of `ClusterState`.
    last_batches : array of shape (n_keys,)
        Value of the batch column in the last batch of each key; zeros without such a column.
    settings : dict
        How the states were made: columns, penalties, seed. A later call must agree with it.

    See Also
    --------
    fit_groups : Returns and continues them.
    ClusterState : The state of one key.

    Examples
    --------
    >>> import pandas as pd
    >>> from dynmeans import fit_groups
    >>> frame = pd.DataFrame({"pump": ["a", "a", "b"], "x": [0.0, 9.0, 5.0]})
    >>> states = fit_groups(frame, by="pump", new_penalty=1.0, random_state=0).states
    >>> {key: state.n_clusters for key, state in states.items()}
    {'a': 2, 'b': 1}
    """

    key_list: list[Key]
    starts: IntArray
    ids: IntArray
    centers: FloatArray
    weights: FloatArray
    ages: FloatArray
    counts: FloatArray
    next_ids: IntArray
    n_steps: IntArray
    times: FloatArray
    last_batches: IntArray | FloatArray
    settings: dict[str, Any]
    velocities: FloatArray | None = None
    velocity_covariances: FloatArray | None = None

    @classmethod
    def empty(cls, n_features: int, batch_dtype: Any, settings: dict[str, Any]) -> "GroupStates":
        """Return the states of no key at all."""
        none: dict[str, Any] = dict.fromkeys(("weights", "ages", "counts", "times"), np.empty(0))
        none |= dict.fromkeys(("ids", "next_ids", "n_steps"), np.empty(0, dtype=np.int64))
        return cls(
            key_list=[],
            starts=np.zeros(1, dtype=np.int64),
            centers=np.empty((0, n_features)),
            last_batches=np.empty(0, dtype=batch_dtype),
            settings=settings,
            **none,
        )

    def __getitem__(self, key: Key) -> ClusterState:
        """Return what one key remembers, where rows are points."""
        space = self.settings.get("space", {}).get("name", "raw")
        if space != "raw":
            raise ValueError(
                f"the clusters of a key are points of the space {space!r}, not rows. "
                "GroupResult.memory(key) stores the space."
            )
        return self.clusters(key)

    def clusters(self, key: Key) -> ClusterState:
        """Return what one key remembers, as points of the space."""
        group = self.position(key)
        rows = slice(self.starts[group], self.starts[group + 1])
        arrays: dict[str, Any] = {name: a[rows] for name, a in self._arrays(CLUSTER_ARRAYS).items()}
        return ClusterState(
            next_id=int(self.next_ids[group]),
            n_steps=int(self.n_steps[group]),
            time=float(self.times[group]),
            **arrays,
        )

    def __iter__(self) -> Iterator[Key]:
        """Go through the keys in increasing order."""
        return iter(self.key_list)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self.key_list)

    def __eq__(self, other: object) -> bool:
        """Two are equal when keys, settings and every array are, to the bit."""
        if not isinstance(other, GroupStates):
            return NotImplemented
        names = ("starts", *CLUSTER_ARRAYS, *_GROUP_ARRAYS)
        is_same = self.key_list == other.key_list and self.settings == other.settings
        return is_same and all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)

    __hash__ = None  # type: ignore[assignment]

    @property
    def n_features(self) -> int:
        """Number of coordinates of a point."""
        return int(self.centers.shape[1])

    def _arrays(self, names: Iterable[str]) -> Arrays:
        return {name: array for name in names if (array := getattr(self, name)) is not None}

    def position(self, key: Key) -> int:
        """Return the place of a key among the sorted ones."""
        try:
            place = bisect_left(self.key_list, key)
        except TypeError:  # text asked for among integers, or the other way round
            raise KeyError(key) from None
        if place == len(self.key_list) or self.key_list[place] != key:
            raise KeyError(key)
        return place

    def take(self, positions: IntArray) -> "GroupStates":
        """Return the states of the keys at these places, in this order."""
        sizes = np.diff(self.starts)[positions]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(starts[-1]) + np.repeat(self.starts[positions] - starts[:-1], sizes)
        picked: dict[str, Any] = {name: a[rows] for name, a in self._arrays(CLUSTER_ARRAYS).items()}
        picked |= {name: getattr(self, name)[positions] for name in _GROUP_ARRAYS}
        keys = [self.key_list[i] for i in positions.tolist()]
        return replace(self, key_list=keys, starts=starts, **picked)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the states of all keys to one file, whole or not at all."""
        arrays = self._arrays(("starts", *CLUSTER_ARRAYS, *_GROUP_ARRAYS))
        header = {"settings": self.settings, "keys": self.key_list}
        write_archive(path, "GroupStates", _FILE_VERSION, arrays, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "GroupStates":
        """Read what `save` wrote; a damaged or foreign file raises `ValueError`."""
        return read_archive(path, "GroupStates", _FILE_VERSION, cls._from_arrays)

    @classmethod
    def _from_arrays(cls, arrays: Arrays, header: dict[str, Any]) -> "GroupStates":
        keys = [tuple(key) if isinstance(key, list) else key for key in header["keys"]]
        states = cls(keys, **arrays, settings=header["settings"])
        _check_groups(states)
        return states


def merge_states(first: GroupStates, second: GroupStates) -> GroupStates:
    """Join the states of different keys; no key may be in both."""
    keys = first.key_list + second.key_list
    starts = np.concatenate([first.starts[:-1], first.starts[-1] + second.starts])
    joined: dict[str, Any] = {}
    for name in (*CLUSTER_ARRAYS, *_GROUP_ARRAYS):
        # One without courses has no clusters either.
        arrays = [a for one in (first, second) if (a := getattr(one, name)) is not None]
        joined[name] = np.concatenate(arrays) if arrays else None
    together = GroupStates(keys, starts, **joined, settings=first.settings)
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return together.take(np.array(order, dtype=np.int64))


def _check_groups(states: GroupStates) -> None:
    """Refuse arrays that do not belong together, and rows that no step could have made."""
    _check_layout(states)
    keys: list[Any] = states.key_list
    ids, starts = states.ids, states.starts
    if not all(a < b for a, b in pairwise(keys)):
        raise ValueError("keys must be different and in increasing order.")
    is_first = np.zeros(len(ids) + 1, dtype=bool)
    is_first[starts] = True
    if np.any(ids < 0) or np.any((np.diff(ids) <= 0) & ~is_first[1:-1]):
        raise ValueError("ids of each key must be increasing and not negative.")
    for name in ("next_ids", "n_steps"):
        if np.any((getattr(states, name) < 0) | (getattr(states, name) > MAX_COUNTER)):
            raise ValueError(f"{name} must be from 0 to 2**62.")
    has_clusters = starts[1:] > starts[:-1]
    if np.any(states.next_ids[has_clusters] <= ids[starts[1:][has_clusters] - 1]):
        raise ValueError("next_ids must be above every id of their key.")
    if not np.all(np.isfinite(states.centers)):
        raise ValueError("centers must be finite.")
    for name in ("weights", "ages", "counts"):
        array = getattr(states, name)
        if not np.all((array > 0) & np.isfinite(array)):
            raise ValueError(f"{name} must be greater than 0 and finite.")
    if not np.all((states.times >= 0) & np.isfinite(states.times)):
        raise ValueError("times must be at least 0 and finite.")


def _check_layout(states: GroupStates) -> None:
    """Shapes and types: one row for each cluster, or for each key."""
    n_keys, n_clusters, starts = len(states.key_list), len(states.ids), states.starts
    if starts.shape != (n_keys + 1,) or starts[0] != 0 or starts[-1] != n_clusters:
        raise ValueError("starts must hold the first row of each key, and the end.")
    if states.centers.ndim != 2 or states.centers.shape[1] < 1:
        raise ValueError(f"centers must have two dimensions, got shape {states.centers.shape}.")
    sizes = dict.fromkeys(("ids", "weights", "ages", "counts"), n_clusters)
    sizes |= dict.fromkeys(("next_ids", "n_steps", "times", "last_batches"), n_keys)
    for name, size in sizes.items():
        if getattr(states, name).shape != (size,):
            raise ValueError(f"{name} must have {size} values.")
    if len(states.centers) != n_clusters or np.any(np.diff(starts) < 0):
        raise ValueError("centers and starts must have a row for each cluster.")
    for names, dtype in ((_INTEGERS, np.int64), (_FLOATS, np.float64)):
        for name in names:
            if getattr(states, name).dtype != dtype:
                raise ValueError(f"{name} must be of {np.dtype(dtype)}.")
    if not isinstance(states.settings, dict):
        raise ValueError(f"settings must be a table of names, got {states.settings!r}.")
