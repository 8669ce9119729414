"""The workers as one: a request to all of them, one reply for each piece.

A task for every request would leave traces with the scheduler and the client, and take long to set
up. So a request is one message that the scheduler passes on to the workers, and each of them
answers for the pieces in its memory. Whatever goes wrong (a worker died, a piece lies elsewhere by
now), Dask makes the pieces again, and the request is sent again: it carries all that is needed.
"""

import asyncio
import logging
import pickle
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any

import dask
import numpy as np
from dask.utils import parse_timedelta
from distributed import Client, Future, Worker, get_worker
from distributed.scheduler import KilledWorker

from dynmeans.engine.dask.messages import Reply, Request, TurnRequest
from dynmeans.engine.dask.set_messages import SetRequest

logger = logging.getLogger(__name__)

TIMEOUT = "dynmeans.no-worker-timeout"  # in Dask's configuration
_TIMEOUT = "10s"
_LOOK_AGAIN = 0.5  # Seconds between two looks at whether there are workers at all.
_OPERATION = "dynmeans_answer"
_MAX_ATTEMPTS = 100

AnyRequest = Request | SetRequest | TurnRequest


class ClusterLostError(ConnectionError):
    """The cluster went away in the middle of a step; nothing was changed."""


@contextmanager
def lost_cluster_errors() -> Iterator[None]:
    """Turn the many ways in which a cluster can be lost into one error."""
    try:
        yield
    except (KilledWorker, CancelledError, OSError) as error:
        # Files that a worker could not read have a number; connections that broke have none.
        if isinstance(error, ClusterLostError) or getattr(error, "errno", None) is not None:
            raise
        raise _raise_lost_worker(" ".join(f"{type(error).__name__}: {error}".split())) from error


def _raise_lost_worker(reason: str) -> ClusterLostError:
    return ClusterLostError(
        f"the Dask cluster was lost in the middle of a step ({reason}). Nothing was changed: once "
        "the cluster is back, load the batch again and repeat the step."
    )


def wait_for(futures: list[Future]) -> None:
    """Wait until these are in memory, but not long for a cluster without workers.

    Dask's own `wait` with a time limit raises an error that keeps futures alive in its frames.
    """
    timeout = parse_timedelta(dask.config.get(TIMEOUT, _TIMEOUT))
    had_workers = last_look = time.monotonic()
    pause = 0.001
    while not all(future.status == "finished" for future in futures):
        for future in futures:
            if future.status in ("error", "cancelled"):
                future.result()
        time.sleep(pause)
        pause = min(0.05, 1.5 * pause)
        now = time.monotonic()
        if now - last_look < _LOOK_AGAIN:
            continue
        last_look = now
        if futures[0].client.nthreads():
            had_workers = now
        elif now - had_workers > timeout:
            raise ClusterLostError(
                f"the Dask cluster has no workers, and got none in {timeout:g} s. Nothing was "
                "changed: start workers and repeat the step. To wait longer: "
                f'dask.config.set({{"{TIMEOUT}": "10 minutes"}}).'
            )


def gather_results(futures: list[Future]) -> list[Any]:
    """Results of these, in memory here."""
    if not futures:
        return []
    wait_for(futures)
    found: list[Any] = futures[0].client.gather(futures)
    return found


def find_workers(futures: list[Future]) -> list[str]:
    """A worker that has each of these in memory; "" for one that was just lost."""
    if not futures:
        return []
    wait_for(futures)
    who_has = futures[0].client.who_has(futures)
    return [min(who_has.get(future.key) or [""]) for future in futures]


@dataclass(frozen=True, slots=True)
class Round:
    """One request and its replies: how long it took, and what crossed the network."""

    run: str
    pass_number: int
    seconds: float
    bytes_out: int
    bytes_in: int
    n_proposals: int

    @classmethod
    def of(cls, request: AnyRequest, seconds: float, bytes_out: int, replies: list[Any]) -> "Round":
        """Count what was sent."""
        proposals = [reply.proposals for reply in replies if isinstance(reply, Reply)]
        n_proposals = sum(len(found.turns) for found in proposals if found)
        bytes_in = sum(map(_count_bytes, replies))
        return cls(request.run.name, request.pass_number, seconds, bytes_out, bytes_in, n_proposals)


