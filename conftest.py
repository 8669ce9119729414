"""The README's examples write files: run them in a folder of their own."""

import pytest


@pytest.fixture(autouse=True)
def _readme_in_its_own_folder(request, monkeypatch, tmp_path):
    if request.path.name == "README.md":
        monkeypatch.chdir(tmp_path)
