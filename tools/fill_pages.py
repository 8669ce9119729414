"""Fill the pages with numbers from the committed results; measures nothing.

Run as ``python -m tools.fill_pages`` (``make pages``). What stands between ``<!-- table: NAME -->``
or ``<!-- fact: NAME, ARGUMENTS -->`` and ``<!-- end -->`` on a page or in the README is replaced by
what the modules below make of the files in ``benchmarks/results`` and ``paper/results``.
"""

import re
from functools import cache
from pathlib import Path

from benchmarks.pages import facts as benchmark_facts
from benchmarks.pages import (
    gpu_tables,
    other_tables,
    real_tables,
    search_tables,
    short_start_tables,
    space_tables,
    speed_tables,
    suggestion_tables,
)
from paper.pages import facts, study_tables
from paper.pages import tables as paper_tables

ROOT = Path(__file__).parents[1]
JOSS = ROOT / "paper" / "joss" / "paper.md"
MAKERS = (
    speed_tables,
    other_tables,
    real_tables,
    search_tables,
    space_tables,
    gpu_tables,
    suggestion_tables,
    short_start_tables,
    paper_tables,
    study_tables,
)
FACTS = {
    **facts.FACTS,
    **benchmark_facts.FACTS,
    **suggestion_tables.FACTS,
    **short_start_tables.FACTS,
}
_TABLE = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
_FACT = re.compile(r"(<!-- fact: (.+?) -->).*?(<!-- end -->)")


@cache
def tables() -> dict[str, str]:
    """Return every table by its name."""
    return {name: text for maker in MAKERS for name, text in maker.tables().items()}


def fact(text: str) -> str:
    """Return the fact of this name and these arguments."""
    name, *arguments = text.split(", ")
    return FACTS[name](*arguments)


def filled_pages() -> list[Path]:
    """Return the pages that have tables or facts."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), JOSS]
    return [page for page in pages if re.search(r"<!-- (table|fact): ", _text(page))]


def with_results(text: str) -> str:
    """Return the text with every table and number of the results as they are now."""
    text = _TABLE.sub(lambda block: f"{block[1]}\n{tables()[block[2]]}\n\n{block[3]}", text)
    return _FACT.sub(lambda told: f"{told[1]}{fact(told[2])}{told[3]}", text)


def main() -> None:
    """Write every page that changed."""
    for page in filled_pages():
        before = _text(page)
        after = with_results(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"written: {page.relative_to(ROOT)}")


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
