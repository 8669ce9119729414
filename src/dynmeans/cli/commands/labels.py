"""dynmeans labels: the rows with the identities of their clusters."""

from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli import options


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
    input: options.InputMoved = None,
    labels_only: Annotated[
        bool, typer.Option("--labels-only", help="Only what the run stores, no original columns.")
    ] = False,
    is_families: Annotated[
        bool, typer.Option("--families", help="Add family_id, the family of the cluster.")
    ] = False,
    level: options.FamilyLevel = None,
    n_families: options.NFamilies = None,
    min_cluster_size: options.MinClusterSize = None,
    min_life: options.MinLife = None,
    is_as_found: Annotated[
        bool,
        typer.Option(
            "--as-found",
            help="Every cluster under its own number, whether confirmed or not, without the names, "
            "mergers and pins of dynmeans edit.",
        ),
    ] = False,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Write every row of the input with its cluster: step, cluster_id, distance.

    Clusters that were merged by dynmeans edit have one cluster_id; where clusters have names, the
    column cluster_name is added.

    The rows keep their order and their columns; rows that were left out have no cluster. In a CSV
    file, text that a spreadsheet would run as a formula gets an apostrophe before it.

    [bold]Example[/bold]

    dynmeans labels run -o labeled.parquet

    dynmeans labels run -o labeled.parquet --families --min-life 3
    """
    from dynmeans.cli.output import print_json, say, tell
    from dynmeans.inputs.plural import counted
    from dynmeans.runs.edits import Edits
    from dynmeans.runs.export.label_files import STANDARD_OUTPUT, export_labels
    from dynmeans.runs.look.label_view import LabelView, confirmed_of_run
    from dynmeans.runs.look.run_families import families_of_run
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        families = confirmed = None
        if is_families or level is not None or n_families is not None:
            families = families_of_run(run, level=level, n_families=n_families)
        is_given = min_cluster_size is not None or min_life is not None
        if is_given or (run.config.recipe.has_unconfirmed and not is_as_found):
            confirmed = confirmed_of_run(run, min_cluster_size=min_cluster_size, min_life=min_life)
        view = LabelView(families, confirmed, Edits() if is_as_found else run.edits)
        done = export_labels(
            run,
            path,
            input=input,
            labels_only=labels_only,
            trust=trust,
            view=view,
        )
    if as_json:
        print_json({"file": str(path), "n_rows": done.n_rows, "n_formulas": done.n_formulas})
        return
    told = f"{counted(done.n_rows, 'row')}: {path}"
    tell(told) if str(path) == STANDARD_OUTPUT else say(told)
    if done.n_formulas:
        tell(
            f"warning: {counted(done.n_formulas, 'cell')} of text, which a spreadsheet would run "
            "as a formula, got an apostrophe in front. A .parquet file holds the text as it is."
        )
