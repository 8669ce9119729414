"""Tables and numbers of suggestions on short starts, their memory open, stated or at most that."""

import math
from functools import cache
from itertools import product

import pandas as pd

from benchmarks.pages.results import read, table

LABELS, MEMORIES = ("families", "plain"), ("open", "stated", "at most")
ALIKE = 0.005  # a smaller difference of two accuracies is none
_KEY = ["stream", "start", "labels"]


def tables() -> dict[str, str]:
    """Return every table by its name on the page."""
    return {"short starts: memories": _of_memories(), "short starts: streams": _of_streams()}


def starts(which: str) -> str:
    """Count starts: all of them, or those for which a memory longer than the start is chosen."""
    found = _starts().xs("families", level="labels")["is_longer"]
    return str(found.sum() if which == "longer" else len(found))


def with_memory(labels: str, memory: str) -> str:
    """Return the mean accuracy of the streams, each the mean of its starts."""
    found = _starts().xs(labels, level="labels")[memory]
    return f"{found.groupby('stream').mean().mean():.3f}"


def seeds_apart() -> str:
    """Return by how much the accuracies of families of two seeds differ, on average."""
    frame = _rows()[_rows()["labels"] == "families"]
    found = frame.groupby([*_KEY, "memory"])["accuracy"]
    return f"{(found.max() - found.min()).mean():.2f}"


FACTS = {f.__name__: f for f in (starts, seeds_apart)}


@cache
def _rows() -> pd.DataFrame:
    return pd.DataFrame(
        {
            **dict(zip(_KEY, (name, row["n_start"], labels), strict=True)),
            "memory": row["memory"],
            "accuracy": row[labels]["accuracy"],
            "is_longer": (math.inf if row["max_gap"] is None else row["max_gap"]) > row["n_start"],
        }
        for name, stream in read("quality/short_starts")["streams"].items()
        for row, labels in product(stream["rows"], LABELS)
    )


def _starts() -> pd.DataFrame:
    """Return the accuracy of each start over the seeds, a column for each memory."""
    found = _rows().pivot_table("accuracy", _KEY, "memory", sort=False)
    found["is_longer"] = _rows().groupby(_KEY)["is_longer"].any()
    found["at most"] = found["stated"].where(found["is_longer"], found["open"])
    return found


def _of_memories() -> str:
    lines = []
    for labels, memory in product(LABELS, MEMORIES):
        found = _starts().xs(labels, level="labels")
        gains = found[memory] - found["open"]
        of_streams = gains.groupby("stream").mean()
        shown = ["", "", ""]
        if memory != "open":
            counts = [str((sign * gains > ALIKE).sum()) for sign in (1, -1)]
            shown = [f"{of_streams.mean():+.3f} ± {of_streams.sem():.3f}", *counts]
        lines.append((f"{labels}, {memory}", with_memory(labels, memory), *shown))
    return table(
        ("", "mean of the streams", "difference from open", "starts better", "starts worse"), lines
    )


def _of_streams() -> str:
    by_stream = _starts().groupby(["stream", "labels"], sort=False)
    means = by_stream[list(MEMORIES)].mean().unstack("labels")
    counts = by_stream["is_longer"].agg(["sum", "size"]).xs("families", level="labels")
    ways = list(product(LABELS, MEMORIES))
    lines = [
        (
            name,
            "{sum} of {size}".format(**counts.loc[name]),
            *(f"{means.loc[name, (memory, labels)]:.3f}" for labels, memory in ways),
        )
        for name in dict.fromkeys(_rows()["stream"])
    ]
    return table(("stream", "longer", *(", ".join(way) for way in ways)), lines)
