"""The list of commands."""

from typing import Annotated

import typer

import dynmeans
from dynmeans.cli.cluster import cluster
from dynmeans.cli.clusters import clusters
from dynmeans.cli.dead_letters import dead_letters
from dynmeans.cli.demo import demo
from dynmeans.cli.edit import edit
from dynmeans.cli.events import events
from dynmeans.cli.families import families
from dynmeans.cli.labels import labels
from dynmeans.cli.name import name
from dynmeans.cli.plot import plot
from dynmeans.cli.report import report
from dynmeans.cli.score import score
from dynmeans.cli.send import send
from dynmeans.cli.serve import serve
from dynmeans.cli.status import status
from dynmeans.cli.suggest import suggest
from dynmeans.cli.try_page import try_page

app = typer.Typer(
    help="Find clusters in data that arrives window by window, and follow each one through time.",
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
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error came from; anywhere in a command.")
    ] = False,
) -> None:
    pass


for command in (
    cluster,
    suggest,
    status,
    clusters,
    events,
    families,
    name,
    edit,
    labels,
    send,
    dead_letters,
    score,
    plot,
    report,
    serve,
    demo,
):
    app.command()(command)
app.command("try")(try_page)  # a word of Python's own
