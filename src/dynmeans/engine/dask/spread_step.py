"""One step of Algorithm 1 over a cluster: all restarts, names of the clusters, UpdateC."""

import uuid
from dataclasses import replace

import dask.array as da
import numpy as np

from dynmeans.algorithm.assign_labels import revival_costs
from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.algorithm.cluster import NO_FALL, Solution
from dynmeans.algorithm.update_state import let_time_pass, update_state
from dynmeans.engine import native
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.clear_errors import speaking_clearly
from dynmeans.engine.dask.crew import Crew, Round
from dynmeans.engine.dask.layout import SpreadPiece, cut_into_pieces, with_positions
from dynmeans.engine.dask.messages import Request
from dynmeans.engine.dask.pass_log import KeyArray
from dynmeans.engine.dask.spread_batch import DaskBatch
from dynmeans.engine.dask.spread_cluster import SpreadOrder, SpreadRun, SpreadSolution
from dynmeans.engine.dask.spread_labels import pack_names, spread_labels
from dynmeans.engine.dask.spread_pass import Remembered
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.records.arrays import IntArray
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState


def step(
    batch: DaskBatch,
    state: ClusterState,
    penalties: Penalties,
    orders: VisitingOrders | IntArray,
    elapsed: float,
    execution: Execution = DEFAULT,
) -> tuple[ClusterState, Clustering]:
    """Cluster a batch that lies on a Dask cluster; its labels stay there.

    `orders` may be given row by row too: each row is then sent its place.
    """
    with speaking_clearly():
        return step_with_rounds(batch, state, penalties, orders, elapsed)[:2]


def step_with_rounds(
    batch: DaskBatch,
    state: ClusterState,
    penalties: Penalties,
    orders: VisitingOrders | IntArray,
    elapsed: float,
) -> tuple[ClusterState, Clustering, list[Round]]:
    """The same, and what crossed the network."""
    if batch.n_points == 0:
        return _let_time_pass(batch, state, penalties, elapsed)
    arrived, name = let_time_pass(state, elapsed, penalties), uuid.uuid4().hex
    remembered = remember(arrived, penalties)
    pieces = cut_into_pieces(batch)
    crew = Crew(batch.client, pieces, batch.n_features)
    best: tuple[SpreadSolution, list[SpreadPiece]] | None = None
    for number, (seed, positions) in enumerate(keys_of(orders, state.n_steps)):
        if positions is not None:
            pieces = with_positions(batch.client, pieces, positions)
            crew.seat(pieces)
        n_keys = 2**64 if positions is None else batch.n_points
        order = SpreadOrder(f"{name}/{number}", seed, n_keys)
        kept = () if best is None else (best[0].order.run,)
        run = SpreadRun(crew, batch.n_points, remembered, penalties.new_penalty, order, kept)
        found = run.cluster()
        # The first of equals is kept: a later one must be lower.
        if best is None or found.cost_trace[-1] < best[0].cost_trace[-1] * (1.0 - NO_FALL):
            best = found, pieces
    assert best is not None, "there is at least one order"
    solution, pieces = best
    after = update_state(_without_labels(solution), arrived, state.centers, penalties, elapsed)
    clustering = _name(batch, pieces, solution, arrived, after, penalties)
    crew.forget(name)
    return after, clustering, crew.rounds


def remember(arrived: ClusterState, penalties: Penalties) -> Remembered:
    """C_t as the arriving batch sees it."""
    costs = revival_costs(arrived, penalties)
    gamma = prior_weights(arrived, penalties)
    return Remembered(arrived.centers, gamma, costs.offsets, costs.scales)


def keys_of(orders: VisitingOrders | IntArray, n_steps: int) -> list[tuple[int, KeyArray | None]]:
    """For each restart the seed of its keys, or the place of each row."""
    if isinstance(orders, VisitingOrders):
        seeds = compiled.order_seeds(orders.row_seed(n_steps), orders.n_init)
        return [(int(seed), None) for seed in seeds]
    places = np.empty(orders.shape, dtype=np.uint64)
    np.put_along_axis(places, orders, np.arange(orders.shape[1], dtype=np.uint64)[None, :], axis=1)
    return [(0, row) for row in places]


def _name(
    batch: DaskBatch,
    pieces: list[SpreadPiece],
    solution: SpreadSolution,
    arrived: ClusterState,
    after: ClusterState,
    penalties: Penalties,
) -> Clustering:
    """Identities for slots."""
    counts, centers, trace = solution.counts, solution.centers, solution.cost_trace
    n_new = len(counts) - arrived.n_clusters
    ids = np.concatenate([arrived.ids, arrived.next_id + np.arange(n_new)])
    request = Request(
        run=solution.order.run,
        seed=solution.order.seed,
        new_penalty=penalties.new_penalty,
        sums=(),
        n_pass=solution.n_passes + 1,
        settled=solution.log,
        log=solution.log,
        has_moved=np.empty(0, dtype=np.uint8),
        settle=0,
        propose=None,
        limit=0,
        kept_runs=(),
    )
    message = pack_names(request, ids, after, penalties)
    labels = spread_labels(batch.client, pieces, batch.sizes, message)
    seen = counts > 0
    return Clustering(
        labels=labels,
        ids=ids[seen],
        counts=counts[seen] if batch.weights is not None else counts[seen].astype(np.int64),
        centers=centers[seen],
        cost=trace[-1],
        n_iter=len(trace),
        cost_trace=np.array(trace),
    )


def _without_labels(solution: SpreadSolution) -> Solution:
    """What UpdateC asks for; the labels are elsewhere."""
    nowhere = np.empty(0, dtype=np.int64)
    return Solution(nowhere, solution.counts, solution.centers, solution.cost_trace)


def _let_time_pass(
    batch: DaskBatch, state: ClusterState, penalties: Penalties, elapsed: float
) -> tuple[ClusterState, Clustering, list[Round]]:
    """An empty batch needs no cluster."""
    nobody = np.empty((1, 0), dtype=np.int64)
    weights = None if batch.weights is None else np.empty(0)
    rows = Batch(np.empty((0, state.n_features)), weights)
    after, clustering = native.step(rows, state, penalties, nobody, elapsed, DEFAULT)
    labels = da.empty(0, dtype=np.int64, chunks=(tuple(batch.sizes),))
    return after, replace(clustering, labels=labels), []
