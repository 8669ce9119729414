import pytest

import dynmeans
from dynmeans.cli.__main__ import main


def test_version_is_printed_and_the_exit_code_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"dynmeans {dynmeans.__version__}\n"


def test_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fly"]) == 2
    assert "fly" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), RuntimeError("INTERRUPT Error: Query interrupted")]
)
def test_an_interrupt_is_told_in_one_line(
    error: BaseException, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(**_: object) -> None:
        raise error

    monkeypatch.setattr("dynmeans.cli.app.app_for", lambda words: stop)
    assert main(["status", "run"]) == 130
    assert "interrupted" in capsys.readouterr().err
