"""Tables and numbers on the pages are those of the results files."""

import re

import pytest
from fill_pages import JOSS, ROOT, filled_pages, tables, with_results

from benchmarks.pages import gpu_tables


@pytest.mark.parametrize("page", filled_pages(), ids=lambda page: page.stem)
def test_tables_and_numbers_of_a_page_are_those_of_the_results(page):
    text = page.read_text(encoding="utf-8")
    assert with_results(text) == text, "run make pages"
    # A comment at the start of a line would make an HTML block of the line.
    assert not re.search(r"^ *<!-- fact", text, re.MULTILINE)


def test_every_table_that_is_made_stands_on_a_page():
    text = "".join(page.read_text(encoding="utf-8") for page in filled_pages())
    assert set(re.findall(r"<!-- table: (.+?) -->", text)) == set(tables())


def test_every_measured_kernel_has_a_row_on_the_page_of_the_gpu():
    cases = [gpu_tables.read("gpu/gpu")[name] for name in gpu_tables.CASES]
    measured = {name for case in cases for name in case["passes"]["floors"]}
    assert set(gpu_tables.KERNELS) == measured


# Pages of measurements: their prose has no numbers that results files contain.
MEASUREMENTS = (
    *("paper-line-by-line", "synthetic-experiment", "aircraft-experiment", "baselines"),
    *("real-streams", "suggestion-measured", "deeper-search", "speed", "how-it-compares"),
)


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_facts_on_a_page_of_measurements_are_cells_of_a_table(name):
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    prose = [line for line in text.splitlines() if not line.startswith("|")]
    assert not [line for line in prose if "<!-- fact: " in line]


# What the rows must carry, and so stands on a page as a fact that is made from them.
CLAIMS = ("published size", "same session", "one session", "same search", "same protocol")


@pytest.mark.parametrize("page", [ROOT / "README.md", JOSS, *sorted((ROOT / "docs").rglob("*.md"))])
def test_claims_of_size_session_and_search_are_made_from_the_rows(page):
    text = re.sub(r"<!-- fact: .+? -->.*?<!-- end -->", "", page.read_text(encoding="utf-8"))
    said = " ".join(text.split())
    assert not [claim for claim in CLAIMS if claim in said], "write it as <!-- fact: size --> ..."


def test_every_reference_of_the_paper_on_the_software_is_in_its_bibliography():
    cited = set(re.findall(r"@(\w+)", JOSS.read_text(encoding="utf-8")))
    there = re.findall(r"^@\w+\{(\w+),", JOSS.with_name("paper.bib").read_text(), re.MULTILINE)
    assert cited == set(there)
