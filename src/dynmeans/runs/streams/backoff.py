"""Connections that are made again after they broke, with pauses that grow."""

import logging
import random
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from dynmeans.runs.streams.addresses import Address

Connection = TypeVar("Connection")
Result = TypeVar("Result")
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 30.0  # seconds

_log = logging.getLogger(__name__)


class Backoff:
    """Pauses that double from 0.1 to 30 seconds, each shortened by up to a half at random."""

    def __init__(self, address: Address, stop: threading.Event, *, is_waiting: bool = True) -> None:
        self._address, self._stop, self._is_waiting = address, stop, is_waiting
        self._pause = FIRST_PAUSE

    def wait(self, error: object) -> None:
        """Log the reason, and wait."""
        pause = self._pause * random.uniform(0.5, 1.0)
        text = self.redact(error)
        if not self._is_waiting:
            _log.warning("%s cannot be reached: %s. Trying again later.", self._address, text)
            return
        _log.warning(
            "%s cannot be reached: %s. Trying again in %.1f s.", self._address, text, pause
        )
        self._stop.wait(pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def redact(self, error: object) -> str:
        """Return an error in one line, without secrets."""
        return " ".join(self._address.redact(error).split())[:300]

    def reset(self) -> None:
        """Begin with short pauses again: it worked."""
        self._pause = FIRST_PAUSE


class Connected(Generic[Connection]):
    """A connection, made when it is first needed and again after it broke."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        broken: Callable[[Exception], bool],
        close: Callable[[Connection], object],
        backoff: Backoff,
    ) -> None:
        self._connect, self._broken, self._close = connect, broken, close
        self._backoff = backoff
        self._connection: Connection | None = None

    def call(self, work: Callable[[Connection], Result]) -> Result | None:
        """Do something with the connection; None, after a pause, if it broke."""
        try:
            if self._connection is None:
                self._connection = self._connect()
            result = work(self._connection)
        except Exception as error:
            if not self._broken(error):
                if (message := self._backoff.redact(error)) != " ".join(str(error).split())[:300]:
                    raise ConnectionError(message) from None
                raise
            self.close()
            self._backoff.wait(error)
            return None
        self._backoff.reset()
        return result

    def close(self) -> None:
        """End the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                self._close(connection)
            except Exception as error:
                if not self._broken(error):
                    raise
