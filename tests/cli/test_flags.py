"""Messages in the words of the command line, and the names that messages leave alone."""

import pickle

import pytest

from dynmeans import Penalties
from dynmeans.cli.__main__ import main
from dynmeans.cli.flags import with_flags
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.input_error import InputError

CLUSTER = ["cluster", "rows.csv"]


@pytest.mark.parametrize(
    ("template", "as_python_arguments", "in_options"),
    [
        ("{max_gap} must be large.", "max_gap must be large.", "--max-gap must be large."),
        ("{n_threads} is one.", "n_threads is one.", "--n-threads is one."),
        ("{random_state} is 0.", "random_state is 0.", "--random-state is 0."),
        ("{sql} reads.", "sql reads.", "--sql reads."),
        ("{id} was a.", "id was a.", "--id was a."),
        ("name it with {time=...}", "name it with time=...", "name it with --time"),
        ("{on_missing='drop'} drops.", "on_missing='drop' drops.", "--on-missing drop drops."),
        ("{overwrite=True} replaces.", "overwrite=True replaces.", "--overwrite replaces."),
        ("{n_features} must be 2.", "n_features must be 2.", "n_features must be 2."),
    ],
)
def test_arguments_become_options(template, as_python_arguments, in_options):
    assert ArgumentText(template) == as_python_arguments
    assert with_flags(ArgumentText(template), CLUSTER) == in_options


def test_values_are_never_taken_for_arguments():
    text = ArgumentText("{features}: there is no column {!r}; it has {}.", "{max_gap}", "{reach}")
    assert with_flags(text, CLUSTER) == (
        "--features: there is no column '{max_gap}'; it has {reach}."
    )


def test_plain_text_stays_as_it_is():
    told = "max_gap must be greater than 1; time: it's time."
    assert with_flags(told, CLUSTER) == told


def test_options_are_those_of_the_command_that_was_called():
    text = ArgumentText("{host} must be an address; {cluster} must be a number.")
    told = with_flags(text, ["serve", "--port", "1"])
    assert told == "--host must be an address; cluster must be a number."
    assert with_flags(text, ["nothing"]) == text


def test_an_input_error_has_its_parts_as_fields():
    with pytest.raises(InputError, match=r"^max_gap must be greater than 1, got 0.5\.$") as raised:
        Penalties(1.0, max_gap=0.5, reach=1.5)
    error = raised.value
    assert (error.argument, error.rule) == ("max_gap", "must be greater than 1")
    assert (error.value, error.hint) == (0.5, "")


def test_an_input_error_travels_between_processes():
    error = InputError("time", ": row {} has {!r}", 3, "{x}", hint="Use {time_format=...}.")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "time: row 3 has '{x}'. Use time_format=...."
    assert with_flags(again.args[0], CLUSTER) == "--time: row 3 has '{x}'. Use --time-format."
    assert (again.argument, again.hint) == (error.argument, error.hint)


def test_an_error_of_a_command_names_its_option(tmp_path, capsys):
    table = tmp_path / "rows.csv"
    table.write_text("x\n1\n2\n")
    options = ["-f", "x", "--rows-per-window", "1", "--new-penalty", "1", "--max-gap", "0.5"]
    assert main(["cluster", str(table), *options, "-o", str(tmp_path / "run")]) == 1
    assert capsys.readouterr().err == (
        "dynmeans: error: --max-gap must be greater than 1, got 0.5.\n"
    )
