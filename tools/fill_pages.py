"""Fill the pages with numbers from the committed results; measures nothing.

Run as ``python -m tools.fill_pages`` (``make pages``). The text between ``<!-- table: NAME -->``
or ``<!-- fact: NAME, ARGUMENTS -->`` and ``<!-- end -->`` on a page, in the README or in a Markdown
file below ``paper/results`` or ``benchmarks/results`` is replaced by what the modules below make of
the results files in these two folders.
"""

import re
from functools import cache
from pathlib import Path

from benchmarks.pages import (
    attack_tables,
    compare_tables,
    gpu_tables,
    level_tables,
    other_tables,
    real_tables,
    search_tables,
    short_start_tables,
    space_tables,
    speed_tables,
    suggestion_tables,
    text_tables,
)
from benchmarks.pages import facts as benchmark_facts
from paper.pages import facts, study_tables, summary_tables
from paper.pages import tables as paper_tables
from tools import default_tables

ROOT = Path(__file__).parents[1]
JOSS = ROOT / "paper" / "joss" / "paper.md"
MAKERS = (
    speed_tables,
    other_tables,
    compare_tables,
    real_tables,
    search_tables,
    space_tables,
    gpu_tables,
    level_tables,
    suggestion_tables,
    short_start_tables,
    text_tables,
    attack_tables,
    paper_tables,
    study_tables,
    summary_tables,
    default_tables,
)
FACTS = {
    **facts.FACTS,
    **benchmark_facts.FACTS,
    **suggestion_tables.FACTS,
    **short_start_tables.FACTS,
    **attack_tables.FACTS,
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
    folders = [ROOT / "docs", ROOT / "paper" / "results", ROOT / "benchmarks" / "results"]
    found = [page for folder in folders for page in sorted(folder.rglob("*.md"))]
    pages = [ROOT / "README.md", *found, JOSS]
    return [page for page in pages if re.search(r"<!-- (table|fact): ", _text(page))]


def with_results(text: str) -> str:
    """Return the text with every table and number of the results as they are now."""
    text = _TABLE.sub(lambda block: f"{block[1]}\n{tables()[block[2]]}\n\n{block[3]}", text)
    return _FACT.sub(lambda found: f"{found[1]}{fact(found[2])}{found[3]}", text)


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
