"""The code on the documentation pages runs, page by page, in a folder of its own."""

import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import commands_page
import pandas as pd
import pytest

import dynmeans
from benchmarks.quality.headlines import headlines

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
KINDS = ("*.md", "howto/*.md", "tutorial/*.md")
PAGES = [
    pytest.param(page, marks=pytest.mark.gpu) if page.stem == "gpu" else page
    for page in sorted(page for kind in KINDS for page in DOCS.glob(kind))
    if "```python" in page.read_text()
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_on_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    if page.stem == "headlines":  # which a reader downloads
        frame = headlines(2_000, n_topics=6, n_weeks=15)[0]
        days = pd.to_datetime("2003-02-17") + (frame["when"] - frame["when"].min())
        written = {"publish_date": days.dt.strftime("%Y%m%d"), "headline_text": frame["headline"]}
        pd.DataFrame(written).to_csv("abcnews-date-text.csv", index=False)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.slow
def test_the_readme_leaves_nothing_in_the_folder_it_is_run_from(tmp_path):
    for name in ("README.md", "conftest.py"):
        shutil.copy(ROOT / name, tmp_path)
    command = [sys.executable, "-m", "pytest", "--quiet", "--doctest-glob=README.md"]
    command += ["-p", "no:cacheprovider", "--rootdir=.", "--basetemp", str(tmp_path / "temporary")]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([*command, "README.md"], cwd=tmp_path, check=True, env=environment)
    left = {path.name for path in tmp_path.glob("[!.]*")}
    assert left == {"README.md", "conftest.py", "temporary"}


def test_the_page_of_commands_is_what_the_command_line_says():
    written = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert written == commands_page.page(), "run python tools/commands_page.py"


def headings(page):
    return re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)


def anchors(page):
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings(page)}


@pytest.mark.parametrize(
    "example", sorted(ROOT.glob("examples/plot_*.py")), ids=lambda example: example.stem
)
def test_an_example_draws_on_a_figure_only_in_the_block_that_makes_it(example):
    # The gallery takes and closes figures after each block; what is drawn later is lost.
    closed: set[str] = set()
    for block in example.read_text().split("# %%\n"):
        made = re.findall(r"^(.+) = plt\.subplots?\w*\(", block, flags=re.MULTILINE)
        names = {name for names in made for name in re.findall(r"\w+", names)}
        closed -= names
        assert not closed & set(re.findall(r"\w+", re.sub(r"#.*", "", block)))
        closed |= names


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        for target, anchor in re.findall(r"\]\(([^)#:]+)(?:#([^)]+))?\)", page.read_text()):
            linked = page.parent / target
            assert linked.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in anchors(linked), (
                f"{page.name} links to {target}#{anchor}"
            )


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for page in DOCS.rglob("*.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), flags=re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / name).relative_to(DOCS).as_posix() for name in names}
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")}
    assert pages - listed == {"index"}


def test_the_api_reference_lists_every_public_name_and_no_other():
    module, listed = dynmeans, set()
    for line in (DOCS / "api.rst").read_text().splitlines():
        if line.startswith(".. currentmodule:: "):
            module = importlib.import_module(line.split()[-1])
        elif re.match(r"   [a-zA-Z0-9_.]+$", line):
            listed.add(id(attrgetter(line.strip())(module)))
    for public in (dynmeans, dynmeans.metrics, dynmeans.plots, dynmeans.spark):
        missing = [
            name
            for name in public.__all__
            if not inspect.ismodule(getattr(public, name))
            and name != "__version__"
            and id(getattr(public, name)) not in listed
        ]
        assert not missing, public.__name__


def test_every_decision_that_is_named_is_in_the_design_notes():
    chapters = list((DOCS / "design").glob("*.md"))
    titles = [title for chapter in chapters for title in headings(chapter)]
    numbers = [title[:4] for title in titles if re.match(r"\d{4} ", title)]
    assert len(numbers) == len(set(numbers))
    listed = re.findall(r"\b\d{4}\b", (DOCS / "design" / "index.md").read_text())
    assert sorted(set(listed)) == sorted(numbers)
    folders = ("src", "native", "tests", "benchmarks", "paper", "docs")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.[cmhp]*")]
    named = {
        number: path
        for path in files
        if path.suffix in {".py", ".pyi", ".md", ".hpp", ".cpp"}
        for number in re.findall(r"decision\s+(?:#|//)?\s*\[?(\d{4})", path.read_text())
    }
    assert len(named) > 20
    for number, path in named.items():
        assert number in numbers, f"{path} names decision {number}"


@pytest.mark.parametrize("page", ["promises.md", "failures.md"])
def test_every_row_of_promises_and_failures_names_tests_that_are_there(page):
    rows = re.findall(r"^\| .*", (DOCS / "design" / page).read_text(), re.MULTILINE)
    rows = [row for row in rows if "Tests |" not in row]
    assert rows
    files = list((ROOT / "tests").rglob("test_*.py"))
    there = {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text())}
    for row in rows:
        named = re.findall(r"`(tests/[\w/.]+|test_\w+)`", row)
        assert named, f"no test: {row}"
        for name in named:
            assert name in there or (ROOT / name).is_file(), name


def test_every_page_of_promises_is_in_the_list():
    sections = (DOCS / "design" / "promises.md").read_text()
    for page in ("trust", "streams", "runs", "live-page-and-alerts", "spaces"):
        assert f"(../{page}.md)" in sections
