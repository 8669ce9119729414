"""dynmeans name: names for the clusters of a run."""

from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli import options


def name(
    run_folder: options.RunFolder,
    cluster: Annotated[
        int | None, typer.Argument(metavar="CLUSTER", help="Number of the cluster.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Its name; an empty one ('') removes it."),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            "--names",
            metavar="FILE",
            help="Give the names of a CSV file with the columns cluster_id and name.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write all names to a CSV file."),
    ] = None,
    who: options.Who = None,
    as_json: options.AsJson = False,
) -> None:
    """Give a cluster a name, which is shown wherever the cluster is; without one, list the names.

    Names are stored in the run with who gave them and when, also while the run is being
    written. dynmeans edit RUN undo takes the last one back.

    [bold]Examples[/bold]

    dynmeans name run 7 "TUG 17"

    dynmeans name run --names names.csv

    dynmeans name run -o names.csv
    """
    from dynmeans.cli.output import check_folder, print_json, say
    from dynmeans.inputs.input_error import InputError
    from dynmeans.runs.export.name_files import read_names, write_names
    from dynmeans.runs.run import Run

    if output is not None:
        check_folder("output", output)
    if (cluster is None) != (text is None):
        raise InputError("", "give the number of a cluster and its name, or neither")
    given = {} if names is None else read_names(names)
    if cluster is not None and text is not None:
        given |= {cluster: text}
    with Run.open(run_folder) as run:
        run.name_clusters(given, who=who)
        known = run.edits.names
    if output is not None:
        write_names(known, output)
    shown = {k: known[k] for k in sorted(known) if not given or k in given}
    if as_json:
        print_json([{"cluster_id": k, "name": shown[k]} for k in shown])
        return
    for k, known_name in shown.items():
        say(f"{k}  {known_name}")
