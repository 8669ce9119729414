"""Tables of docs/spaces.md: text, rings, communities and times."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.pages.results import ratio, read, table

_SPACES = ("raw", "direction")
_TEXT_ROWS = ("label-free, without families", "label-free", "best level", "best lambda")


def tables() -> dict[str, str]:
    """Return every table by its name."""
    parts = read("quality/spaces")["parts"]
    made = {
        "spaces: text": _text,
        "spaces: rings": _rings,
        "spaces: communities": _communities,
        "spaces: times": _times,
    }
    return {name: make(parts[name.split(": ")[1]]) for name, make in made.items()}


def _text(rows: Sequence[dict[str, Any]]) -> str:
    streams = list(dict.fromkeys(row["stream"] for row in rows))
    known = {(row["stream"], row["space"], row["row"]): row["accuracy"] for row in rows}
    head = ("", *(f"{name}, `{space}`" for name in streams for space in _SPACES))
    body = [
        (what, *(f"{known[name, space, what]:.3f}" for name in streams for space in _SPACES))
        for what in _TEXT_ROWS
    ]
    return table(head, body)


def _rings(rows: Sequence[dict[str, Any]]) -> str:
    spaces = list(dict.fromkeys(row["space"] for row in rows))
    body = []
    for space in spaces:
        found = [row for row in rows if row["space"] == space]
        accuracies = [row["accuracy"] for row in found]
        names = np.mean([row["n_identities"] for row in found])
        mean, least = np.mean(accuracies), min(accuracies)
        body.append((f"`{space}`", f"{mean:.3f}", f"{least:.3f}", f"{names:.0f}"))
    return table(("", "global accuracy, mean", "least", "names for 3 rings"), body)


def _communities(rows: Sequence[dict[str, Any]]) -> str:
    names = {"follow": "Dynamic Means in `direction`", "match_leiden": "Leiden with matching"}
    keys = ("adjusted_rand", "accuracy", "idf1")
    body = []
    for method, name in names.items():
        found = [row for row in rows if row["method"] == method]
        body.append((name, *(f"{np.mean([row[key] for row in found]):.3f}" for key in keys)))
    return table(("", "adjusted Rand of a snapshot", "global accuracy", "IDF1"), body)


def _times(rows: Sequence[dict[str, Any]]) -> str:
    body = [
        (f"`{row['space']}`", f"{row['n_rows']:,}", row["n_features"], ratio(row["ratio"]))
        for row in rows
    ]
    return table(("", "rows", "features of `raw`", "times `raw`"), body)
