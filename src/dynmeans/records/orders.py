"""Visiting orders by their seed: nobody has to hold or send the orders themselves."""

from dataclasses import dataclass
from numbers import Integral

BY = ("content", "row")
_STRIDE = 0xD1342543DE82EF95


@dataclass(frozen=True, slots=True)
class VisitingOrders:
    """In which orders Algorithm 2 visits the rows of each batch, by a keyed hash.

    The same on any machine; they are made where they are used, batch by batch.

    Attributes
    ----------
    entropy : int
        The key, from 0 to 2**64 - 1. With the number of the batch it seeds each batch by itself.
    n_init : int
        Orders to try; the one of lowest cost is kept.
    by : {"content", "row"}
        What is hashed: the values of a row, so that shuffled rows are visited in the same order;
        or its number, which a cluster of machines knows without looking at other rows.

    Examples
    --------
    >>> VisitingOrders(entropy=7, n_init=3)
    VisitingOrders(entropy=7, n_init=3, by='content')
    """

    entropy: int
    n_init: int = 1
    by: str = "content"

    def __post_init__(self) -> None:
        """Refuse what is no key or no number of orders."""
        for name, low, high in (("entropy", 0, 2**64 - 1), ("n_init", 1, 2**31 - 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral):
                raise TypeError(f"{name} must be an integer, got {value!r}.")
            if not low <= int(value) <= high:
                raise ValueError(f"{name} must be from {low} to {high}, got {value!r}.")
        if self.by not in BY:
            raise ValueError(f"by must be one of {', '.join(BY)}, got {self.by!r}.")

    def row_seed(self, n_steps: int) -> int:
        """Return the seed of the hash of row numbers for the batch after `n_steps` others."""
        return (self.entropy + n_steps * _STRIDE) % 2**64
