"""What every state has in common: arrays with one row for each cluster, frozen and checked."""

import math
import os
from dataclasses import fields
from typing import Any, Self

import numpy as np

from dynmeans.files.archive import read_archive, write_archive
from dynmeans.records.arrays import FloatArray, IntArray

# Identities and steps are 64-bit integers. No batch, however large, could use up the rest.
MAX_COUNTER = 2**62
_COUNTERS = ("next_id", "n_steps", "time")
_FILE_VERSION = 1


class ClusterRows:
    """A state: one row for each remembered cluster, and counters; one file on disk."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    ids: IntArray
    centers: FloatArray

    @property
    def n_clusters(self) -> int:
        """Number of remembered clusters."""
        return len(self.ids)

    @property
    def n_features(self) -> int:
        """Number of coordinates of a point."""
        return int(self.centers.shape[1])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to one file, whole or not at all."""
        known: Any = self
        values = {field.name: getattr(self, field.name) for field in fields(known)}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        counters = {name: values[name] for name in _COUNTERS}
        write_archive(path, type(self).__name__, _FILE_VERSION, arrays, counters)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a state written by `save`; a damaged or foreign file raises `ValueError`."""
        return read_archive(
            path,
            cls.__name__,
            _FILE_VERSION,
            lambda arrays, header: cls(**fields_of(arrays, header)),
        )

    def __eq__(self, other: object) -> bool:
        """Two states are equal when every field is, to the bit."""
        if type(other) is not type(self):
            return NotImplemented
        known: Any = self
        names = [field.name for field in fields(known)]
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)


def freeze_arrays(record: Any, names: tuple[str, ...]) -> None:
    """Replace the named fields by read-only copies; ids are integers, all else floats."""
    for name in names:
        dtype = np.int64 if name == "ids" else np.float64
        array = np.array(getattr(record, name), dtype=dtype, order="C")
        array.setflags(write=False)
        object.__setattr__(record, name, array)


def check_cluster_arrays(record: Any, names: tuple[str, ...]) -> None:
    """Check what every other part relies on; fields other than ids and centers are positive."""
    _check_counters(record)
    ids, centers = record.ids, record.centers
    if ids.ndim != 1 or centers.ndim != 2:
        raise ValueError(
            f"ids must have one dimension and centers two, got shapes {ids.shape} "
            f"and {centers.shape}."
        )
    if centers.shape[1] < 1:
        raise ValueError(f"n_features must be at least 1, got {centers.shape[1]}.")
    for name in names:
        array = getattr(record, name)
        if len(array) != len(ids) or (array.ndim != 1 and name != "centers"):
            raise ValueError(
                f"{name} must have one row for each of {len(ids)} ids, got shape {array.shape}."
            )
    if np.any(np.diff(ids) <= 0) or np.any(ids < 0):
        raise ValueError(f"ids must be increasing and not negative, got {ids}.")
    if len(ids) and record.next_id <= ids[-1]:
        raise ValueError(f"next_id must be above every id, got {record.next_id!r}.")
    if not np.all(np.isfinite(centers)):
        raise ValueError("centers must be finite, got NaN or infinity.")
    for name in names:
        array = getattr(record, name)
        if name not in ("ids", "centers") and not np.all((array > 0) & np.isfinite(array)):
            raise ValueError(f"{name} must be greater than 0 and finite, got {array}.")


def check_velocities(record: Any) -> None:
    """Check velocities and their covariances: one row for each cluster, P12 and P22 0 or more."""
    shapes = {"velocities": record.centers.shape, "velocity_covariances": (len(record.ids), 2)}
    for name, shape in shapes.items():
        array = getattr(record, name)
        if array.shape != shape:
            raise ValueError(f"{name} must have shape {shape}, got {array.shape}.")
        if not np.all(np.isfinite(array)):
            raise ValueError(f"{name} must be finite, got NaN or infinity.")
    if np.any(record.velocity_covariances < 0):
        raise ValueError(
            f"velocity_covariances must be 0 or more, got {record.velocity_covariances}."
        )


def fields_of(arrays: dict[str, Any], header: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a state from the arrays and the metadata of its file."""
    if arrays["ids"].dtype.kind not in "iu":
        raise ValueError(f"ids must be integers, got {arrays['ids'].dtype}.")
    return {**arrays, **{name: header[name] for name in _COUNTERS}}


def _check_counters(record: Any) -> None:
    for name in ("next_id", "n_steps"):
        value = getattr(record, name)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(f"{name} must be an integer of at least 0, got {value!r}.")
        if value > MAX_COUNTER:
            raise ValueError(
                f"{name} must be at most 2**62, got {value!r}: no IDs are left for new clusters. "
                "Start from an empty state."
            )
    time = record.time
    if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time < math.inf:
        raise ValueError(f"time must be a finite number of at least 0, got {time!r}.")
