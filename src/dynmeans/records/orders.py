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
    """In which orders Algorithm 2 visits the rows of each batch: by a keyed hash of their content.

    The same in memory, on a GPU and on a Dask cluster, in whatever order the rows come. The orders
    are computed where they are used, batch by batch.

    Attributes
    ----------
    seed : int
        The key, from 0 to 2**64 - 1. With the number of the batch it seeds each batch by itself.
    n_init : int
        Orders to try; the one of lowest cost is kept.
    search : {"paper", "split", "deep"}
        Whether the search ends with Algorithm 2, splits what is plainly two, or makes all moves.

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
