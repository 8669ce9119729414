"""Ending between two windows because the user requested it."""

import threading
from collections.abc import Iterable, Iterator

from dynmeans.runs.reading.window import Window


class StoppedError(Exception):
    """The work was ended from outside; all windows processed so far are committed."""


def until_stopped(windows: Iterable[Window], stop: threading.Event) -> Iterator[Window]:
    """Pass windows on until `stop` is set; then raise StoppedError after the current one."""
    for window in windows:
        if stop.is_set():
            raise StoppedError
        yield window
