"""The code of other packages on the page for users of trackers runs where they are installed."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "coming-from-trackers.md"


@pytest.mark.filterwarnings("ignore")  # theirs
@pytest.mark.parametrize("name", ["norfair", "trackers", "trackpy"])
def test_code_of_another_tracker_on_the_page_for_its_users_runs(name):
    pytest.importorskip(name)
    names: dict[str, object] = {}
    # A block that needs another package is marked py, the others are marked python.
    for mark, block in re.findall(r"```(python|py)\n(.*?)```", PAGE.read_text(), flags=re.DOTALL):
        if mark == "python" or re.search(rf"^(from|import) {name}\b", block, re.MULTILINE):
            exec(compile(block, name, "exec"), names)
