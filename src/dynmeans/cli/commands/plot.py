"""dynmeans plot: pictures of a run."""

from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli import options


def plot(
    run_folder: options.RunFolder,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write: .png, .svg or .pdf; by default named as the run.",
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", "-k", help="all, tracks, timeline, numbers or tree.")
    ] = "all",
    as_json: options.AsJson = False,
) -> None:
    """Plot the tracks of the last window, the timeline and the numbers of clusters.

    [bold]Example[/bold]

    dynmeans plot run --kind timeline -o lives.svg
    """
    from dynmeans.cli.output import PICTURES, check_file, print_json, print_line
    from dynmeans.inputs.fields import one_of
    from dynmeans.plots.run_figure import KINDS, run_figure
    from dynmeans.runs.run import Run

    one_of("kind", kind, KINDS)
    output = output or Path(f"{run_folder.resolve().name}.png")
    check_file("output", output, PICTURES)
    with Run.open(run_folder) as run:
        figure = run_figure(run, kind)
    figure.savefig(output, dpi=150)
    if as_json:
        print_json({"file": str(output)})
    else:
        print_line(str(output))
