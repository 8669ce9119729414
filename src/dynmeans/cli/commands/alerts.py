"""dynmeans test-alerts: apply alert rules to the windows of a run."""

from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli import options


def alerts(
    run_folder: options.RunFolder,
    rules_file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Rules in TOML, as for cluster --alerts.")
    ],
    as_json: options.AsJson = False,
) -> None:
    """Apply alert rules to all windows of a run and print the alerts; deliver none.

    [bold]Example[/bold]

    dynmeans test-alerts run rules.toml
    """
    from dynmeans.alerts.monitor import replay_alerts
    from dynmeans.alerts.rules import read_rules
    from dynmeans.cli.output import print_json, print_line
    from dynmeans.inputs.format_count import format_count
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        rules = read_rules(rules_file, run.config.features)
        found = replay_alerts(run, rules)
        n_windows = run.status().n_windows
    if as_json:
        print_json([alert.fields for alert in found])
        return
    for alert in found:
        fields = alert.fields
        window = fields["window"] or fields["step"]
        print_line(f"{window}  {alert.rule}: cluster {alert.cluster_id} {fields['event']}")
    print_line(f"{format_count(len(found), 'alert')} in {format_count(n_windows, 'window')}")
