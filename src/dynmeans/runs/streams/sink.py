"""Labels and events of a run, sent to the places that streams live in."""

import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby

from dynmeans.runs.analysis.label_view import view_of_run
from dynmeans.runs.run import Run
from dynmeans.runs.store.run_tables import windows_with_events
from dynmeans.runs.store.sink_offsets import commit_offset, next_unsent_step
from dynmeans.runs.streams.addresses import open_sink, parse_address
from dynmeans.runs.streams.backoff import FIRST_PAUSE, LONGEST_PAUSE
from dynmeans.runs.streams.message import Item, Sink

_AT_ONCE = 2000


class ResultForwarder:
    """Sends windows once they are committed; a place that is away is tried with a later one."""

    def __init__(self, run: Run, address: str, kind: str, stop: threading.Event) -> None:
        self._run, self._kind = run, kind
        self._sink: Sink = open_sink(address, stop, f"{kind}_to")
        self._sent_to = f"{kind} {parse_address(address)}"
        self._name = run.folder.resolve().name
        self._pause, self._next_try = FIRST_PAUSE, 0.0

    def send_new(self, *, is_last: bool = False) -> bool:
        """Send the windows that were not sent yet; False if the place is away."""
        if time.monotonic() < self._next_try and not is_last:
            return False
        for step, items in self._windows(next_unsent_step(self._run.store, self._sent_to) or 0):
            for begin in range(0, len(items), _AT_ONCE):
                if not self._sink.send(self._name, items[begin : begin + _AT_ONCE]):
                    self._next_try = time.monotonic() + self._pause
                    self._pause = min(2 * self._pause, LONGEST_PAUSE)
                    return False
            commit_offset(self._run.store, self._sent_to, step + 1)
        self._pause = FIRST_PAUSE
        return True

    def close(self) -> None:
        """Give the connection back."""
        self._sink.close()

    def _windows(self, first: int) -> Iterator[tuple[int, list[Item]]]:
        """Yield the number and the items of each window from the first on."""
        if self._kind == "labels":
            view = view_of_run(self._run)  # a row is named like its cluster, by the joins so far
            for table in self._run.label_tables(first_step=first):
                for step, rows in groupby(view.of(table).to_pylist(), key=lambda row: row["step"]):
                    yield step, [Item(step, n, row) for n, row in enumerate(rows)]
            return
        for window, events in windows_with_events(self._run.store, "WHERE step >= ?", [first]):
            step, when = window["step"], {"step": window["step"], "window": window["name"]}
            yield step, [Item(step, n, when | asdict(event)) for n, event in enumerate(events)]
