"""Tables of the pages on texts: given sets, and generated texts at several cosines."""

from typing import Any

import numpy as np

from benchmarks.pages.results import read, table

_PROBES = ("sars", "iraq", "world cup", "police", "fire")
_SETS = {"news, 12 h": "News-T, windows of 12 h", "news, 16 parts": "News-T, 16 parts"}


def tables() -> dict[str, str]:
    """Return every table by its name."""
    return {"texts: given": _given(), "texts: generated": _generated()}


def _given() -> str:
    found = read("quality/texts")
    body = []
    for part, name in _SETS.items():
        for key, what in (("nmi", "NMI"), ("accuracy", "accuracy")):
            body.append((f"{name}: {what}", *_range(row[key] for row in found[part])))
    for part, name in (("headlines", "headlines"), ("headlines, 20 topics", "`n_clusters=20`")):
        for word in _PROBES:
            values = (row["shares"][word] for row in found[part])
            body.append((f'{name}: "{word}" in one topic', *_range(values)))
    return table(("", "least", "mean", "most"), body)


def _range(values: Any) -> tuple[str, str, str]:
    listed = list(values)
    return f"{min(listed):.2f}", f"{np.mean(listed):.2f}", f"{max(listed):.2f}"


def _generated() -> str:
    rows = read("quality/text_streams")["rows"]
    ways = list(dict.fromkeys(row["how"] for row in rows))
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    body = []
    for kind in kinds:
        found = [row for row in rows if row["kind"] == kind]
        means = [np.mean([row["nmi"] for row in found if row["how"] == how]) for how in ways]
        body.append((kind, *(f"{mean:.2f}" for mean in means)))
    return table(("NMI", *ways), body)
