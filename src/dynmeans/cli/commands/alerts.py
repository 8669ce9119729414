"""dynmeans alerts: what rules would have told about the past of a run."""

from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli import options


def alerts(
    run_folder: options.RunFolder,
    test: Annotated[
        Path, typer.Option("--test", metavar="FILE", help="Rules in TOML, as for cluster --alerts.")
    ],
    as_json: options.AsJson = False,
) -> None:
    """Try alert rules on the windows of a run: say what they would have told, and tell nobody.

    [bold]Example[/bold]

    dynmeans alerts run --test rules.toml
    """
    from dynmeans.alerts.monitor import replay_alerts
    from dynmeans.alerts.rules import read_rules
    from dynmeans.cli.output import print_json, print_line
    from dynmeans.inputs.format_count import format_count
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        rules = read_rules(test, run.config.features)
        found = replay_alerts(run, rules)
        n_windows = run.status().n_windows
    if as_json:
        print_json([alert.fields for alert in found])
        return
    for alert in found:
        told = alert.fields
        when = told["window"] or told["step"]
        print_line(f"{when}  {alert.rule}: cluster {alert.cluster_id} {told['when']}")
    print_line(f"{format_count(len(found), 'alert')} in {format_count(n_windows, 'window')}")
