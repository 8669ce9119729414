"""Visiting orders that need no list of rows."""

from dataclasses import dataclass
from numbers import Integral

_STRIDE = 0xD1342543DE82EF95


@dataclass(frozen=True, slots=True)
class HashOrders:
    """Visit the rows in the order of a keyed hash of their numbers.

    The same on any machine and for any arrangement of chunks; nobody has to hold or send the
    order itself. A batch on a cluster is visited like this.

    Attributes
    ----------
    seed : int
        From 0 to 2**64 - 1.
    n_init : int
        Orders to try; the one of lowest cost is kept.

    Examples
    --------
    >>> HashOrders(seed=7, n_init=3)
    HashOrders(seed=7, n_init=3)
    """

    seed: int
    n_init: int = 1

    @classmethod
    def for_step(cls, entropy: int, n_steps: int, n_init: int) -> "HashOrders":
        """Seed every batch by itself, as native/visiting_orders.hpp does."""
        return cls((entropy + n_steps * _STRIDE) % 2**64, n_init)

    def __post_init__(self) -> None:
        """Refuse what is no seed or no number of orders."""
        for name, low, high in (("seed", 0, 2**64 - 1), ("n_init", 1, 2**31 - 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral):
                raise TypeError(f"{name} must be an integer, got {value!r}.")
            if not low <= int(value) <= high:
                raise ValueError(f"{name} must be from {low} to {high}, got {value!r}.")
