"""The code of other packages on the pages for their users runs where they are installed."""

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[1] / "docs" / "howto"
# A block that needs another package is marked py, the others are marked python.
BLOCK = re.compile(r"```(python|py)\n(.*?)```", re.DOTALL)


def run(page, name, is_run):
    pytest.importorskip(name)
    names: dict[str, object] = {}
    for mark, block in BLOCK.findall((PAGES / page).read_text()):
        if mark == "python" or is_run(block):
            exec(compile(block, name, "exec"), names)


@pytest.mark.filterwarnings("ignore")  # theirs
@pytest.mark.parametrize("name", ["norfair", "trackers", "trackpy"])
def test_code_of_another_tracker_on_the_page_for_its_users_runs(name):
    imports = re.compile(rf"^(from|import) {name}\b", re.MULTILINE)
    run("coming-from-trackers.md", name, imports.search)


@pytest.mark.filterwarnings("ignore")  # theirs
def test_code_of_bertopic_on_the_page_for_its_users_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("coming-from-bertopic.md", "bertopic", lambda block: True)


def test_pages_for_users_of_other_tools_have_the_code_of_both():
    for page in PAGES.glob("coming-from-*.md"):
        blocks = [block for _, block in BLOCK.findall(page.read_text())]
        assert any("dynmeans" in block for block in blocks), page.name
        assert any(re.search(r"from (sklearn|bertopic|norfair)\b", block) for block in blocks)
