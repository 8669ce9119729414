"""A file that must not change while it is read."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Which file a path named, how long it was and when it was last written."""

    path: Path
    identity: tuple[int, int, int, int]

    @classmethod
    def of(cls, path: Path) -> "FileStamp":
        """Look at the file now."""
        return cls(path, _identity(path))

    def check(self) -> None:
        """Refuse a file that was written to or replaced since."""
        try:
            found = _identity(self.path)
        except FileNotFoundError:
            found = None
        if found != self.identity:
            raise ValueError(
                f"source must not change while it is read, but {str(self.path)!r} was written to, "
                "replaced or removed. Work on a copy, and start again."
            )


def _identity(path: Path) -> tuple[int, int, int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
