"""Tables of the page on the deeper search."""

from typing import Any

import numpy as np

from benchmarks.pages.results import ratio, read, table

_WAYS = (("paper", 3), ("split", 3), ("deep", 1), ("deep", 3))


def tables() -> dict[str, str]:
    """Return every table by its name."""
    found = read("quality/searches")
    kept = found["identities"]
    return {
        **{f"searches: identities x {n}": _identities(kept, n) for n in {r["times"] for r in kept}},
        "searches: steps": _steps(found["steps"]),
        "searches: label-free": _label_free(found["label-free"]),
        "searches: neighbor": table(
            ("search", "seeds", "windows with two groups under one ID", "groups with a new ID"),
            [(r["search"], r["n_seeds"], r["merged"], r["lost"]) for r in found["neighbor"]],
        ),
    }


def _identities(rows: list[dict[str, Any]], times: int) -> str:
    around = ("x 1/2", "best", "x 2", "x 4", "x 8", "mean")
    lines = [
        (
            row["search"],
            row["n_init"],
            *(f"{x:.3f}" for x in (*row["around_the_best"], row["mean"])),
            f"{row['seconds']:.1f}",
        )
        for row in rows
        if row["times"] == times
    ]
    return table(("search", "orders", *around, "seconds"), lines)


def _steps(rows: list[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        name = row["case"] + (f", lambda x {row['factor']:g}" if row["factor"] != 1 else "")
        size = f"{row['n_points']:,} x {row['n_features']}"
        clusters, times = row["clusters"], row["over_paper"]
        number = ", ".join(f"{clusters[way]:,}" for way in ("paper 3", "split 3", "deep 1"))
        ways = ("paper 1", "split 3", "deep 1", "deep 3")
        lines.append((name, size, number, *(ratio(times[way]) for way in ways)))
    head = ("case", "points x features", "clusters: paper 3, split 3, deep 1")
    return table((*head, "paper 1", "**split 3**", "deep 1", "deep 3"), lines)


def _label_free(rows: list[dict[str, Any]]) -> str:
    found = {(r["stream"], r["search"], r["n_init"]): r["accuracy"] for r in rows}
    streams = [s for s in dict.fromkeys(r["stream"] for r in rows) if (s, *_WAYS[-1]) in found]
    lines = [(s, *(_spread(found[s, *way]) for way in _WAYS)) for s in streams]
    means = [np.mean([np.mean(found[s, *way]) for s in streams]) for way in _WAYS]
    lines.append(("**mean**", *(f"**{mean:.3f}**" for mean in means)))
    return table(("stream", *(f"{search}, n_init={n}" for search, n in _WAYS)), lines)


def _spread(accuracies: list[float]) -> str:
    low, high = min(accuracies), max(accuracies)
    return f"{np.mean(accuracies):.2f} ({low:.2f} to {high:.2f})"
