"""Options of `dynmeans cluster` for actions after a commit, stored rows and printed output."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynmeans.cli.options import CUT, PARAMETERS
from dynmeans.families.levels import LEVELS
from dynmeans.inputs.fields import option
from dynmeans.inputs.input_error import InputError
from dynmeans.runs.configuration import N_KEPT

if TYPE_CHECKING:
    from dynmeans.runs.after_commit import AfterCommit


@dataclass(frozen=True)
class RunOptions:
    """Each field is an option."""

    idle_timeout: str | None = option(
        None,
        "Streams: close all windows and end if no row arrives for this time, such as 30s.",
        metavar="TIME",
        panel=CUT,
    )
    n_threads: int | None = option(
        None, "Threads of a step; the result does not depend on it.", int, panel=PARAMETERS
    )
    alerts: str | None = option(
        None,
        "Alert rules in TOML, for clusters that are born, return, grow or move.",
        metavar="FILE",
    )
    label_retention: str | None = option(
        None,
        "Delete labels that are older: 30d. Clusters, events and histories stay.",
        metavar="TIME",
    )
    labels_to: str | None = option(
        None,
        "Send committed labels to redis://HOST/DB?stream=NAME, kafka://HOST/TOPIC, "
        "mqtt://HOST/TOPIC or postgresql://HOST/DB?table=NAME.",
        metavar="ADDRESS",
    )
    events_to: str | None = option(
        None, "Send committed events to such an address.", metavar="ADDRESS"
    )
    name_by: str | None = option(
        None,
        "Name clusters by values or words of this column that their rows share; by default --text.",
        metavar="COLUMN",
    )
    sample_size: int = option(
        N_KEPT,
        "Rows of each window that the run stores, for the report, clusters and families.",
        int,
        metavar="N",
        min=0,
    )
    level: str | None = option(
        None,
        "Which clusters are shown: fine (subclusters as found), default (touching ones "
        "joined) or coarse. By default default, or fine with --new-penalty; for an existing "
        "run, this changes what it shows.",
        choices=LEVELS,
    )
    noise: float | None = option(
        None, "Largest share of rows that may be noise, such as 0.05; by default a tenth.", float
    )
    overwrite: bool = option(False, "Replace an existing run.", bool)
    log_json: bool = option(False, "Log one JSON object per line to standard error.", bool)
    quiet: bool = option(False, "Print nothing.", bool, flag="-q")

    def after_commit(self) -> "AfterCommit":
        """Return what is done after each commit."""
        from dynmeans.runs.after_commit import AfterCommit, Retention
        from dynmeans.runs.reading.durations import parse_seconds

        retention, hooks = None, list[Any]()
        if self.label_retention is not None:
            retention = Retention(parse_seconds("label_retention", self.label_retention))
        if self.alerts is not None:
            from dynmeans.alerts.monitor import make_alert_hook

            if not Path(self.alerts).is_file():
                raise InputError("alerts", ": there is no file {!r}", self.alerts)
            hooks.append(partial(make_alert_hook, Path(self.alerts)))
        return AfterCommit(self.labels_to, self.events_to, retention, tuple(hooks))
