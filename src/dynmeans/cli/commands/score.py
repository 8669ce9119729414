"""dynmeans score: found identities against true ones."""

from typing import Annotated

import typer

from dynmeans.cli import options


def score(
    run_folder: options.RunFolder,
    truth: Annotated[
        str | None,
        typer.Option(
            help="Column of the input that holds the true identities; by default the one named "
            "when the run was made."
        ),
    ] = None,
    input: options.InputMoved = None,
    trust: options.Trust = False,
    level: options.FamilyLevel = None,
    n_families: options.NFamilies = None,
    is_families: options.WithFamilies = False,
    as_json: options.AsJson = False,
) -> None:
    """Score the identities found against true ones: accuracy, IDF1, HOTA, ARI, AMI.

    Rows without a true identity (empty, or -1) are left out.

    [bold]Example[/bold]

    dynmeans score run --truth ship
    """
    from dynmeans.cli.output import print_json, say
    from dynmeans.inputs.input_error import InputError
    from dynmeans.metrics.report import report_of_counts
    from dynmeans.runs.look.run_families import families_of_run
    from dynmeans.runs.look.truth_counts import count_truth
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        column = truth or run.config.source.get("truth")
        if column is None:
            raise InputError(
                "truth", "is needed: the run was made without a column of true identities"
            )
        counts = count_truth(run, column, input, trust=trust)
        if is_families or level is not None or n_families is not None:
            families = families_of_run(run, level=level, n_families=n_families)
            counts = counts._replace(cluster_ids=families.of([counts.cluster_ids])[0])
    scores = report_of_counts(*counts)
    if as_json:
        print_json(scores)
        return
    for name, value in scores.items():
        say(f"{name:<17} {value:.4f}" if isinstance(value, float) else f"{name:<17} {value}")
