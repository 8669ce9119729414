"""RunFeed: notices what a run has committed, and gives it to any number of readers."""

import asyncio
import contextlib
import json
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dynmeans.inputs.argument_text import as_cli_options
from dynmeans.report.build import report_data
from dynmeans.report.center_positions import align_centers
from dynmeans.report.data import ReportData
from dynmeans.report.encode import pack_chunk
from dynmeans.report.from_run import run_report, summary_fields
from dynmeans.report.render_page import render_report
from dynmeans.runs.run import Run
from dynmeans.runs.store.schema import (
    DATABASE,
    data_version,
    database_errors,
    open_database,
    read_progress,
)

_LOOK_SECONDS = 0.1
_KEPT_CHUNKS = 32
# Windows of one chunk: a page that slept for long gets several.
_MAX_WINDOWS = 500
# A page that is older is made anew; one that is younger catches up by chunks.
_SUMMARY_SECONDS = 2.0
_PAGE_SECONDS, _PAGE_WINDOWS = 60.0, 500


class ReplacedError(OSError):
    """The run that a reader follows has been replaced by another one."""


class RunFeed:
    """Events for the readers of a run; one per server, fed by one poll of the run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run_id = ""
        self.last_step = -1
        self.n_edits = 0
        self._changed = asyncio.Event()
        self._chunks: OrderedDict[tuple[str, int, int], asyncio.Task[bytes]] = OrderedDict()
        self._page: tuple[str, float, int, str] | None = None
        self._features: int | None = None
        self._summary: tuple[float, int, dict[str, Any]] | None = None
        self._making = threading.Lock()

    def look(self) -> None:
        """Look at the run once."""
        with contextlib.closing(open_database(self.folder / DATABASE)) as connection:
            self._look(connection)

    async def watch(self) -> None:
        """Poll the run ten times a second; notify readers of new windows or another run."""
        while True:
            with contextlib.suppress(OSError, ValueError):  # none is there for a moment
                await self._watch_one()
            await asyncio.sleep(_LOOK_SECONDS)

    async def _watch_one(self) -> None:
        """Look at a run until its database is another one."""
        path = self.folder / DATABASE
        place, version = _file_id(path), None
        with contextlib.closing(open_database(path)) as connection:
            while _file_id(path) == place:
                now = data_version(connection)
                if now != version:
                    version = now
                    with database_errors(path):
                        self._look(connection)
                await asyncio.sleep(_LOOK_SECONDS)

    def _look(self, connection: sqlite3.Connection) -> None:
        now = read_progress(connection)
        if now[0] != self.run_id:
            self._chunks.clear()
            self._summary = None
        if now != (self.run_id, self.last_step, self.n_edits):
            self.run_id, self.last_step, self.n_edits = now
            self._changed.set()
            self._changed = asyncio.Event()  # for what comes next

    async def wait(self, run_id: str, step: int, n_edits: int, seconds: float) -> None:
        """Return once there is more than a reader has, or after this many seconds."""
        changed = self._changed
        if self.run_id != run_id or self.last_step > step or self.n_edits != n_edits:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), seconds)

    async def read(self, work: Callable[[Run], Any], run_id: str | None = None) -> Any:
        """Read from the run in a thread, as one commit left it, with a connection of its own.

        With `run_id`, a run that has been replaced meanwhile is an error.
        """

        def work_on_run() -> Any:
            with Run.open(self.folder) as run, run.store.snapshot():
                if run_id not in (None, run.store.run_id):
                    raise ReplacedError
                return work(run)

        return await asyncio.to_thread(work_on_run)

    async def change(self, work: Callable[[Run], Any]) -> Any:
        """Edit the run in a thread; an edit needs no lock."""

        def work_on_run() -> Any:
            with Run.open(self.folder) as run:
                return work(run)

        return await asyncio.to_thread(work_on_run)

    async def chunk_after(self, run_id: str, step: int) -> tuple[int, bytes]:
        """Return windows after a step as JSON, and the last of them; made once for all readers."""
        if run_id != self.run_id:
            raise ReplacedError
        key = run_id, step + 1, min(self.last_step, step + _MAX_WINDOWS)
        if key not in self._chunks:
            self._chunks[key] = asyncio.create_task(self._chunk(*key))
            while len(self._chunks) > _KEPT_CHUNKS:
                self._chunks.popitem(last=False)
        # A reader that leaves must not take it away from the others.
        return key[2], await asyncio.shield(self._chunks[key])

    async def _chunk(self, run_id: str, first: int, last: int) -> bytes:
        try:
            await self.page()  # says which axes there are
            return bytes(await self.read(lambda run: self._make_chunk(run, first, last), run_id))
        except BaseException:
            self._chunks.pop((run_id, first, last), None)
            raise

    def _make_chunk(self, run: Run, first: int, last: int) -> bytes:
        history = run.history(labels=False, first_step=first, last_step=last)
        assert run.memory is not None, "a run with windows has one"
        samples = list(run.samples(first_step=first, last_step=last))
        drawn, kept = align_centers(history, samples, run.memory.space_or_raw)
        data = features_only(report_data(drawn, samples=kept), self._features)
        return json.dumps(pack_chunk(data), separators=(",", ":")).encode()

    async def summary(self, run_id: str) -> tuple[int, dict[str, Any]]:
        """Return what is written about the run, and as of which window; made once in a while."""
        now = time.monotonic()
        if self._summary is None or now - self._summary[0] > _SUMMARY_SECONDS:
            step = self.last_step
            self._summary = now, step, await self.read(self._make_summary, run_id)
        return self._summary[1:]

    def _make_summary(self, run: Run) -> dict[str, Any]:
        return summary_fields(run, as_cli_options(str(run.folder)))

    async def page(self) -> str:
        """Return the page, at most a minute or 500 windows old; it then fetches what is newer."""
        return str(await self.read(self._render_page))

    def _render_page(self, run: Run) -> str:
        with self._making:
            now, run_id = time.monotonic(), run.store.run_id
            if self._page is not None and self._page[0] == run_id:
                _, made, step, page = self._page
                is_old = now - made > _PAGE_SECONDS or self.last_step - step > _PAGE_WINDOWS
                if self.last_step == step or not is_old:
                    return page
            data = features_only(
                run_report(run, name_of=as_cli_options(str(run.folder)), has_rows=False)
            )
            self._features = len(data.axes)
            page = render_report(data, live=run_id)
            self._page = run_id, now, int(data.batches.steps[-1]), page
            return page


def _file_id(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def features_only(data: ReportData, n_features: int | None = None) -> ReportData:
    """Leave principal axes out: they would be others for every chunk."""
    n = sum(axis.kind == "feature" for axis in data.axes)
    n = n if n_features is None else min(n, n_features)
    view = data.view if max(data.view) < n else (0, 1) if n > 1 else (-1, 0)
    return replace(
        data,
        axes=data.axes[:n],
        view=view,
        clusters=replace(data.clusters, places=data.clusters.places[:, :n]),
        points=replace(data.points, places=data.points.places[:, :n]),
    )
