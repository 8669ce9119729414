"""Tables and numbers of the page on the suggestion: kinds of stream, and warnings."""

import re
from statistics import mean
from typing import Any

from benchmarks.pages.results import read, table
from dynmeans.parameters.trials import MAX_GAPS, REACHES

KINDS = {
    "paper, isotropic": "the paper's, isotropic noise",
    "paper, radial": "the paper's, radial noise",
    "spread": "spread changed by factors up to 10",
    "motion": "motion changed by factors up to 10",
    "scale": "scale changed by factors up to 10,000",
    "vanishing": "vanishing and returning clusters",
    "unbalanced": "sizes from 3 to 80 points",
    "heavy-tailed": "heavy tails",
    "anisotropic": "long clusters, axes 3 to 6 to 1",
    "outliers": "2 to 10 % outliers",
    "d = 3 to 6": "3 to 6 features",
    "d = 8 to 16": "8 to 16 features",
    "mixed": "all of it mixed",
}
# Words that only one warning has, before and after it was rewritten.
WARNINGS = {
    "labels change with a slightly different `new_penalty` or seed": (
        "a slightly other|with a slightly different"
    ),
    "clusters touch, like parts of a larger shape": "lie against the next|that touch another",
    "`reach` is the largest that was tried": "is the farthest|is the largest value",
}
Row = dict[str, Any]


def tables() -> dict[str, str]:
    """Return every table by its name on the page."""
    return {
        "suggestion: kinds": _kinds(read("quality/suggest")["streams"]),
        "suggestion: warnings": _warnings(read("quality/suggest")["streams"]),
        "suggestion: made to be right or wrong": _doubts(read("quality/doubts")["streams"]),
    }


def at_smallest(column: str) -> str:
    """Count streams whose max_gap or reach is the smallest that is tried."""
    smallest = {"max_gap": min(MAX_GAPS), "reach": min(REACHES)}[column]
    return str(sum(row[column] == smallest for row in read("quality/suggest")["streams"]))


FACTS = {f.__name__: f for f in (at_smallest,)}


def _kinds(rows: list[Row]) -> str:
    found = {kind: [row["ratio"] for row in rows if row["family"] == kind] for kind in KINDS}
    assert sum(map(len, found.values())) == len(rows), "a kind that has no words"
    lines = [(KINDS[k], f"{mean(all_):.2f}", f"{min(all_):.2f}") for k, all_ in found.items()]
    return table(("Kind of stream", "mean", "worst"), lines)


def _warnings(rows: list[Row]) -> str:
    assert all(
        any(re.search(w, d) for w in WARNINGS.values()) for row in rows for d in row["doubts"]
    )
    parts = {
        "none": [row for row in rows if not row["doubts"]],
        "any": [row for row in rows if row["doubts"]],
        **{
            shown: [row for row in rows if any(re.search(words, doubt) for doubt in row["doubts"])]
            for shown, words in WARNINGS.items()
        },
    }
    scores = ("accuracy", "with_labels", "ratio")
    lines = [
        (shown, len(part), *(f"{mean(row[score] for row in part):.2f}" for score in scores))
        for shown, part in parts.items()
    ]
    return table(("Warning", "streams", "accuracy", "best with labels", "share of it"), lines)


def _doubts(rows: list[Row]) -> str:
    def count(search: str, is_right: bool) -> str:
        part = [r for r in rows if (r["search"], r["is_right"]) == (search, is_right)]
        return f"{sum(bool(row['doubts']) for row in part)} of {len(part)}"

    searches = dict.fromkeys(row["search"] for row in rows)
    lines = [
        (f'`search="{search}"`', count(search, True), count(search, False)) for search in searches
    ]
    return table(("Streams with a warning", "made to be right", "made to be wrong"), lines)
