"""How far the work is, on a terminal's standard error; nothing elsewhere."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from dynmeans.cli.output import printable
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.reading.window import Window
from dynmeans.runs.run import OnWindow


def while_choosing() -> AbstractContextManager[Any]:
    """Print that parameters are being chosen."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status("choosing parameters on the first windows")


@contextmanager
def while_clustering(
    total: int | None, done: int, features: Sequence[str]
) -> Iterator[OnWindow | None]:
    """Show the rows done of all, the rate, and what was found in the last window."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} rows"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total, completed=done)

        def on_window(record: StepRecord, window: Window) -> None:
            name, n = printable(window.name or f"window {record.step}"), len(record.ids)
            message = f"{name}: {n} clusters, {record.n_remembered} remembered"
            progress.update(
                task, advance=window.n_points + window.n_dropped_rows, description=message
            )

        yield on_window
