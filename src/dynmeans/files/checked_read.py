"""Files from outside: read whole, and refused in one line where they are not as they should be."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

_MAX_REASON = 300  # characters


def read_regular_file(path: str | os.PathLike[str], magic: bytes, wanted: str) -> bytes:
    """Return all bytes of a file that begins with `magic`; other files are not read on.

    A file that cannot be opened raises the `OSError` of the system.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # A pipe or device might never end.
        raise ValueError(f"{os.fspath(path)!r} is not a regular file.")
    with open(path, "rb") as file:
        head = file.read(len(magic))
        if head != magic:
            raise ValueError(
                f"{os.fspath(path)!r} is not {wanted}, or it is damaged: it begins with {head!r}."
            )
        return head + file.read()


@contextmanager
def raise_if_damaged(path: str | os.PathLike[str], wanted: str) -> Iterator[None]:
    """Turn whatever a damaged file leads to into a `ValueError` of one line."""
    try:
        yield
    except Exception as error:  # Readers of zip, JSON and Parquet files raise almost anything.
        reason = (str(error).splitlines() or [""])[0][:_MAX_REASON] or type(error).__name__
        raise ValueError(
            f"{os.fspath(path)!r} is not {wanted}, or it is damaged: {reason}"
        ) from error
