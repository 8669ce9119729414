"""The page on the paper names every equation, and every claim has a verdict."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "paper-line-by-line.md"
TEXT = PAGE.read_text(encoding="utf-8")


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
