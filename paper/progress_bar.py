"""How far an experiment is, on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

Advance = Callable[[float, float], None]  # work done so far, and all of it


@contextmanager
def progress_bar(text: str, unit: str, *, is_quiet: bool = False) -> Iterator[Advance]:
    """Show done and left with a rate on a terminal's standard error; show nothing elsewhere."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TextColumn(f"{{task.fields[rate]:,.0f}} {unit}/s"),
        TimeRemainingColumn(),
    )
    is_shown = console.is_terminal and not is_quiet
    with Progress(*columns, console=console, disable=not is_shown) as progress:
        task = progress.add_task(text, total=None, rate=0.0)

        def advance(done: float, total: float) -> None:
            rate = progress.tasks[0].speed or 0.0
            progress.update(task, completed=done, total=total, rate=rate)

        yield advance
