"""The workers as one: a request to all of them, their replies in the order of the rows."""

import logging
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from distributed import Client, Future, fire_and_forget

from dynmeans.algorithm.sums import BLOCK
from dynmeans.backends.distributed.block_sums import (
    MOST_BYTES_HERE,
    add_blocks,
    share_adding,
    without_sums,
)
from dynmeans.backends.distributed.clear_errors import speaking_clearly
from dynmeans.backends.distributed.layout import Group, SpreadPiece, group_pieces
from dynmeans.backends.distributed.messages import Moves, Request
from dynmeans.backends.distributed.worker import sum_up
from dynmeans.backends.distributed.worker_memory import forget_step
from dynmeans.records.arrays import IntArray

logger = logging.getLogger(__name__)

# Bytes above which a request goes from worker to worker, not with each task: of one, of all.
_LARGE, _LARGE_IN_ALL = 2**18, 2**22
_MOST_SHARES = 32  # Each makes a task for every group.


@dataclass(frozen=True, slots=True)
class Round:
    """One request and its replies: what for, how long, and what crossed the network.

    `bytes_out` and `bytes_in` are the client's; `bytes_between` went from worker to worker, or
    to the same one.
    """

    run: str
    n_pass: int
    kind: str
    seconds: float
    bytes_out: int
    bytes_in: int
    bytes_between: int
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

    def ask(self, task: Callable[..., Any], request: Request) -> list[Any]:
        """Have every group carry out a task; returns when all have answered."""
        began = time.perf_counter()
        with speaking_clearly():
            futures, n_bytes = self._send(task, request)
            replies: list[Any] = self._client.gather(futures)
        self._note(request, task.__name__, time.perf_counter() - began, n_bytes, replies)
        self._follow(replies)
        return replies

    def sum_up(self, request: Request, columns: IntArray, n_rows: int) -> tuple[Any, IntArray]:
        """End the pass: totals of the slots with a column, and how many rows joined each slot."""
        began, n_columns = time.perf_counter(), int(columns.max(initial=-1)) + 1
        with speaking_clearly():
            futures, n_bytes = self._send(sum_up, request, columns)
            n_sums = -(-n_rows // BLOCK) * n_columns * (1 + self._n_features)
            if 8 * n_sums <= MOST_BYTES_HERE:
                replies = self._client.gather(futures)
                totals, n_between = add_blocks(replies), 0
            else:
                n_workers = len({group.worker for group in self._groups})
                n_shares = min(n_columns, n_workers, _MOST_SHARES)
                shares = share_adding(self._client, futures, n_columns, n_shares)
                small = [self._client.submit(without_sums, part, pure=False) for part in futures]
                found = self._client.gather([*shares, *small])
                totals = np.concatenate([share.totals for share in found[:n_shares]])
                n_between = sum(share.n_bytes for share in found[:n_shares])
                replies = found[n_shares:]
        self._note(request, "sum_up", time.perf_counter() - began, n_bytes, replies, n_between)
        self._follow(replies)
        return totals, Moves.merged([reply.moves for reply in replies]).n_joined

    def _send(
        self, task: Callable[..., Any], request: Request, *extra: Any
    ) -> tuple[list[Future], int]:
        message = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        sent: bytes | Future = message
        if len(message) > _LARGE or len(message) * self.n_groups > _LARGE_IN_ALL:
            sent = self._client.scatter(message, broadcast=True, hash=False)
        return [self._submit(task, sent, group, extra) for group in self._groups], len(message)

    def _follow(self, replies: list[Any]) -> None:
        """Look anew where the rows lie, if another worker than expected has answered."""
        if any(r.worker != g.worker for r, g in zip(replies, self._groups, strict=True)):
            with speaking_clearly():
                self.seat(self._pieces)

    def _note(
        self,
        request: Request,
        kind: str,
        seconds: float,
        n_bytes: int,
        replies: list[Any],
        n_between: int = 0,
    ) -> None:
        found = [getattr(reply, "proposals", None) for reply in replies]
        entry = Round(
            run=request.run,
            n_pass=request.n_pass,
            kind=kind,
            seconds=seconds,
            bytes_out=n_bytes * len(replies),
            bytes_in=sum(map(count_bytes, replies)),
            bytes_between=n_between,
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
