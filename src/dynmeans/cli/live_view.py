"""The view of a run while it is written: a bar with the rate, and a table of clusters."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from dynmeans.cli.output import printable
from dynmeans.inputs.plural import counted
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.reading.window import Window
from dynmeans.runs.run import OnWindow

_MAX_CLUSTERS = 12
_MAX_FEATURES = 4


@contextmanager
def live_view(total: int | None, done: int, features: Sequence[str]) -> Iterator[OnWindow]:
    """Show a terminal how far the run is, four times a second; `features` name the columns."""
    console = Console(stderr=True)
    progress = Progress(
        TextColumn("{task.fields[window]}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} rows"),
        TextColumn("{task.fields[rate]:,.0f} rows/s"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )
    task = progress.add_task("", total=total, completed=done, window="", rate=0.0)
    shown: dict[str, Any] = {"record": None}

    def on_window(record: StepRecord, window: Window) -> None:
        shown["record"] = record
        progress.update(
            task,
            advance=window.n_points + window.n_dropped,
            window=printable(window.name or f"window {record.step}"),
            rate=progress.tasks[0].speed or 0.0,
        )

    def render() -> Group:
        record = shown["record"]
        if record is None:
            return Group(progress)
        return Group(progress, cluster_table(record, features))

    with Live(get_renderable=render, console=console, refresh_per_second=4, transient=True):
        yield on_window


def cluster_table(record: StepRecord, features: Sequence[str]) -> Table:
    """Return the largest clusters of a window as a table, its centers under the features' names."""
    n_shown = min(_MAX_CLUSTERS, len(record.ids))
    n_seen = counted(len(record.ids), "cluster")
    title = f"window {record.step}: {n_seen}, {record.n_remembered} remembered"
    table = Table(title=title, title_justify="left")
    table.add_column("cluster", justify="right")
    table.add_column("points", justify="right")
    table.add_column("since")
    n_features = min(_MAX_FEATURES, record.centers.shape[1])
    for name in features[:n_features]:
        table.add_column(escape(printable(f"center {name}")), justify="right")
    largest = sorted(range(len(record.ids)), key=lambda i: (-record.counts[i], record.ids[i]))
    for i in largest[:n_shown]:
        age = record.ages[i]
        since = "new" if age == 0 else "last window" if age <= 1 else f"gap of {age:g}"
        center = [f"{record.centers[i, j]:.4g}" for j in range(n_features)]
        table.add_row(str(record.ids[i]), f"{record.counts[i]:g}", since, *center)
    return table
