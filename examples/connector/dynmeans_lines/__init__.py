"""JSON lines of a growing file as a stream, and labels or events as lines of another one."""

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dynmeans.runs.streams.addresses import Address
from dynmeans.runs.streams.message import Message

_PARTITION = "file"


def open_stream(address: Address, columns: tuple[str, ...], stop: threading.Event) -> "Lines":
    """Return the file at ``lines:///PATH``; it is opened when it is first read."""
    address.only()  # refuses options that mean nothing here
    return Lines(Path("/" + address.path), stop)


def open_sink(address: Address, stop: threading.Event) -> "LinesSink":
    """Return the file at ``lines:///PATH``, to be written to."""
    address.only()
    return LinesSink(Path("/" + address.path))


class Lines:
    """A file that others write lines to; the position of a row is where its line ends."""

    def __init__(self, path: Path, stop: threading.Event) -> None:
        self._path, self._stop, self._end = path, stop, 0

    def open(self, after: Mapping[str, Any], inbox: Any) -> None:
        """Begin after a position; a file can be read twice, so nothing goes to the inbox."""
        self._end = int(after.get(_PARTITION) or 0)

    def poll(self, seconds: float) -> list[Message] | None:
        """Return the lines that were completed since the last time; wait a moment for some."""
        found = self._complete_lines()
        if not found:
            self._stop.wait(seconds)
            found = self._complete_lines()
        return found

    def _complete_lines(self) -> list[Message]:
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._end)
            data = file.read()
        messages = []
        for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
            self._end += len(line)
            messages.append(Message(_PARTITION, self._end, self._end, line))
        return messages

    def behind(self) -> set[str]:
        """Return the partitions that hold more than was read."""
        is_behind = self._path.exists() and self._path.stat().st_size > self._end
        return {_PARTITION} if is_behind else set()

    def position_of(self, partition: str, offset: Any) -> str:
        """Return what errors call a line."""
        return f"the line of {str(self._path)!r} that ends at byte {offset}"

    def close(self) -> None:
        """Nothing is held between two polls."""


class LinesSink:
    """A file that gets one line for each label or event; `key` tells one that came twice."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def send(self, run: str, items: Sequence[Any]) -> bool:
        """Append the items."""
        with self._path.open("a", encoding="utf-8") as file:
            for item in items:
                body = json.loads(item.body(run))
                file.write(json.dumps(body) + "\n")
        return True

    def close(self) -> None:
        """Nothing is held between two calls."""
