"""Remove temporary files of killed processes; a lock marks those in use."""

import fcntl
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path

# Between its making and its locking a file looks abandoned.
_SECONDS = 60.0


def hold(path: str | os.PathLike[str]) -> int:
    """Mark a file or folder as in use until the handle that comes back is closed."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with suppress(OSError):  # some file systems have no locks
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return handle


def sweep(folder: Path, name: re.Pattern[str]) -> None:
    """Remove what has such a name and is held by no process; what cannot be removed stays."""
    with suppress(OSError):
        for entry in [entry for entry in os.scandir(folder) if name.fullmatch(entry.name)]:
            _remove_abandoned(entry.path)


def _remove_abandoned(path: str) -> None:
    with suppress(OSError):
        if time.time() - os.lstat(path).st_mtime < _SECONDS or os.path.islink(path):
            return
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        finally:
            os.close(handle)
