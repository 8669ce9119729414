"""How long the documentation may be: a reader finds what is short."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MAX_README_BYTES = 6_500
MAX_WORDS = 55_000  # of the README and all pages
MAX_WORDS_OF_A_PAGE = 1_200
# Reference, made or read in parts, and pages that are mostly tables.
LONGER = {
    "commands.md": "generated from the command line",
    "design/algorithm.md": "one section for each decision",
    "design/promises.md": "a table of promises and their tests",
    "design/scale.md": "one section for each decision",
    "how-it-compares.md": "tables of results",
    "paper-line-by-line.md": "a table of the claims of the paper",
    "report-format.md": "a table of fields",
}


def words_of(page):
    """Count words as wc does, without comments, which no reader sees."""
    text = page.read_text(encoding="utf-8")
    return len(re.sub(r"<!--.*?-->", " ", text, flags=re.DOTALL).split())


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_bytes()) <= MAX_README_BYTES


def test_all_pages_together_are_within_the_budget():
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    assert sum(map(words_of, pages)) <= MAX_WORDS


def test_a_page_is_short_or_a_listed_reference():
    long = {
        page.relative_to(DOCS).as_posix()
        for page in DOCS.rglob("*.md")
        if words_of(page) > MAX_WORDS_OF_A_PAGE
    }
    assert long <= set(LONGER), long - set(LONGER)
