"""dynmeans families: clusters of a run that belong together."""

from typing import Any

from dynmeans.cli import options
from dynmeans.cli.fields import with_options
from dynmeans.cli.options import FamilyOptions


@with_options({FamilyOptions: ""}, only={FamilyOptions: ("family_level", "n_families")})
def families(run_folder: options.RunFolder, as_json: options.AsJson = False, **fields: Any) -> None:
    """Group the clusters of a run that belong together; nothing is clustered again.

    Without --family-level and --n-families, the height with the shortest description of the
    stream is chosen. This works while the run is being written, too.

    [bold]Example[/bold]

    dynmeans families run --n-families 12
    """
    from dynmeans.cli.cluster_result import families_fields, show_families
    from dynmeans.cli.output import print_json
    from dynmeans.runs.analysis.run_families import families_of_run
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        found = families_of_run(run, **fields)
        names = run.edits.display_names()
    if as_json:
        print_json(families_fields(found))
        return
    show_families(found, names)
