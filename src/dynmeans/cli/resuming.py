"""What is said when `dynmeans cluster` is stopped by hand."""

import shlex
import sqlite3
from pathlib import Path

from dynmeans.cli.output import printable

_ONCE = ("--overwrite", "--no-resume")  # would throw away what is safe


def last_words(words: list[str]) -> str:
    """Say what a stopped run holds, and the command that resumes it.

    Examples
    --------
    >>> last_words(["cluster", "rows.csv", "-o", "new"])
    'interrupted before the first window was stored. To start: dynmeans cluster rows.csv -o new'
    """
    counts = _counts(_folder(words))
    if counts is None:
        command = shlex.join(["dynmeans", *words])
        return printable(f"interrupted before the first window was stored. To start: {command}")
    n_windows, n_rows = counts
    command = shlex.join(["dynmeans", *(word for word in words if word not in _ONCE)])
    if n_windows == 0:
        return printable(
            "interrupted before the first window was stored; messages received from a stream are "
            f"kept. To resume: {command}"
        )
    return printable(
        f"interrupted. Safe: {n_windows:,} windows, {n_rows:,} rows in {_folder(words)!r}. "
        f"To resume: {command}"
    )


def _folder(words: list[str]) -> str:
    """Find the folder among the words of the command."""
    for place, word in enumerate(words):
        if word in ("--out", "-o"):
            return words[place + 1] if place + 1 < len(words) else ""
        if word.startswith("--out="):
            return word.removeprefix("--out=")
        if word.startswith("-o"):
            return word.removeprefix("-o")
    return ""


def _counts(folder: str) -> tuple[int, int] | None:
    path = Path(folder) / "run.sqlite"
    if not folder or not path.exists():
        return None
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            found = connection.execute("SELECT count(*), total(n_rows) FROM batches").fetchone()
        finally:
            connection.close()
    except sqlite3.Error:
        return None
    return int(found[0]), int(found[1])
