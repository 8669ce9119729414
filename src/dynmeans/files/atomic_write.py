"""A file that is replaced whole or not at all."""

import errno
import os
import re
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dynmeans.files.stale_files import hold, sweep


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the name of a new file that takes the place of `path` once all of it is on disk.

    If the block fails, `path` stays as it was. An old file's permissions are kept. A symbolic
    link is followed: the file it points to is replaced, and the link stays. What killed processes
    left of it is removed.
    """
    path = Path(path)
    with _errors_of(path):
        target = _target(path)
        sweep(target.parent, re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}"))
        temporary = str(target.parent / f".{target.name}.{uuid.uuid4().hex[:8]}")
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        mode_until_done = 0o666 if mode is None else 0o600
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode_until_done))
    handle = hold(temporary)
    try:
        yield temporary
        _sync(temporary)
        if mode is not None:
            os.chmod(temporary, mode)
        with _errors_of(path):
            os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    finally:
        os.close(handle)
    with suppress(OSError):  # some file systems have no such call
        _sync(target.parent)  # makes the rename itself durable


def _target(path: Path) -> Path:
    """Follow links to the file that is to be replaced; it must be a file, if it is there."""
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "Not a regular file")
    return target


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Name the file that was requested, not the one that stands in for it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from None


def _sync(path: str | os.PathLike[str]) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
