"""dynmeans name: names for the clusters of a run."""

from typing import Annotated

import typer

from dynmeans.cli import options


def name(
    run_folder: options.RunFolder,
    cluster: Annotated[
        int | None, typer.Argument(metavar="CLUSTER", help="ID of the cluster.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Its name; an empty one ('') removes it."),
    ] = None,
    author: options.Author = None,
    as_json: options.AsJson = False,
) -> None:
    """Assign a name to a cluster, which is shown everywhere; without a name, list the names.

    Names are stored in the run with author and time, also while the run is being written.
    dynmeans edit RUN undo reverts the last one.

    [bold]Example[/bold]

    dynmeans name run 7 "TUG 17"
    """
    from dynmeans.cli.output import print_json, print_line
    from dynmeans.inputs.input_error import InputError
    from dynmeans.runs.run import Run

    if (cluster is None) != (text is None):
        raise InputError("", "give an ID and a name, or neither")
    with Run.open(run_folder) as run:
        if cluster is not None and text is not None:
            run.name_cluster(cluster, text, author=author)
        known = run.edits.names
    shown = {k: known[k] for k in sorted(known) if cluster in (None, k)}
    if as_json:
        print_json([{"cluster_id": k, "name": shown[k]} for k in shown])
        return
    for k, known_name in shown.items():
        print_line(f"{k}  {known_name}")
