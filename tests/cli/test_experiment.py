import pytest

from dynmeans.cli.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--noise", "pink"], "noise must be one of isotropic, radial, got 'pink'."),
        (["--quick", "--full"], "give --quick or --full, not both."),
        (["--accuracy", "best"], "accuracy must be global or frozen, got 'best'."),
        (["--figures-only"], "there is no results file"),
        (["--seed", "-3"], "seed must be a whole number, 0 or more, got -3."),
    ],
)
def test_bad_request_is_one_line_and_leaves_nothing(arguments, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["experiment", "synthetic", "--out", str(out), *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_help_lists_the_experiments(capsys):
    assert main(["experiment", "--help"]) == 0
    assert "synthetic" in capsys.readouterr().out
