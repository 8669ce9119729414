"""Tables of docs/spaces.md: vectors, rings and times."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.pages.results import ratio, read, table


def tables() -> dict[str, str]:
    """Return every table by its name."""
    parts = read("quality/spaces")["parts"]
    made = {
        "spaces: vectors": _vectors,
        "spaces: rings": _rings,
        "spaces: times": _times,
    }
    return {name: make(parts[name.split(": ")[1]]) for name, make in made.items()}


def _vectors(rows: Sequence[dict[str, Any]]) -> str:
    cosines = list(dict.fromkeys(row["cosine"] for row in rows))
    kinds = list(dict.fromkeys((row["stream"], row["space"]) for row in rows))
    known = {(row["stream"], row["space"], row["cosine"]): row["nmi"] for row in rows}
    body = [
        (stream, f"`{space}`", *(f"{known[stream, space, cosine]:.2f}" for cosine in cosines))
        for stream, space in kinds
    ]
    return table(("NMI", "space", *map(str, cosines)), body)


def _rings(rows: Sequence[dict[str, Any]]) -> str:
    spaces = list(dict.fromkeys(row["space"] for row in rows))
    body = []
    for space in spaces:
        found = [row for row in rows if row["space"] == space]
        accuracies = [row["accuracy"] for row in found]
        names = np.mean([row["n_identities"] for row in found])
        mean, least = np.mean(accuracies), min(accuracies)
        body.append((f"`{space}`", f"{mean:.3f}", f"{least:.3f}", f"{names:.0f}"))
    return table(("", "global accuracy, mean", "least", "IDs for 3 rings"), body)


def _times(rows: Sequence[dict[str, Any]]) -> str:
    body = [
        (f"`{row['space']}`", f"{row['n_rows']:,}", row["n_features"], ratio(row["ratio"]))
        for row in rows
    ]
    return table(("", "rows", "features of `raw`", "times `raw`"), body)
