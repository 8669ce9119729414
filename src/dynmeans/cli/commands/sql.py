"""dynmeans sql: a query over the tables of a run."""

from typing import Annotated

import typer

from dynmeans.cli import options


def sql(
    run_folder: options.RunFolder,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="One SELECT over labels, clusters and events.")
    ],
    as_json: options.AsJson = False,
) -> None:
    """Answer a query in DuckDB's SQL over a run's own tables, as CSV.

    labels has one row for each row taken in (step, row_id, cluster_id, distance, and time where
    there is one), clusters one for each cluster, events one for each event.

    [bold]Example[/bold]

    dynmeans sql run "select kind, count(*) as n from events group by kind"
    """
    import csv
    import sys

    from dynmeans.cli.output import print_json
    from dynmeans.runs.look.run_query import query_run
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        found = query_run(run, query)
    if as_json:
        print_json(found.to_pylist())
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(found.column_names)
    writer.writerows(row.values() for row in found.to_pylist())
