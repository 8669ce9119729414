"""How the minimum is searched: visiting orders by their seed, and what follows Algorithm 2."""

from dataclasses import dataclass

from dynmeans.inputs.fields import one_of
from dynmeans.inputs.numbers import check_count

MAX_ORDERS = 10_000  # each is a run of Algorithm 2
SEARCHES = ("paper", "split", "deep")  # each goes on from where the one before it ends


def check_search(search: str) -> str:
    """Refuse a name that is no search."""
    one_of("search", search, SEARCHES)
    return search


@dataclass(frozen=True, slots=True)
class VisitingOrders:
    """The orders in which Algorithm 2 visits rows: by a keyed hash of their content.

    They do not depend on the order of the rows, and are the same in memory, on a GPU and on Dask.

    Attributes
    ----------
    seed : int
        The key, from 0 to 2**64 - 1. Each batch is seeded by this and its number.
    n_init : int
        Number of orders; the result of lowest cost is kept. A larger value takes proportionally
        longer.
    search : {"paper", "split", "deep"}
        Algorithm 2 only; then clear splits; or all moves of the deep search.

    See Also
    --------
    step : Takes them.
    DynamicMeans : Makes them from `random_state` and `n_init`.

    Examples
    --------
    >>> VisitingOrders(seed=7, n_init=3)
    VisitingOrders(seed=7, n_init=3, search='paper')
    """

    seed: int
    n_init: int = 1
    search: str = "paper"

    def __post_init__(self) -> None:
        """Refuse what is no key or no number of orders."""
        check_count("seed", self.seed, 0, 2**64 - 1)
        check_count("n_init", self.n_init, at_most=MAX_ORDERS)
        check_search(self.search)

    @property
    def depth(self) -> int:
        """What follows Algorithm 2: 0 nothing, 1 splits, 2 all moves."""
        return SEARCHES.index(self.search)
