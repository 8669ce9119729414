"""dynmeans families: identities of a run that belong together."""

from dynmeans.cli import options


def families(
    run_folder: options.RunFolder,
    level: options.FamilyLevel = None,
    n_families: options.NFamilies = None,
    as_json: options.AsJson = False,
) -> None:
    """Group the identities of a run that belong together, in seconds; nothing is clustered again.

    Without --level and --n-families the level that describes the stream most briefly is chosen. It
    also works while the run is being written.

    [bold]Example[/bold]

    dynmeans families run --n-families 12
    """
    from dynmeans.cli.cluster_result import families_fields, show_families
    from dynmeans.cli.output import print_json
    from dynmeans.runs.look.run_families import families_of_run
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        found = families_of_run(run, level=level, n_families=n_families)
        names = run.edits.shown_names()
    if as_json:
        print_json(families_fields(found))
        return
    show_families(found, names)
