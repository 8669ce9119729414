"""Features kept on disk under a name made from all that they depend on."""

import hashlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from dynmeans.files.atomic_write import atomic_write
from dynmeans.records.arrays import FloatArray
from paper.flights.trajectories import Trajectories

_FORMAT = b"dynmeans gp features 1"  # to be counted up when the same input gives other features


def content_key(trajectories: Trajectories, lattice: Any, *numbers: FloatArray) -> str:
    """Return a name that changes with any point, hyperparameter or place of the lattice."""
    digest = hashlib.blake2b(_FORMAT, digest_size=16)
    digest.update(repr(lattice).encode())
    arrays = [
        getattr(trajectories, field.name)
        for field in fields(trajectories)
        if field.name not in ("ids", "times")
    ]
    for array in (*arrays, *numbers):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def load_features(folder: Path, key: str, shape: tuple[int, int]) -> FloatArray | None:
    """Return what is kept under the name; None if nothing is, or it cannot be read."""
    try:
        features = np.load(_path(folder, key))
    except (OSError, ValueError, EOFError):
        return None
    if features.shape != shape or features.dtype != np.float64:
        return None
    return np.asarray(features)


def save_features(folder: Path, key: str, features: FloatArray) -> None:
    """Write the features whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(_path(folder, key)) as temporary, open(temporary, "wb") as file:
        np.save(file, features)


def _path(folder: Path, key: str) -> Path:
    return folder / f"gp-features-{key}.npy"
