"""dynmeans score: found identities against true ones."""

from typing import Any

from dynmeans.cli import options
from dynmeans.cli.fields import select_fields, with_options
from dynmeans.cli.options import FamilyOptions, RowOptions

_ROWS = ("truth", "input", "allow_stored_sql")


@with_options({RowOptions: "", FamilyOptions: ""}, only={RowOptions: _ROWS})
def score(run_folder: options.RunFolder, as_json: options.AsJson = False, **fields: Any) -> None:
    """Score the labels against true labels: accuracy, IDF1, HOTA, ARI.

    Rows without a true label (empty, or -1) are excluded.

    [bold]Example[/bold]

    dynmeans score run --truth ship
    """
    from dynmeans.cli.output import print_json, print_line
    from dynmeans.inputs.input_error import InputError
    from dynmeans.metrics.report import report_of_counts
    from dynmeans.runs.analysis.truth_counts import count_truth
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        rows = RowOptions(**select_fields(RowOptions, fields))
        column = rows.truth or run.config.source.get("truth")
        if column is None:
            raise InputError("truth", "is needed: the run was made without a column of true labels")
        counts = count_truth(run, column, rows.input, allow_stored_sql=rows.allow_stored_sql)
        families = FamilyOptions(**select_fields(FamilyOptions, fields)).of(run)
        if families is not None:
            counts = counts._replace(cluster_ids=families.map_labels([counts.cluster_ids])[0])
    scores = report_of_counts(*counts)
    if as_json:
        print_json(scores)
        return
    for name, value in scores.items():
        print_line(f"{name:<17} {value:.4f}" if isinstance(value, float) else f"{name:<17} {value}")
