"""Closing: what is used in a ``with`` block and closed at its end."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """Something that holds files until it is closed."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held; safe to call twice."""

    def __enter__(self) -> Self:
        """Begin a ``with`` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close at its end."""
        self.close()
