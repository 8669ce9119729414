"""Tables and numbers on the pages are those of the results files."""

import re

import pytest
from fill_pages import filled_pages, tables, with_results


@pytest.mark.parametrize("page", filled_pages(), ids=lambda page: page.stem)
def test_tables_and_numbers_of_a_page_are_those_of_the_results(page):
    text = page.read_text(encoding="utf-8")
    assert with_results(text) == text, "run make pages"
    # A comment at the start of a line would make an HTML block of the line.
    assert not re.search(r"^ *<!-- fact", text, re.MULTILINE)


def test_every_table_that_is_made_stands_on_a_page():
    text = "".join(page.read_text(encoding="utf-8") for page in filled_pages())
    assert set(re.findall(r"<!-- table: (.+?) -->", text)) == set(tables())
