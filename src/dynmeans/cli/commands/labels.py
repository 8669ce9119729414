"""dynmeans labels: the rows with the identities of their clusters."""

from pathlib import Path
from typing import Annotated, Any

import typer

from dynmeans.cli import options
from dynmeans.cli.fields import select_fields, with_options
from dynmeans.cli.options import ConfirmedOptions, FamilyOptions, RowOptions

_ROWS = ("input", "allow_stored_sql", "network")


@with_options({RowOptions: "", FamilyOptions: "", ConfirmedOptions: ""}, only={RowOptions: _ROWS})
def labels(
    run_folder: options.RunFolder,
    path: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write: .parquet, .csv or .jsonl; - for CSV on standard output.",
        ),
    ],
    labels_only: Annotated[
        bool, typer.Option("--labels-only", help="Only what the run stores, no original columns.")
    ] = False,
    is_as_found: Annotated[
        bool,
        typer.Option(
            "--raw-labels",
            help="Subclusters under their own IDs, confirmed or not, without the names, "
            "merges and pins of dynmeans edit.",
        ),
    ] = False,
    as_json: options.AsJson = False,
    **fields: Any,
) -> None:
    """Write every row of the input with its cluster: step, cluster_id, distance.

    Clusters that were merged by dynmeans edit have one cluster_id. The column cluster_name is
    added if clusters have names, and family_id with --families.

    Rows keep their order and columns; dropped rows have no cluster. In a CSV file, text that a
    spreadsheet would run as a formula gets a leading apostrophe.

    [bold]Example[/bold]

    dynmeans labels run -o labeled.parquet

    dynmeans labels run -o labeled.parquet --families --min-batches 3
    """
    from dynmeans.cli.output import log_line, print_json, print_line
    from dynmeans.inputs.format_count import format_count
    from dynmeans.runs.analysis.label_view import LabelView, confirmed_of_run, view_of_run
    from dynmeans.runs.export.export_labels import STANDARD_OUTPUT, export_labels
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        families = FamilyOptions(**select_fields(FamilyOptions, fields)).of(run)
        least, confirmed = select_fields(ConfirmedOptions, fields), None
        if least or (run.config.model_config.has_unconfirmed and not is_as_found):
            confirmed = confirmed_of_run(run, **least)
        if is_as_found:
            view = LabelView(families, confirmed=confirmed)
        else:
            view = view_of_run(run, families=families, confirmed=confirmed)
        rows = select_fields(RowOptions, fields)
        done = export_labels(run, path, labels_only=labels_only, view=view, **rows)
    if as_json:
        print_json({"file": str(path), "n_rows": done.n_rows, "n_formulas": done.n_formulas})
        return
    message = f"{format_count(done.n_rows, 'row')}: {path}"
    log_line(message) if str(path) == STANDARD_OUTPUT else print_line(message)
    if done.n_formulas:
        log_line(
            f"warning: {format_count(done.n_formulas, 'cell')} of text, which a spreadsheet would "
            "run as a formula, got an apostrophe in front. A .parquet file holds the text as it is."
        )
