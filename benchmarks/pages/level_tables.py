"""Tables of the constants of joining: mean accuracy at each value, by group of streams."""

from statistics import mean
from typing import Any

from benchmarks.pages.results import read, table

GROUPS = {
    "given": "given",
    "drifting": "drifting clusters",
    "generated": "generated",
    "one row an object": "one row an object",
}
ROWS = {
    "subclusters, nothing joined": "subclusters",
    **{f"contact index below {t}": str(t) for t in (8, 10, 12, 16, 20, 25, 32)},
    "**chosen by modularity**": "chosen",
    **{f"chosen on {n} neighbors": f"_N_NEIGHBORS {n}" for n in (3, 5, 8, 12)},
    **{
        f"smallest within {share} of the best": f"_AS_GOOD {share}"
        for share in ("0", "0.002", "0.005", "0.02", "0.05")
    },
    **{
        f"at most {share} of the points are noise": f"noise {share}"
        for share in ("0", "0.05", "0.1", "0.2", "1")
    },
    "coarse level": "coarse",
    "best of the three levels, *by labels*": "best of three levels",
}


def tables() -> dict[str, str]:
    """Return the table by its name on the page."""
    streams: dict[str, dict[str, Any]] = read("quality/levels")["streams"]
    groups = {
        name: list(streams[group].values()) for group, name in GROUPS.items() if group in streams
    }
    head = ("", *(f"{name}, {len(rows)}" for name, rows in groups.items()))
    lines = [
        (shown, *(f"{mean(row[key] for row in rows):.3f}" for rows in groups.values()))
        for shown, key in ROWS.items()
    ]
    share = [
        f"{min(row['objects'] for row in rows):.2f} to {max(row['objects'] for row in rows):.2f}"
        for rows in groups.values()
    ]
    lines.append(("rows nearer in time than in space", *share))
    return {"levels": table(head, lines)}
