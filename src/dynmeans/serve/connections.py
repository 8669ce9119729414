"""Connections that are given up where a request does not come to its end, so that all have room."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 500
HEADER_SECONDS = 10.0


class TimedConnection(H11Protocol):
    """Closes itself where the header of a request takes too long.

    Where there are too many connections, the one that has been without a whole header for longest
    makes room for the new one.
    """

    _opened = 0.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Make room if there is none, and wait for the header."""
        if len(self.connections) >= MOST_CONNECTIONS - 1:
            others: list[Any] = list(self.connections)
            if waiting := [one for one in others if one._is_waiting()]:
                min(waiting, key=lambda one: one._opened)._give_up()
        super().connection_made(transport)
        self._opened = self.loop.time()
        self._time_header()

    def data_received(self, data: bytes) -> None:
        """Take what came; a header that has begun must end in time."""
        super().data_received(data)
        self._time_header()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop_timer()
        super().connection_lost(exc)

    def _is_waiting(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _time_header(self) -> None:
        if not self._is_waiting():
            self._stop_timer()
        elif self._timer is None and self.timeout_keep_alive_task is None:
            self._timer = self.loop.call_later(HEADER_SECONDS, self._end_header)

    def _end_header(self) -> None:
        self._timer = None
        if self._is_waiting():
            self._give_up()

    def _give_up(self) -> None:
        self.connections.discard(self)
        self.transport.abort()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
