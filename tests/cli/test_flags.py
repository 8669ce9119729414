"""Messages in the words of the command line."""

import pytest

from dynmeans.cli.__main__ import main
from dynmeans.cli.flags import with_flags

CLUSTER = ["cluster", "rows.csv"]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("max_gap must be greater than 1.", "--max-gap must be greater than 1."),
        ("n_threads must be from 1 to 1024.", "--threads must be from 1 to 1024."),
        ("random_state must be at least 0.", "--seed must be at least 0."),
        ("every must be a length.", "--every must be a length."),
        ("time: row 3 is no time.", "--time: row 3 is no time."),
        ("table is for a database.", "--table is for a database."),
        ("id was 'a', is 'b'; count was 1, is 2.", "--id was 'a', is 'b'; --count was 1, is 2."),
        ("got max_gap=2, drift=1.", "got --max-gap=2, --drift=1."),
        ("name it with time=...", "name it with --time"),
    ],
)
def test_arguments_become_options(message, told):
    assert with_flags(message, CLUSTER) == told


@pytest.mark.parametrize(
    "message",
    [
        "there is no column 'max_gap'; the input has 'reach', \"it's time: \".",
        "rows cannot be added to the past: time goes on, every batch counts.",
        "give --max-gap and --reach.",
        "n_features must be 2.",
    ],
)
def test_other_words_stay_as_they_are(message):
    assert with_flags(message, CLUSTER) == message


def test_options_are_those_of_the_command_that_was_called():
    message = "area must be south,north,west,east; cluster must be a number."
    told = with_flags(message, ["experiment", "aircraft", "--seed", "1"])
    assert told == "--area must be south,north,west,east; cluster must be a number."
    assert with_flags(message, ["nothing"]) == message


def test_an_error_of_a_command_names_its_option(tmp_path, capsys):
    table = tmp_path / "rows.csv"
    table.write_text("x\n1\n2\n")
    options = ["-f", "x", "--count", "1", "--new-penalty", "1", "--max-gap", "0.5"]
    assert main(["cluster", str(table), *options, "-o", str(tmp_path / "run")]) == 1
    assert capsys.readouterr().err == (
        "dynmeans: error: --max-gap must be greater than 1, got 0.5.\n"
    )
