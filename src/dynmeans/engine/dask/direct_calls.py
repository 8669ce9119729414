"""Requests handed to workers that have the rows in memory, past Dask's graph of tasks.

A task for every request leaves traces with the scheduler and the client, and takes long to set up
where it depends on many chunks. So each worker is told once which chunks it is to look after, and
from then on a request is one message to all of them. Whatever goes wrong (a worker died, a chunk
lies elsewhere by now), the groups concerned are done as tasks, which Dask knows how to save.
"""

import asyncio
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from distributed import Client, Worker

from dynmeans.engine.dask.messages import PieceInfo
from dynmeans.engine.dask.worker import answer, sum_up

_OPERATION = "dynmeans_carry_out"
_TASKS: dict[str, Callable[..., Any]] = {task.__name__: task for task in (answer, sum_up)}
_MOST_SEATINGS = 64  # Their owners do not say goodbye.


@dataclass(frozen=True, slots=True)
class Seat:
    """One group of pieces on one worker: its number, and under which keys the arrays lie."""

    number: int
    infos: list[PieceInfo]
    points: list[Any]
    weights: list[Any]
    positions: list[Any]


def seat_workers(client: Client, seating: str, seats: dict[str, list[Seat]]) -> None:
    """Tell each worker which groups it is to look after; one that is gone is not waited for."""
    for worker in sorted(set(seats) & set(client.nthreads())):
        client.run(take_seats, seating, seats[worker], workers=[worker], on_error="ignore")


def call_workers(
    client: Client, seating: str, workers: set[str], task: str, message: bytes, extra: bytes
) -> tuple[dict[int, Any], bool]:
    """Have a task carried out; returns replies by group, and whether all workers could be reached.

    Groups may be missing from the replies.
    """
    present = sorted(workers & set(client.nthreads()))
    call = {
        "op": _OPERATION,
        "seating": seating,
        "task": task,
        "message": message,
        "extra": extra,
    }
    found = client.sync(
        client.scheduler.broadcast, msg=call, workers=present, on_error="return_pickle"
    )
    replies: dict[int, Any] = {}
    for reply in found.values():
        if isinstance(reply, dict) and "replies" in reply:
            replies |= pickle.loads(reply["replies"])
    is_complete = len(present) == len(workers) and all(
        isinstance(reply, dict) and "replies" in reply for reply in found.values()
    )
    return replies, is_complete


_lock = threading.Lock()
_seatings: dict[str, list[Seat]] = {}


def take_seats(seating: str, seats: list[Seat], dask_worker: Worker) -> None:
    """Remember, on a worker, which groups it is to look after."""

    async def handle(seating: str, task: str, message: bytes, extra: bytes) -> dict[str, Any]:
        return await carry_out(dask_worker, seating, task, message, extra)

    dask_worker.handlers[_OPERATION] = handle
    with _lock:
        _seatings[seating] = seats
        for old in list(_seatings)[:-_MOST_SEATINGS]:
            del _seatings[old]


async def carry_out(
    worker: Worker, seating: str, task: str, message: bytes, extra: bytes
) -> dict[str, Any]:
    """Carry out a task for all groups of this worker whose arrays are here.

    The work is done where tasks are done, so that the worker goes on answering meanwhile.
    """
    with _lock:
        seats = _seatings.get(seating, [])
    loop, executor = asyncio.get_running_loop(), worker.executors["default"]
    free, replies, rest = asyncio.Semaphore(worker.state.nthreads), {}, pickle.loads(extra)

    async def do(seat: Seat) -> None:
        async with free:
            try:
                arrays = [
                    [None if key is None else worker.data[key] for key in keys]
                    for keys in (seat.points, seat.weights, seat.positions)
                ]
            except KeyError:
                return
            work = partial(_TASKS[task], message, seat.infos, *arrays, *rest)
            replies[seat.number] = await loop.run_in_executor(executor, work)

    await asyncio.gather(*map(do, seats))
    return {"replies": pickle.dumps(replies, protocol=pickle.HIGHEST_PROTOCOL)}
