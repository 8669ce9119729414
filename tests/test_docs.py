"""The code on the documentation pages runs, page by page, in a folder of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [page for page in sorted(DOCS.glob("*.md")) if "```python" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_on_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.slow
def test_the_readme_leaves_nothing_in_the_folder_it_is_run_from(tmp_path):
    root = DOCS.parent
    for name in ("README.md", "conftest.py"):
        shutil.copy(root / name, tmp_path)
    command = [sys.executable, "-m", "pytest", "--quiet", "--doctest-glob=README.md"]
    command += ["-p", "no:cacheprovider", "--rootdir=.", "--basetemp", str(tmp_path / "temporary")]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([*command, "README.md"], cwd=tmp_path, check=True, env=environment)
    left = {path.name for path in tmp_path.glob("[!.]*")}
    assert left == {"README.md", "conftest.py", "temporary"}


def test_links_between_pages_lead_somewhere():
    root = DOCS.parent
    for page in [root / "README.md", root / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
