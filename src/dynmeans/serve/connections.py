"""Connections that are given up where a request does not come to its end, so that all have room."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 500
HEADER_SECONDS = 10.0
# A client that takes nothing of its answer for so long is given up. The system takes it from us in
# large steps, so that a slow client seems to stand still for a while.
READ_SECONDS = 30.0
EVENTS = "/api/stream"


class TimedConnection(H11Protocol):
    """Closes itself where the header of a request takes too long, or its answer is not read.

    Where there are too many connections, the one that has been without a whole header for longest
    makes room for the new one, or else the one that has not read its answer for longest, or the
    oldest that does not wait for events.
    """

    _opened = 0.0
    _timer: asyncio.TimerHandle | None = None
    _unread_since = 0.0  # 0 where nothing waits to be read
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Make room if there is none, and wait for the header."""
        has_room = len(self.connections) < MAX_CONNECTIONS - 1 or self._makes_room()
        super().connection_made(transport)
        if not has_room:
            self._give_up()
            return
        self._opened = self.loop.time()
        self._time_header()

    def _makes_room(self) -> bool:
        others: list[Any] = list(self.connections)
        if waiting := [one for one in others if one._is_waiting()]:
            min(waiting, key=lambda one: one._opened)._give_up()
        elif unread := [one for one in others if one._unread_since]:
            min(unread, key=lambda one: one._unread_since)._give_up()
        elif asking := [one for one in others if one.cycle.scope["path"] != EVENTS]:
            min(asking, key=lambda one: one._opened)._give_up()
        else:
            return False
        return True

    def data_received(self, data: bytes) -> None:
        """Take what came; a header that has begun must end in time."""
        super().data_received(data)
        self._time_header()

    def shutdown(self) -> None:
        """The server ends: readers of events, who would wait for more, are let go."""
        super().shutdown()
        if not self._is_waiting() and self.cycle.scope["path"] == EVENTS:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop_timer()
        self._stop_reading()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Check that the client continues to read."""
        super().pause_writing()
        self._unread_since = self.loop.time()
        self._reading = self.loop.call_later(0.0, self._time_reading)  # once all is written

    def resume_writing(self) -> None:
        """Most of the answer was read."""
        super().resume_writing()
        self._stop_reading()

    def _time_reading(self) -> None:
        n_unread = self.transport.get_write_buffer_size()
        self._reading = self.loop.call_later(READ_SECONDS, self._end_reading, n_unread)

    def _end_reading(self, n_unread: int) -> None:
        if self.transport.get_write_buffer_size() >= n_unread:
            self._give_up()
        else:
            self._time_reading()

    def _stop_reading(self) -> None:
        self._unread_since = 0.0
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

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
