"""One writer at a time: a lock that the system frees when its process ends, however it ends."""

import fcntl
import os
from pathlib import Path

FILE = "writer.lock"


class WriterLock:
    """Holds the right to write to a run folder until it is released."""

    def __init__(self, folder: Path) -> None:
        path = folder / FILE
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            raise OSError(f"another process is writing to the run {str(folder)!r}.") from error
        self._handle = handle

    def release(self) -> None:
        """Let another process write."""
        os.close(self._handle)


def is_locked(folder: Path) -> bool:
    """Say whether some process is writing to the run now."""
    try:
        handle = os.open(folder / FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
