"""dynmeans families: identities of a run that belong together."""

from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli import options


def families(
    run_folder: options.RunFolder,
    level: options.FamilyLevel = None,
    n_families: options.NFamilies = None,
    path: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the family of every identity: .parquet or .csv.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Group the identities of a run that belong together, in seconds; nothing is clustered again.

    Without --level and --n-families the level that describes the stream most briefly is chosen. It
    also works while the run is being written.

    [bold]Example[/bold]

    dynmeans families run --n-families 12 -o families.parquet
    """
    from dynmeans.cli.cluster_result import families_fields, show_families
    from dynmeans.cli.output import print_json, say
    from dynmeans.files.family_tables import write_families
    from dynmeans.runs.look.run_families import families_of_run
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        found = families_of_run(run, level=level, n_families=n_families)
        names = run.edits.shown_names()
    if path is not None:
        write_families(found, path)
    if as_json:
        print_json(families_fields(found))
        return
    show_families(found, names)
    if path is not None:
        say(f"Families: {path}")
