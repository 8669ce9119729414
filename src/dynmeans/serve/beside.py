"""Runs beside the one that is served: the same rows with settings that a reader tried."""

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount

from dynmeans.records.penalties import Penalties
from dynmeans.runs.again import job_again
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.run import Run
from dynmeans.runs.store.schema import DATABASE
from dynmeans.serve.feed import RunFeed

_LOOK_SECONDS = 0.05


class Beside:
    """Makes such runs, one at a time, and shows each under an address of its own."""

    def __init__(self, feed: RunFeed) -> None:
        self._feed = feed
        self._stop = threading.Event()
        self._work: asyncio.Future[Any] | None = None
        self._watching: list[asyncio.Task[None]] = []
        self._shown: list[Starlette] = []

    async def begin(self, settings: Mapping[str, Any], app: Starlette, nested: Any) -> str:
        """Cluster the rows anew; return the address once there is something to see."""
        if self._work is not None and not self._work.done():
            raise HTTPException(409, "a run beside this one is being made: wait for its end")
        job = await self._feed.read(lambda run: _job(run, settings))
        self._work = asyncio.ensure_future(asyncio.to_thread(job.start, stop=self._stop))
        while not (job.out / DATABASE).exists() and not self._work.done():
            await asyncio.sleep(_LOOK_SECONDS)
        if self._work.done():
            self._work.result()  # or why there is none
        feed = RunFeed(job.out)
        feed.look()
        self._watching.append(asyncio.create_task(feed.watch()))
        self._shown.append(nested(feed))
        address = f"beside/{len(self._shown)}"
        app.router.routes.append(Mount(f"/{address}", app=self._shown[-1]))
        return f"{address}/"

    async def end(self) -> None:
        """Stop what is being made after its window; resuming goes on from there."""
        self._stop.set()
        for task in self._watching:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for app in self._shown:
            await app.state.api.beside.end()


def _job(run: Run, settings: Mapping[str, Any]) -> ClusterJob:
    now = run.penalties
    if now is None:
        raise ValueError("The run has no window yet.")
    known = {"new_penalty", "max_gap", "reach", "motion", "search"}
    if unknown := set(settings) - known:
        raise ValueError(f"There is no setting {min(unknown)!r}.")
    motion = settings.get("motion", now.motion)
    max_gap = settings.get("max_gap", now.max_gap)
    penalties = Penalties(
        settings.get("new_penalty", now.new_penalty),
        max_gap=float("inf") if max_gap is None else max_gap,
        reach=settings.get("reach", now.reach),
        revival=now.revival,
        motion=motion,
        moving=now.moving if motion == now.motion else None,
    )
    return job_again(run, penalties, settings.get("search", run.config.recipe.search))
