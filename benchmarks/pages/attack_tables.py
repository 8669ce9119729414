"""What the last campaign of `make attack` tried: one results file per target."""

import json
from typing import Any

from benchmarks.machine import RESULTS
from benchmarks.pages.results import table

_WORDS = {0: "no", 1: "one"}


def results() -> dict[str, dict[str, Any]]:
    """Return the counts of each target."""
    paths = sorted((RESULTS / "attack").glob("*.json"))
    return {path.stem: json.loads(path.read_text()) for path in paths}


def tables() -> dict[str, str]:
    """Return every table by its name on the page."""
    head = ("target", "cases", "inputs", "failures", "commit", "date")
    rows = [
        (
            f"`{name}`",
            *(f"{one[count]:,}" for count in ("cases", "inputs", "failures")),
            *(one["commit"], one["date"]),
        )
        for name, one in results().items()
    ]
    return {"attacks": table(head, rows)}


def attacked(count: str, *names: str) -> str:
    """Return how many inputs, cases or failures there were, of some targets or all but kills.

    A name that ends with a star stands for all targets that begin so.
    """
    wanted = names or tuple(name for name in results() if not name.startswith("kills"))
    begins = tuple(name[:-1] for name in wanted if name.endswith("*"))
    chosen = [
        one[count]
        for name, one in results().items()
        if name in wanted or (begins and name.startswith(begins))
    ]
    total = sum(chosen)
    return _WORDS.get(total, f"{total:,}") if count == "failures" else f"{total:,}"


def attack_commits() -> str:
    """Return the commits that were attacked."""
    return ", ".join(sorted({f"`{one['commit']}`" for one in results().values()}))


FACTS = {f.__name__: f for f in (attacked, attack_commits)}
