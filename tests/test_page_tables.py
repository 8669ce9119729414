"""Tables of measured figures are those of the results files."""

import page_tables
import pytest
import speed_tables


@pytest.mark.parametrize("page", page_tables.PAGES)
def test_tables_on_the_page_are_those_of_the_results(page):
    assert page_tables.with_tables(page) == (page_tables.DOCS / page).read_text()


def test_tables_of_speed_are_those_of_the_results():
    assert speed_tables.with_tables() == speed_tables.PAGE.read_text()
