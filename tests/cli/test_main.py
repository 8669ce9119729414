import pytest

import dynmeans
from dynmeans.cli.__main__ import main


def test_version_is_printed_and_the_exit_code_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"dynmeans {dynmeans.__version__}\n"


def test_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fly"]) == 2
    assert "fly" in capsys.readouterr().err
