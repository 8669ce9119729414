"""Source of the CUDA kernels: package data, one file for each family."""

import hashlib
from importlib.resources import files

FAMILIES = ("rows", "exact", "births", "pairs", "grid", "filter", "sums", "border")
_PARTS = {  # of a family, before the file of its own name and after what all share
    "exact": ("distances",),
    "births": ("distances",),
    "pairs": ("distances",),
    "grid": ("cells",),
    "sums": ("squares", "bins"),
    "border": ("distances", "squares", "bins"),
    "filter": ("products", "decide", "filter_held", "filter_wide"),
}
_FOLDER = files("dynmeans.engine.gpu") / "cuda"


def source_of(family: str) -> str:
    """Return the source of one family of kernels, with what it shares with others."""
    names = ("common", *_PARTS.get(family, ()), family)
    return "\n".join((_FOLDER / f"{name}.cu").read_text() for name in names)


def digest() -> str:
    """Return a digest of the source of all kernels."""
    return hashlib.sha256("".join(map(source_of, FAMILIES)).encode()).hexdigest()[:16]
