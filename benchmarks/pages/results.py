"""What all tables of measured figures share: the results files, rows in Markdown, digits."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.machine import RESULTS


def read(name: str) -> Any:
    """Return the content of a results file."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def find(results: Any, place: str) -> Any:
    """Return the value at a place like ``all.mean`` or ``ships.0.runs``."""
    found = results
    for part in place.split("."):
        found = found[int(part)] if isinstance(found, list) else found[part]
    return found


def number(results: Any, place: str, form: str, factor: str = "1") -> str:
    """Return the value at a place, formatted."""
    found = find(results, place)
    return format(found if factor == "1" else float(factor) * found, form)


def ratio(x: float) -> str:
    """Two digits below 1, three above."""
    return f"{x:.2g}" if x < 1 else f"{x:.3g}"


def time_of(x: float) -> str:
    """Milliseconds to three digits."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown whose first column holds words."""
    lines = [" | ".join(head), "---|" + "|".join(["---:"] * (len(head) - 1))]
    lines += [" | ".join(map(str, row)) for row in rows]
    return "\n".join(f"|{line}|" if line.startswith("---") else f"| {line} |" for line in lines)
