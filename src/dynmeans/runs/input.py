"""Input: where the rows of a run come from."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.sources.reading_options import AS_USUAL, ReadingOptions
from dynmeans.runs.reading.sources.remote_files import is_remote, without_secrets
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.streams.addresses import is_address, parse_address

LIVE = "-"


@dataclass(frozen=True, slots=True)
class Input:
    """Where rows come from."""

    # A path or a table as `Source` takes it, ``-`` for `lines`, or the address of a stream.
    rows: Any
    reading: ReadingOptions = AS_USUAL  # How they are read
    lines: Iterable[bytes] = ()  # JSON lines as they arrive
    # Seconds without a message after which a stream counts as ended.
    idle_timeout: float | None = None

    @property
    def path(self) -> str | None:
        """The path or address; None for a table in memory."""
        return os.fspath(self.rows) if isinstance(self.rows, str | os.PathLike) else None

    @property
    def is_stream(self) -> bool:
        """Whether rows are messages of a stream."""
        return is_address(self.path)

    @property
    def is_live(self) -> bool:
        """Whether rows come as they happen, and are gone once they are read."""
        return self.is_stream or self.path == LIVE

    @property
    def name(self) -> str | None:
        """What a run stores of it: an absolute path, or an address without its secrets."""
        path = self.path
        if path is not None and self.is_stream:
            return str(parse_address(path))
        if path is None or path == LIVE:
            return path
        return without_secrets(path) if is_remote(path) else os.path.abspath(path)

    def check(self, windows: WindowOptions, out: Path) -> None:
        """Refuse what does not go together, before anything is read."""
        folder = None if self.path is None else Path(self.path)
        if folder and folder.is_dir() and out.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                "out",
                "must not lie in the folder of the rows, {!r}: the run's own files would be read "
                "as rows",
                self.rows,
            )
        if self.is_live and (names := self.reading.non_default_fields()):
            raise InputError(names[0], "is for files, not for live sources")
        patterns = [name for name in windows.features if set(name) & set("*?[")]
        if self.is_live and patterns:
            rule = "must be names for a live source, not a pattern such as {!r}"
            raise InputError("features", rule, patterns[0])
        if windows.deduplicate and not self.is_stream:
            raise InputError(
                "deduplicate",
                "works only with the address of a stream (redis://, kafka://, mqtt://, "
                "postgresql://)",
            )
