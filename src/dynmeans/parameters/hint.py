"""About how many clusters a batch holds: a hint that is followed only where it helps."""

from typing import NamedTuple

from dynmeans.inputs.argument_text import ArgumentText

_ABOUT = 4 / 3  # A number is met within a third.


class Hint(NamedTuple):
    """Lowest and highest number of clusters that a batch may hold.

    With `is_joined` families will join clusters, and the number is one of families.
    """

    low: float
    high: float
    is_joined: bool

    def is_near(self, found: float) -> bool:
        """Whether this number of clusters in a batch is the requested one, within a third.

        >>> Hint(4, 6, False).is_near(7.9), Hint(4, 6, False).is_near(8.1)
        (True, False)
        """
        return not (self.is_coarse(found) or self.is_fine(found))

    def is_coarse(self, found: float) -> bool:
        """Whether this number is too few by more than a third."""
        return found < self.low / _ABOUT

    def is_fine(self, found: float) -> bool:
        """Whether this number is too many by more than a third."""
        return found > self.high * _ABOUT

    def is_met(self, found: float) -> bool:
        """Whether this number of clusters in a batch is acceptable; too many may be joined.

        >>> Hint(4, 4, False).is_met(5), Hint(4, 4, False).is_met(9), Hint(4, 4, True).is_met(9)
        (True, False, True)
        """
        return self.is_near(found) or (self.is_joined and found > self.low)

    def render(self, found: float, batch: str = "window") -> ArgumentText | None:
        """Return the remedy if another number was found, though close to the hint.

        Examples
        --------
        >>> print(Hint(4, 4, False).render(4.98))
        You requested about 4 clusters per window; the result has 4.98. \
families=True and result.families.cut_to(4) merges the nearest.
        """
        if self.low <= round(found) <= self.high:
            return None
        asked = self.nearest(found)
        way = f"{{n_families={asked:g}}} merges the nearest."
        if found < asked:
            way = "Use a smaller {new_penalty} to get more."
        rule = f"You requested about {{:g}} clusters per {batch}; the result has {{:.3g}}. {way}"
        return ArgumentText(rule, asked, found)

    def compare(self, found: float, batch: str = "window") -> ArgumentText | None:
        """Return the remedy if merged clusters are over a third more or fewer than requested.

        Examples
        --------
        >>> print(Hint(4, 4, True).compare(2.5))
        You requested about 4 clusters per window; the result has 2.5. \
Use level='fine' or a smaller new_penalty to get more.
        >>> Hint(4, 4, True).compare(5) is None
        True
        """
        if self.is_near(found):
            return None
        way = "Use {level='fine'} or a smaller {new_penalty} to get more."
        if self.is_fine(found):
            way = "{level='coarse'} merges more of them; {min_cluster_size} drops small ones."
        rule = f"You requested about {{:g}} clusters per {batch}; the result has {{:.3g}}. {way}"
        return ArgumentText(rule, self.nearest(found), found)

    def nearest(self, found: float) -> float:
        """The number to go to."""
        return self.low if found < self.low else self.high
