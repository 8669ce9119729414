"""The workers as one: a request to all of them, their replies in the order of the rows."""

import logging
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from distributed import Client, Future, fire_and_forget

from dynmeans.backends.distributed.clear_errors import speaking_clearly
from dynmeans.backends.distributed.layout import Group, SpreadPiece, group_pieces
from dynmeans.backends.distributed.messages import Request
from dynmeans.backends.distributed.worker_memory import forget_step

logger = logging.getLogger(__name__)

_LARGE = 2**18  # Bytes above which a request is sent once to each worker, not with each task.


@dataclass(frozen=True, slots=True)
class Round:
    """One request and its replies: what for, how long, and what crossed the network."""

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
        self._client, self._pieces, self._n_features = client, pieces, n_features
        self._groups = group_pieces(client, pieces, n_features)
        self.rounds: list[Round] = []

    @property
    def n_groups(self) -> int:
        """Number of tasks that a request makes."""
        return len(self._groups)

    def seat(self, pieces: list[SpreadPiece]) -> None:
        """Take pieces of the same rows in place of those so far."""
        self._pieces = pieces
        self._groups = group_pieces(self._client, pieces, self._n_features)

    def ask(self, task: Callable[..., Any], request: Request, *extra: Any) -> list[Any]:
        """Have every group carry out a task; returns when all have answered."""
        began = time.perf_counter()
        message = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        sent: bytes | Future = message
        with speaking_clearly():
            if len(message) > _LARGE:
                sent = self._client.scatter(message, broadcast=True, hash=False)
            futures = [self._submit(task, sent, group, extra) for group in self._groups]
            replies: list[Any] = self._client.gather(futures)
        seconds = time.perf_counter() - began
        self._note(request, task.__name__, seconds, len(message), replies)
        if any(r.worker != g.worker for r, g in zip(replies, self._groups, strict=True)):
            with speaking_clearly():
                self.seat(self._pieces)
        return replies

    def _note(
        self, request: Request, kind: str, seconds: float, n_bytes: int, replies: list[Any]
    ) -> None:
        found = [getattr(reply, "proposals", None) for reply in replies]
        entry = Round(
            run=request.run,
            n_pass=request.n_pass,
            kind=kind,
            seconds=seconds,
            bytes_out=n_bytes * len(replies),
            bytes_in=sum(map(count_bytes, replies)),
            n_tasks=len(replies),
            n_proposals=sum(len(proposals.keys) for proposals in found if proposals is not None),
        )
        self.rounds.append(entry)
        logger.debug("%s", entry)

    def _submit(
        self, task: Callable[..., Any], sent: bytes | Future, group: Group, extra: tuple[Any, ...]
    ) -> Future:
        pieces = group.pieces
        return self._client.submit(
            task,
            sent,
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


def count_bytes(value: Any) -> int:
    """Bytes of the arrays in a reply."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        return sum(count_bytes(getattr(value, field.name)) for field in fields(value))
    return 0