class Workers:
    """The workers that hold the pieces of one batch."""

    def __init__(self, client: Client, batch: str, pieces: list[Future], sizes: list[int]) -> None:
        self._client, self._batch, self._pieces, self.sizes = client, batch, pieces, sizes
        self._order, self._positions = "", list[Future]()
        self._begin, self.followed = "", list[Future]()
        self._addresses: list[str] = []
        self._n_failures = 0
        self.rounds: list[Round] = []

    @property
    def n_pieces(self) -> int:
        """Number of replies to a request."""
        return len(self._pieces)

    def visit_by(self, order: str, positions: list[Future]) -> None:
        """Take the places of the rows of each piece in a visiting order; these have `order_key`."""
        self._order, self._positions, self._addresses = order, positions, []

    def begin_with(self, labels: list[Any], run: str) -> None:
        """Give each piece the labels of the first pass of a run, made here; none before it."""
        self._begin, self._addresses, self.followed = run if labels else "", [], []
        for number, own in enumerate(labels):
            # All that a worker needs to answer for a piece has to lie in one place.
            there = self._pieces[number], *self._positions[number : number + 1]
            key = order_key(self._batch, number, run)
            self.followed.append(self._client.submit(_first_given, own, *there, key=key))

    def ask(self, request: AnyRequest) -> list[Any]:
        """Have every piece answer; returns when all have."""
        began, dead = time.perf_counter(), set()
        most_dead = dask.config.get("distributed.scheduler.allowed-failures")
        for attempt in range(_MAX_ATTEMPTS):
            with lost_cluster_errors():
                self._addresses = self._addresses or self._find_pieces()
                found, unreachable, n_bytes = self._call(request)
            if len(found) == self.n_pieces:
                replies = [found[number] for number in sorted(found)]
                self._note(Round.of(request, time.perf_counter() - began, n_bytes, replies))
                return replies
            dead |= unreachable
            if len(dead) > most_dead:
                break
            # Somebody may still be at it; from now on nobody touches what it remembers.
            self._n_failures += 1
            self._addresses = []
            time.sleep(min(1.0, 0.05 * 2**attempt))
        raise _raise_lost_worker(f"{len(dead)} workers did not answer the same request")

    def _find_pieces(self) -> list[str]:
        """Let Dask make again what was lost; returns the workers that have pieces."""
        beside = set(find_workers([*self._positions, *self.followed]))
        return sorted({*find_workers(self._pieces), *beside} - {""})

    def _call(self, request: AnyRequest) -> tuple[dict[int, Any], set[str], int]:
        """Replies by number of piece, workers that could not be reached, and bytes sent."""
        if self._n_failures:
            request = request.under(f".{self._n_failures}")
        message = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        call = {
            "op": _OPERATION,
            "message": message,
            "batch": self._batch,
            "n_pieces": self.n_pieces,
            "order": self._order,
            "begin": self._begin,
        }
        present = set(self._client.nthreads()) & set(self._addresses)  # A dead one is waited for.
        answers = self._client.sync(
            self._client.scheduler.broadcast,
            msg=call,
            workers=sorted(present),
            on_error="return_pickle",
        )
        found: dict[int, Any] = {}
        unreachable = set(self._addresses) - present
        for address, answer in answers.items():
            if not isinstance(answer, dict) or "replies" not in answer:
                unreachable.add(address)
                logger.debug("no answer from %s: %r", address, answer)
                continue
            replies = pickle.loads(answer["replies"])
            if isinstance(replies, Exception):
                raise replies
            found |= replies
        return found, unreachable, len(message) * len(self._addresses)

    def _note(self, entry: Round) -> None:
        self.rounds.append(entry)
        logger.debug("%s", entry)


def piece_key(batch: str, number: int) -> str:
    """Under which Dask keeps a piece."""
    return f"{batch}-{number}"


def order_key(batch: str, number: int, order: str) -> str:
    """Under which Dask keeps the places of the rows of a piece in an order, or first labels."""
    return f"{batch}-{number}-{order}"


def _first_given(values: Any, *there: Any) -> Any:
    """Where the others are; they are given so that Dask runs this there."""
    return values


def answer_requests() -> None:
    """Have this worker answer requests, on the worker."""
    worker = get_worker()

    async def handle(
        message: bytes, batch: str, n_pieces: int, order: str, begin: str
    ) -> dict[str, Any]:
        try:
            replies: Any = await _answer(worker, message, batch, n_pieces, (order, begin))
        except Exception as error:
            replies = error
        return {"replies": pickle.dumps(replies, protocol=pickle.HIGHEST_PROTOCOL)}

    worker.handlers[_OPERATION] = handle


async def _answer(
    worker: Worker, message: bytes, batch: str, n_pieces: int, beside: tuple[str, str]
) -> dict[int, Any]:
    """Replies for all pieces that are here.

    The work is done where tasks are done, so that the worker keeps answering meanwhile.
    """
    request: AnyRequest = pickle.loads(message)
    loop, executor = asyncio.get_running_loop(), worker.executors["default"]
    free, replies = asyncio.Semaphore(worker.state.nthreads), {}

    async def answer(number: int) -> None:
        async with free:
            try:
                piece = worker.data[piece_key(batch, number)]
                positions, followed = (
                    worker.data[order_key(batch, number, name)] if name else None for name in beside
                )
            except KeyError:
                return
            run = piece.run(request.run, request.kept_runs, positions, followed)
            replies[number] = await loop.run_in_executor(executor, partial(run.answer, request))

    here = [number for number in range(n_pieces) if piece_key(batch, number) in worker.data]
    await asyncio.gather(*map(answer, here))
    return replies


def _count_bytes(value: Any) -> int:
    """Bytes of the arrays in a reply."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        return sum(_count_bytes(getattr(value, field.name)) for field in fields(value))
    return 0
