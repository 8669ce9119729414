"""A file that is replaced whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the name of a new file that takes the place of `path` once all of it is on disk.

    If the block fails, `path` stays as it was.
    """
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    with suppress(OSError):  # some file systems have no such call
        _sync(path.parent)  # makes the rename itself durable


def _sync(path: str | os.PathLike[str]) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
