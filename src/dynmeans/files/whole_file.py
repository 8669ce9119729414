"""A file that is replaced whole or not at all."""

import errno
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dynmeans.files.leftovers import hold, sweep


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the name of a new file that takes the place of `path` once all of it is on disk.

    If the block fails, `path` stays as it was. What killed processes left of it is removed.
    """
    path = Path(path)
    sweep(path.parent, re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}"))
    temporary = str(path.parent / f".{path.name}.{uuid.uuid4().hex[:8]}")
    with _errors_of(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    handle = hold(temporary)
    try:
        yield temporary
        _sync(temporary)
        with _errors_of(path):
            os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    finally:
        os.close(handle)
    with suppress(OSError):  # some file systems have no such call
        _sync(path.parent)  # makes the rename itself durable


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Name the file that was asked for, not the one that stands in for it."""
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
