"""What is said when `dynmeans cluster` is stopped by hand."""

import shlex
from pathlib import Path

from dynmeans.cli.output import printable

_DATABASE = "run.sqlite"
_OVERWRITE = "--overwrite"
_ONCE = (_OVERWRITE, "--no-resume")  # would throw away what is safe


def stamp_of_old_run(words: list[str]) -> int | None:
    """Return when the run that ``--overwrite`` is to replace was last changed, if there is one."""
    database = Path(_folder(words)) / _DATABASE
    return database.stat().st_ctime_ns if _OVERWRITE in words and database.exists() else None


def last_words(words: list[str], old: int | None = None) -> str:
    """Say what a stopped run holds, and the command that resumes it."""
    counts = _counts(_folder(words))
    is_old = old is not None and old == stamp_of_old_run(words)
    if counts is None or is_old:
        kept = f"; the old run in {_folder(words)!r} is as it was" if is_old else ""
        command = shlex.join(["dynmeans", *words])
        told = f"interrupted before the first window was stored{kept}. To start: {command}"
        return printable(told)
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
    from dynmeans.runs.store.schema import stored_counts

    path = Path(folder) / _DATABASE
    if not folder or not path.exists():
        return None
    try:
        return stored_counts(path)
    except (OSError, ValueError):
        return None
