"""The pages on the paper: every equation named, a verdict for every claim, no word without rows."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "paper-line-by-line.md"
TEXT = PAGE.read_text(encoding="utf-8")
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "paper/joss/paper.md"]
# What only a fact may say, since it depends on the rows.
WORDS = ("published size", "same session", "one session", "same search", "shallower search")
FACT = re.compile(r"<!-- (?:fact|table): .+? -->.*?<!-- end -->", re.DOTALL)
# These have the deeper search as a choice of their own, or will have it as their default.
SEARCHERS = {"DynamicMeans", "DPMeans", "tune", "ModelConfig", "VisitingOrders"}


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_words_about_size_search_and_session_are_facts(page):
    by_hand = FACT.sub("", page.read_text(encoding="utf-8"))
    assert [word for word in WORDS if word in by_hand] == []


SOURCES = [path for path in sorted((ROOT / "paper").rglob("*.py")) if "tests" not in path.parts]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_repeats_the_paper_names_its_search(source):
    calls = [
        node
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SEARCHERS
    ]
    silent = [call.lineno for call in calls if "search" not in {k.arg for k in call.keywords}]
    assert silent == []


# A number before one of these was measured, unless the paper or the configuration says it.
UNITS = "%|points ahead|points behind|times|ms|µs|nats|knots|seconds|minutes|hours|identities"
MEASURED = re.compile(rf"\d[\d.,]*(?: ± [\d.]+)? (?:{UNITS})(?!\w)")
STATED = {
    "DynM 55.9 %, DPM 55.6 %, Gibbs 36.9 %": "the paper's Table 1",
    "and 5 % broken ones": "of the simulator, as asked for",
    "label more than 90 % of the points": "held by tests/mixture/test_own_prior.py",
}
ON_THE_PAPER = ("synthetic-experiment", "aircraft-experiment", "paper-line-by-line", "baselines")


@pytest.mark.parametrize("name", ON_THE_PAPER)
def test_measured_numbers_in_sentences_are_facts(name):
    text = FACT.sub("", (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))
    text = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    for stated in STATED:
        text = text.replace(stated, "")
    assert MEASURED.findall(text) == []
