"""dynmeans plot: pictures of a run."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli import options

KINDS = ("all", "tracks", "timeline", "costs", "numbers")


def plot(
    run_folder: options.RunFolder,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="File to write: .png, .svg or .pdf."),
    ] = Path("run.png"),
    kind: Annotated[
        str, typer.Option("--kind", "-k", help="all, tracks, timeline, costs or numbers.")
    ] = "all",
    as_json: options.AsJson = False,
) -> None:
    """Draw the tracks of the last window, the timeline of lives, costs and numbers of clusters.

    [bold]Example[/bold]

    dynmeans plot run --kind timeline -o lives.svg
    """
    from dynmeans.cli.output import check_picture, print_json, say
    from dynmeans.inputs.input_error import InputError
    from dynmeans.plots import plot_cluster_numbers, plot_costs, plot_timeline, plot_tracks
    from dynmeans.plots.series import new_figure
    from dynmeans.records.history import History
    from dynmeans.runs.run import Run

    if kind not in KINDS:
        raise InputError("kind", f"must be one of {', '.join(KINDS)}", got=kind)
    check_picture("output", output)
    with Run.open(run_folder) as run:
        samples = list(run.samples())
        history = History(feature_names=run.config.features)
        history.cluster_names = run.edits.shown_names()
        # A writer may commit between the two: the samples, read first, set the end.
        for record, sample in zip(run.history(labels=False), samples, strict=False):
            history.add(replace(record, labels=sample.cluster_ids))
    if not samples:
        raise ValueError(f"the run {str(run_folder)!r} has no windows yet.")
    figure, axes = new_figure((12, 9), 2, 2) if kind == "all" else new_figure((8, 5.5), 1, 1)
    axes = axes if kind == "all" else axes * 4
    if kind in ("all", "tracks"):
        plot_tracks(history, samples[-1].points, ax=axes[0])
    if kind in ("all", "timeline"):
        plot_timeline(history, ax=axes[1])
    if kind in ("all", "numbers"):
        plot_cluster_numbers(history, ax=axes[2])
    if kind in ("all", "costs"):
        plot_costs(history, ax=axes[3])
    figure.savefig(output, dpi=150)
    if as_json:
        print_json({"file": str(output)})
    else:
        say(str(output))
