import pytest

from paper.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--noise", "pink"], "noise must be one of isotropic, radial, got 'pink'."),
        (["--quick", "--full"], "give --quick or --full, not both."),
        (["--search-by", "luck"], "search_by must be one of frozen, global, got 'luck'."),
        (["--figures-only"], "there is no results file"),
        (["--seed", "-3"], "seed must be a whole number, 0 or more, got -3."),
    ],
)
def test_bad_request_is_one_line_and_leaves_nothing(arguments, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["synthetic", "--out", str(out), *arguments]) == 1
    error = capsys.readouterr().err.strip()  # some versions of rich end a progress bar with a line
    assert message in error
    assert "\n" not in error
    assert not out.exists()


def test_help_lists_the_experiments(capsys):
    assert main(["--help"]) == 0
    assert "synthetic" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--area", "1,2,3"], "area must be south,north,west,east in degrees, got '1,2,3'."),
        (["--column", "id"], "column must be like id=icao24, got 'id'."),
        (["--flights", "f.csv"], "flights need messages: give both files, or none."),
        (["--messages", "no.csv"], "there is no file no.csv."),
        (["--window", "0"], "windows must be hours above 0"),
        (["--figures-only"], "there is no results file"),
    ],
)
def test_bad_request_of_aircraft_is_one_line(arguments, message, tmp_path, capsys):
    assert main(["aircraft", "--out", str(tmp_path / "out"), *arguments]) == 1
    error = capsys.readouterr().err.strip()  # some versions of rich end a progress bar with a line
    assert message in error
    assert "\n" not in error
