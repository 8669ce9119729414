"""What a command prints: for people on a terminal, plain in logs, JSON for machines."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

PICTURES = (".png", ".svg", ".pdf")
Advance = Callable[[float, float], None]  # work done so far, and all of it


def print_json(value: Any) -> None:
    """Print one JSON value on standard output."""
    print(json.dumps(value, default=str, allow_nan=False))  # noqa: T201


def check_picture(option: str, path: Path) -> None:
    """Refuse a file that could not be written, before the work for it is done."""
    if path.suffix not in PICTURES:
        raise ValueError(f"{option} must end in .png, .svg or .pdf, got {str(path)!r}.")
    if not path.parent.is_dir():
        raise ValueError(f"{option} must lie in a folder that exists, got {str(path)!r}.")


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
