"""SIGTERM: the current window is finished and committed, then the program ends."""

import signal
import threading
from collections.abc import Iterator
from typing import Any, Self

from dynmeans.runs.reading.json_lines import bounded_lines
from dynmeans.runs.stopping import StoppedError


class StopSignal:
    """Sets `event` on SIGTERM while it is open; used in a ``with`` block."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._is_waiting = False
        self._before: Any = None

    def __enter__(self) -> Self:
        """Begin to listen; only the main thread of a program can."""
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGTERM, self._stop)
        return self

    def __exit__(self, *error: object) -> None:
        """Stop listening."""
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)

    def lines(self, stream: Any) -> Iterator[bytes]:
        """Yield the lines of a stream; a signal that comes while waiting for one ends it."""
        lines = bounded_lines(stream)
        while True:
            self._is_waiting = True
            if self.event.is_set():
                raise StoppedError
            line = next(lines, None)
            self._is_waiting = False
            if line is None:
                return
            yield line

    def _stop(self, number: int, frame: object) -> None:
        self.event.set()
        if self._is_waiting:
            self._is_waiting = False
            raise StoppedError
