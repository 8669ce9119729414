"""dynmeans score: found identities against true ones."""

from pathlib import Path
from typing import Annotated

import typer


def score(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")],
    truth: Annotated[
        str, typer.Option("--truth", help="Column of the input that holds the true identities.")
    ],
    table: Annotated[
        str | None,
        typer.Option("--input", help="Where the original rows are now, if they were moved."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score the identities found against true ones: accuracy, IDF1, HOTA, ARI, AMI.

    Rows without a true identity (empty, or -1) are left out.

    [bold]Example[/bold]

    dynmeans score run --truth ship
    """
    from dynmeans.cli.output import print_json
    from dynmeans.metrics import tracking_report
    from dynmeans.runs.exports import truth_by_batch
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        true, found = truth_by_batch(run, truth, table)
    scores = tracking_report(true, found)
    if as_json:
        print_json(scores)
        return
    for name, value in scores.items():
        typer.echo(f"{name:<17} {value:.4f}" if isinstance(value, float) else f"{name:<17} {value}")
