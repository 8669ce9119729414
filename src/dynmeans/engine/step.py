"""The functional core: one batch and a state in, a new state and its clustering out."""

from numbers import Integral
from typing import Any

import numpy.typing as npt

from dynmeans.algorithm.assign_labels import REVIVAL_RULES
from dynmeans.engine import ACCELERATIONS, get_backend
from dynmeans.engine.batch import checked_elapsed, checked_orders, checked_points, checked_weights
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask_batches import is_spread, spread_backend
from dynmeans.records.arrays import IntArray
from dynmeans.records.orders import HashOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

MAX_THREADS = 1024


def step(
    points: Any,
    state: ClusterState,
    penalties: Penalties,
    *,
    orders: npt.ArrayLike | HashOrders,
    elapsed: float = 1.0,
    sample_weight: Any = None,
    revival: str = "paper",
    backend: str = "native",
    acceleration: str = "auto",
    n_threads: int | None = None,
) -> tuple[ClusterState, Clustering]:
    """Cluster one batch given what is remembered (Algorithm 2, restarts and UpdateC).

    Nothing is changed in place: the state that comes back is a new value, and the arrays you
    gave stay yours.

    Parameters
    ----------
    points : array-like of shape (n_points, n_features)
        Y_t. An empty batch, of shape (0, n_features), only lets time pass. A Dask array, a Dask
        data frame of numeric columns or a list of futures of either kind of chunk is clustered
        where it lies; its labels come back as a Dask array in the same chunks.
    state : ClusterState
        C_t, from the previous step or `ClusterState.empty`.
    penalties : Penalties
        lambda, Q and tau.
    orders : array-like of int of shape (n_init, n_points)
        Visiting orders, each a permutation of the rows. Each is one run from nothing; the run
        of lowest cost is kept, the first of equals. `HashOrders(seed, n_init)` stands for orders
        by a hash of the row numbers, which no machine has to know as a whole.
    elapsed : float
        Steps of time since the previous batch; greater than 0.
    sample_weight : array-like of shape (n_points,), optional
        A point of weight 2 counts as two identical points. One of weight 0 takes no part, and
        is labelled as `DynamicMeans.predict` would.
    revival : {"paper", "exact"}
        The cost of reviving a cluster: equation 5 of the paper, or the true rise of the cost.
    backend : {"native", "reference"}
        Compiled code, or the specification in NumPy. Both give the same labels.
    acceleration : {"auto", "none"}
        Whether the compiled code may leave out comparisons that cannot change a label, or visits
        every point in every pass. Both give the same bits.
    n_threads : int, optional
        Threads of the compiled code: by default all cores for large batches, one for small
        ones. Any number gives the same bits.

    Returns
    -------
    state : ClusterState
        C_{t+1}.
    clustering : Clustering
        Identities of the points, the active clusters, and the cost.

    Examples
    --------
    >>> import numpy as np
    >>> from dynmeans import ClusterState, Penalties, step
    >>> penalties = Penalties(1.0, max_gap=5, reach=1.5)
    >>> state = ClusterState.empty(n_features=1)
    >>> state, first = step([[0.0], [0.2], [5.0]], state, penalties, orders=[[0, 1, 2]])
    >>> state, second = step([[5.3], [0.4]], state, penalties, orders=[[0, 1]])
    >>> first.labels.tolist(), second.labels.tolist()
    ([0, 0, 1], [1, 0])
    """
    check_types(state, penalties)
    check_revival(revival)
    runner = get_backend(backend)
    elapsed = checked_elapsed(elapsed)
    if is_spread(points):
        return _step_on_cluster(
            points, state, penalties, orders, elapsed, sample_weight, revival, backend
        )
    rows = checked_points(points, state.n_features)
    weights = checked_weights(sample_weight, len(rows))
    visits = _listed(orders, len(rows))
    check_way(acceleration, n_threads)
    return runner.step(
        rows,
        state,
        penalties,
        visits,
        elapsed,
        weights,
        revival,
        acceleration=acceleration,
        n_threads=n_threads,
    )


def _listed(orders: npt.ArrayLike | HashOrders, n_points: int) -> IntArray:
    if isinstance(orders, HashOrders):
        return compiled.hash_orders(n_points, orders.seed, orders.n_init).view("int64")
    return checked_orders(orders, n_points)


def _step_on_cluster(
    points: Any,
    state: ClusterState,
    penalties: Penalties,
    orders: npt.ArrayLike | HashOrders,
    elapsed: float,
    sample_weight: Any,
    revival: str,
    backend: str,
) -> tuple[ClusterState, Clustering]:
    runner = spread_backend(backend)
    batch = runner.take_batch(points, sample_weight, state.n_features)
    visits = orders if isinstance(orders, HashOrders) else checked_orders(orders, batch.n_rows)
    result: tuple[ClusterState, Clustering] = runner.step(
        batch, state, penalties, visits, elapsed, revival
    )
    return result


def check_types(state: object, penalties: object) -> None:
    """Refuse records of another type before anything reads their fields."""
    if not isinstance(state, ClusterState):
        raise TypeError(f"state must be a ClusterState, got {type(state).__name__}.")
    if not isinstance(penalties, Penalties):
        raise TypeError(f"penalties must be a Penalties, got {type(penalties).__name__}.")


def check_revival(revival: object) -> None:
    """Refuse an unknown revival rule."""
    if revival not in REVIVAL_RULES:
        raise ValueError(f"revival must be one of {', '.join(REVIVAL_RULES)}, got {revival!r}.")


def check_way(acceleration: object, n_threads: object) -> None:
    """Refuse an unknown acceleration or an impossible number of threads."""
    if acceleration not in ACCELERATIONS:
        raise ValueError(
            f"acceleration must be one of {', '.join(ACCELERATIONS)}, got {acceleration!r}."
        )
    if n_threads is None:
        return
    if isinstance(n_threads, bool) or not isinstance(n_threads, Integral):
        raise TypeError(f"n_threads must be an integer or None, got {n_threads!r}.")
    if not 1 <= int(n_threads) <= MAX_THREADS:
        raise ValueError(f"n_threads must be from 1 to {MAX_THREADS}, got {n_threads!r}.")
