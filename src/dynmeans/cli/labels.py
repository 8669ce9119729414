"""dynmeans labels: the rows with the identities of their clusters."""

from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli import options


def labels(
    run_folder: options.RunFolder,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="File to write: .parquet or .csv."),
    ],
    table: options.InputMoved = None,
    labels_only: Annotated[
        bool, typer.Option("--labels-only", help="Only what the run stores, no original columns.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Write every row of the input with its cluster: step, cluster_id, distance.

    The rows keep their order and their columns; rows that were left out have no cluster.

    [bold]Example[/bold]

    dynmeans labels run -o labelled.parquet
    """
    from dynmeans.cli.output import print_json
    from dynmeans.inputs.plural import counted
    from dynmeans.runs.exports import export_labels
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        n_rows = export_labels(run, output, table=table, is_joined=not labels_only)
    if as_json:
        print_json({"file": str(output), "n_rows": n_rows})
    else:
        typer.echo(f"{counted(n_rows, 'row')}: {output}")
