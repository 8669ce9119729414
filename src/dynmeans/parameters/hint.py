"""About how many clusters a batch holds: a hint that is followed only where it helps."""

from typing import NamedTuple

_ABOUT = 1.5  # A number is met within this factor.
_TRUSTED = 2.2  # Within this factor of a hint the points know better how many there are.
_MUCH_FINER = 6.0  # families that share the points evenly, in units of those hinted at
_ONE, _MORE = 1.2, 1.5  # clusters in a batch


class Hint(NamedTuple):
    """Lowest and highest number of clusters that a batch may hold.

    With `is_joined` families will join clusters, and the number is one of families.
    """

    low: float
    high: float
    is_joined: bool

    def is_met(self, found: float) -> bool:
        """Whether so many clusters in a batch are about as many; too many may be joined.

        >>> Hint(4, 4, False).is_met(5), Hint(4, 4, False).is_met(9), Hint(4, 4, True).is_met(9)
        (True, False, True)
        """
        if self.is_joined:
            return not self.is_coarse(found)
        return self.low / _ABOUT <= found <= self.high * _ABOUT

    def is_coarse(self, found: float) -> bool:
        """Whether so many are far too few, or one where there should be more."""
        return found < self.low / _TRUSTED or (found < _ONE and self.low >= _MORE)

    def is_fine(self, found: float) -> bool:
        """Whether so many, counted by their shares of the points, are far too many."""
        return found > self.high * _MUCH_FINER

    def nearest(self, found: float) -> float:
        """The number to go to."""
        return self.low if found < self.low else self.high
