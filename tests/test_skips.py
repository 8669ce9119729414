"""With --no-skips a run fails if a test is skipped that need not be."""

import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"


@pytest.mark.parametrize(
    ("skip", "status"),
    [
        ("pytest.importorskip('norfair')", 0),
        ("pytest.skip('the traces are not beside this checkout')", 0),
        ("pytest.skip('redis is not installed: make system-deps')", 1),
    ],
)
def test_only_a_skip_with_a_listed_reason_passes(skip, status, tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_one.py").write_text(f"import pytest\n\n\ndef test_one():\n    {skip}\n")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-skips", str(tmp_path)]
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == status, done.stdout
