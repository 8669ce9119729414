"""The page on the paper: its tables are those of the committed results."""

import re

import pytest

from paper.pages.page import PAGE, PAGES, with_results
from paper.pages.tables import TABLES

TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_and_numbers_of_a_page_are_those_of_the_results(page):
    text = page.read_text(encoding="utf-8")
    assert with_results(text) == text
    # A comment at the start of a line would make an HTML block of the line.
    assert not re.search(r"^ *<!-- fact", text, re.MULTILINE)


def test_every_table_that_is_made_stands_on_a_page():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"<!-- table: (.+?) -->", text)) == set(TABLES)


@pytest.mark.parametrize("number", range(1, 17))
def test_every_equation_is_named(number):
    named = {int(n) for n in re.findall(r"Eq\. (\d+)", TEXT)}
    ranges = re.findall(r"Eq\. (\d+) (?:to|and) (\d+)", TEXT)
    named |= {n for low, high in ranges for n in range(int(low), int(high) + 1)}
    assert number in named


def test_every_row_of_claims_has_a_verdict():
    # Tables written by hand have a verdict in their last column.
    by_hand = re.sub(r"<!-- table: .+? -->.*?<!-- end -->", "", TEXT, flags=re.DOTALL)
    rows = [line for line in by_hand.splitlines() if line.startswith("| ")]
    claims = [row for row in rows if not row.endswith("Verdict |")]
    verdicts = ("agrees", "differs", "cannot be known")
    assert all(row.split("|")[-2].strip().startswith(verdicts) for row in claims)
