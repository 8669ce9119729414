"""One writer at a time: a lock that the system frees when its process ends, however it ends."""

import fcntl
import os
import struct
from pathlib import Path

FILE = "writer.lock"
_FLOCK = "hhqqi4x"  # struct flock: type, whence, start, length (0: all), process


class WriterLock:
    """Holds the right to write to a run folder until it is released."""

    def __init__(self, folder: Path) -> None:
        path = folder / FILE
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Beside it one that others can see without taking it, which would turn a writer away.
            fcntl.fcntl(handle, fcntl.F_OFD_SETLK, _whole_file(fcntl.F_WRLCK))
        except OSError as error:
            os.close(handle)
            raise OSError(f"another process is writing to the run {str(folder)!r}.") from error
        self._handle = handle

    def release(self) -> None:
        """Let another process write."""
        os.close(self._handle)


def is_locked(folder: Path) -> bool:
    """Return whether some process is writing to the run now; takes no lock itself."""
    try:
        handle = os.open(folder / FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        found = fcntl.fcntl(handle, fcntl.F_OFD_GETLK, _whole_file(fcntl.F_RDLCK))
    except OSError:
        return False
    finally:
        os.close(handle)
    return bool(struct.unpack(_FLOCK, found)[0] != fcntl.F_UNLCK)


def _whole_file(lock: int) -> bytes:
    return struct.pack(_FLOCK, lock, os.SEEK_SET, 0, 0, 0)
