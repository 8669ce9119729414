"""The list of commands."""

from typing import Annotated

import typer

import dynmeans
from dynmeans.cli import experiment

app = typer.Typer(
    help="Find clusters in data that arrives batch by batch, and follow each one through time.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"dynmeans {dynmeans.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


app.add_typer(experiment.app, name="experiment")
