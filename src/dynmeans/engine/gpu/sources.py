"""Source of the CUDA kernels: package data, one file for each family."""

import hashlib
from importlib.resources import files

FAMILIES = ("rows", "exact", "grid", "filter", "sums")
_FOLDER = files("dynmeans.engine.gpu") / "kernels"


def source_of(family: str) -> str:
    """Return the source of one family of kernels, with what all families share."""
    return "\n".join((_FOLDER / f"{name}.cu").read_text() for name in ("common", family))


def digest() -> str:
    """Name all kernels by what they say."""
    return hashlib.sha256("".join(map(source_of, FAMILIES)).encode()).hexdigest()[:16]
