"""The one door to a step: a checked batch and a state in, a new state and its clustering out."""

from typing import Any

import numpy.typing as npt

from dynmeans.engine.batch import AnyBatch, Batch, prepare_batch
from dynmeans.engine.checks import check_elapsed, check_lengths
from dynmeans.engine.execution import DEFAULT, Execution, get_execution
from dynmeans.engine.guard import check_growth, foresee
from dynmeans.engine.native import step_if_small
from dynmeans.engine.orders import Orders, depth_of, take_orders
from dynmeans.inputs.input_error import InputError
from dynmeans.records.orders import SEARCHES, VisitingOrders, check_search
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState


def step_batch(
    batch: AnyBatch,
    state: ClusterState,
    penalties: Penalties,
    orders: Orders,
    elapsed: float = 1.0,
    execution: Execution = DEFAULT,
    search: str = "paper",
) -> tuple[ClusterState, Clustering]:
    """Cluster one checked batch (Algorithm 2, restarts and UpdateC); every caller uses it.

    `search` is for listed orders; a `VisitingOrders` has its own.
    """
    if penalties.is_on_sphere and depth_of(orders, search) > 0:
        rule = "must be 'paper' for centers on the unit sphere"
        raise InputError("search", rule, got=SEARCHES[depth_of(orders, search)])
    if type(batch) is Batch and execution.is_compiled:
        small = step_if_small(
            batch.points, batch.weights, state, penalties, orders, elapsed, search
        )
        if small is not None:
            check_growth(state, small[0], execution.max_clusters)
            return small
    foresee(batch, state, penalties, elapsed, execution)
    stepped: tuple[ClusterState, Clustering] = batch.engine(execution).step(
        batch, state, penalties, orders, elapsed, execution, search
    )
    check_growth(state, stepped[0], execution.max_clusters)
    return stepped


def step(
    points: Any,
    state: ClusterState,
    penalties: Penalties,
    *,
    orders: npt.ArrayLike | VisitingOrders,
    elapsed: float = 1.0,
    sample_weight: Any = None,
    search: str | None = None,
    backend: str = "native",
    acceleration: str = "auto",
    n_threads: int | None = None,
    max_clusters: int | None = None,
) -> tuple[ClusterState, Clustering]:
    """Cluster one batch, given the remembered clusters (Algorithm 2 of [1]_, and UpdateC).

    Nothing is modified in place: a new state is returned. A state does not store a feature space:
    the points must be in the same space as its centers; a `Memory` stores both.

    Parameters
    ----------
    points : array-like of shape (n_points, n_features)
        Y_t. An empty batch, of shape (0, n_features), only lets time pass. A Dask array, a Dask
        data frame of numeric columns or a list of futures of either kind of chunk is clustered
        where it lies; its labels come back as a Dask array in the same chunks.
    state : ClusterState
        C_t, from the previous step or `ClusterState.empty`.
    penalties : Penalties
        lambda, Q and tau, and the revival rule.
    orders : array-like of int of shape (n_init, n_points), or VisitingOrders
        Visiting orders, each a permutation of the rows. Each is one run from nothing; the run
        of lowest cost is kept, the first of equals. `VisitingOrders(seed, n_init)` stands for
        orders by a hash, which are made where they are used.
    elapsed : float
        Steps since the previous batch; greater than 0.
    sample_weight : array-like of shape (n_points,), optional
        A point of weight 2 counts as two identical points. One of weight 0 takes no part, and
        is labeled as `DynamicMeans.predict` would.
    search : {"paper", "split", "deep"}, optional
        For listed orders: Algorithm 2 only (default), then splits of clusters that clearly contain
        two groups, or all moves of groups of points. A `VisitingOrders` has its own setting.
    backend, acceleration, n_threads
        How the step is run, as in `DynamicMeans`; any choice gives the same bits.
    max_clusters : int, optional
        Maximum number of remembered clusters, as in `DynamicMeans`.

    Returns
    -------
    state : ClusterState
        C_{t+1}.
    clustering : Clustering
        Identities of the points, the active clusters, and the cost.

    See Also
    --------
    DynamicMeans : The estimator, which keeps the state.
    ClusterState : The remembered clusters.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

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
    execution = get_execution(backend, acceleration, n_threads, max_clusters)
    if search is None:
        search = "paper"
    elif isinstance(orders, VisitingOrders):
        raise ValueError("search is for listed orders: give it to VisitingOrders instead.")
    check_search(search)
    if execution.is_compiled:
        small = step_if_small(points, sample_weight, state, penalties, orders, elapsed, search)
        if small is not None:
            check_growth(state, small[0], max_clusters)
            return small
    if not isinstance(state, ClusterState):
        raise TypeError(f"state must be a ClusterState, got {type(state).__name__}.")
    if not isinstance(penalties, Penalties):
        raise TypeError(f"penalties must be a Penalties, got {type(penalties).__name__}.")
    elapsed = check_elapsed(elapsed)
    batch = prepare_batch(points, sample_weight, state.n_features, execution=execution)
    if penalties.is_on_sphere:
        check_lengths(batch)
    visits = take_orders(orders, batch.n_points)
    return step_batch(batch, state, penalties, visits, elapsed, execution, search)
