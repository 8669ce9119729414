"""The workers as one: a request to all of them, their replies in the order of the rows."""

import logging
import pickle
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from distributed import Client, Future, fire_and_forget

from dynmeans.engine.dask.bin_sums import Magnitudes, add_bins
from dynmeans.engine.dask.clear_errors import speaking_clearly
from dynmeans.engine.dask.direct_calls import Seat, call_workers, seat_workers
from dynmeans.engine.dask.layout import Group, SpreadPiece, group_pieces
from dynmeans.engine.dask.messages import Moves, Request
from dynmeans.engine.dask.worker import sum_up
from dynmeans.engine.dask.worker_memory import forget_step
from dynmeans.records.arrays import FloatArray, IntArray

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Round:
    """One request and its replies: what for, how long, and what crossed the network.

    `bytes_out` and `bytes_in` are the client's.
    """

    run: str
    n_pass: int
    kind: str
    seconds: float
    bytes_out: int
    bytes_in: int
    n_tasks: int
    n_proposals: int


class Crew:
    """Workers that hold the pieces of one batch."""

    def __init__(self, client: Client, pieces: list[SpreadPiece], n_features: int) -> None:
        self._client, self._n_features = client, n_features
        self._n_failures = 0
        self._magnitudes: Magnitudes | None = None
        self.seat(pieces)
        self.rounds: list[Round] = []

    @property
    def n_groups(self) -> int:
        """Number of portions in which a request is carried out."""
        return len(self._groups)

    def seat(self, pieces: list[SpreadPiece]) -> None:
        """Take pieces of the same rows in place of those so far, and tell the workers."""
        self._pieces, self._seating = pieces, uuid.uuid4().hex
        self._groups = group_pieces(self._client, pieces, self._n_features)
        seats: dict[str, list[Seat]] = {}
        for number, group in enumerate(self._groups):
            seats.setdefault(group.worker, []).append(_seat(number, group))
        seat_workers(self._client, self._seating, seats)

    def ask(self, task: Callable[..., Any], request: Request) -> list[Any]:
        """Have every group carry out a task; returns when all have answered."""
        began = time.perf_counter()
        with speaking_clearly():
            replies, n_bytes = self._call(task, request)
        self._note(request, task.__name__, time.perf_counter() - began, n_bytes, replies)
        return replies

    def sum_up(self, request: Request, columns: IntArray) -> tuple[FloatArray, IntArray]:
        """End the pass: bins of the slots with a column, and how many rows joined each slot."""
        began = time.perf_counter()
        with speaking_clearly():
            replies, n_bytes = self._call(sum_up, request, columns)
        self._note(request, "sum_up", time.perf_counter() - began, n_bytes, replies)
        return add_bins(replies), Moves.merged([reply.moves for reply in replies]).n_joined

    def magnitudes(self) -> Magnitudes:
        """Look at all rows once: what the units of sums follow from."""
        if self._magnitudes is None:
            parts = [
                self._client.submit(Magnitudes.of, p.info, p.points, p.weights, pure=False)
                for p in self._pieces
            ]
            with speaking_clearly():
                self._magnitudes = Magnitudes.merged(self._client.gather(parts))
        return self._magnitudes

    def _call(
        self, task: Callable[..., Any], request: Request, *extra: Any
    ) -> tuple[list[Any], int]:
        """Ask the workers that have the rows; what they leave undone is done as tasks."""
        message, workers = self._pack(request), {group.worker for group in self._groups}
        found, is_complete = call_workers(
            self._client, self._seating, workers, task.__name__, message, pickle.dumps(extra)
        )
        n_bytes = len(message) * len(workers)
        missing = [number for number in range(self.n_groups) if number not in found]
        if missing:
            logger.debug("groups %s are done as tasks", missing)
            if not is_complete:  # Somebody may still be at it; let nobody else touch what it has.
                self._n_failures += 1
                message = self._pack(request)
            groups = [self._groups[number] for number in missing]
            futures = [self._submit(task, message, group, extra) for group in groups]
            found |= zip(missing, self._client.gather(futures), strict=True)
            n_bytes += len(message) * len(missing)
            self.seat(self._pieces)
        return [found[number] for number in sorted(found)], n_bytes

    def _pack(self, request: Request) -> bytes:
        """What goes to the workers; after a failure they begin with an empty memory."""
        if self._n_failures:
            request = replace(request, run=f"{request.run}.{self._n_failures}")
        return pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)

    def _note(
        self,
        request: Request,
        kind: str,
        seconds: float,
        n_bytes: int,
        replies: list[Any],
    ) -> None:
        found = [getattr(reply, "proposals", None) for reply in replies]
        entry = Round(
            run=request.run,
            n_pass=request.n_pass,
            kind=kind,
            seconds=seconds,
            bytes_out=n_bytes,
            bytes_in=sum(map(count_bytes, replies)),
            n_tasks=len(replies),
            n_proposals=sum(len(proposals.keys) for proposals in found if proposals is not None),
        )
        self.rounds.append(entry)
        logger.debug("%s", entry)

    def _submit(
        self, task: Callable[..., Any], message: bytes, group: Group, extra: tuple[Any, ...]
    ) -> Future:
        pieces = group.pieces
        return self._client.submit(
            task,
            message,
            [piece.info for piece in pieces],
            [piece.points for piece in pieces],
            [piece.weights for piece in pieces],
            [piece.positions for piece in pieces],
            *extra,
            workers=[group.worker] if group.worker else None,
            allow_other_workers=bool(group.worker),
            pure=False,
        )

    def forget(self, step: str) -> None:
        """Let the workers drop what they remember of a step; nobody waits for it."""
        for worker in sorted({group.worker for group in self._groups if group.worker}):
            fire_and_forget(
                self._client.submit(
                    forget_step, step, workers=[worker], allow_other_workers=True, pure=False
                )
            )


def _seat(number: int, group: Group) -> Seat:
    def key(future: Future | None) -> Any:
        return None if future is None else future.key

    return Seat(
        number,
        [piece.info for piece in group.pieces],
        [key(piece.points) for piece in group.pieces],
        [key(piece.weights) for piece in group.pieces],
        [key(piece.positions) for piece in group.pieces],
    )


def count_bytes(value: Any) -> int:
    """Bytes of the arrays in a reply."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        return sum(count_bytes(getattr(value, field.name)) for field in fields(value))
    return 0
