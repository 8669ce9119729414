"""One step of Algorithm 1 over a cluster: all restarts, identities of the clusters, UpdateC."""

import operator
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import dask.array as da
import numpy as np
from distributed import Future

from dynmeans.algorithm.cluster import NO_FALL
from dynmeans.algorithm.update_state import advance_time, update_state
from dynmeans.engine import native
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.assign_labels import PassRequests, Remembered
from dynmeans.engine.dask.batch import DaskBatch
from dynmeans.engine.dask.cluster import DaskSolution, cluster
from dynmeans.engine.dask.gather_step import step_on_client
from dynmeans.engine.dask.messages import Labeling, OrderRun
from dynmeans.engine.dask.piece import Piece
from dynmeans.engine.dask.splits import search_splits
from dynmeans.engine.dask.turns import END, ROOM, Words
from dynmeans.engine.dask.workers import Round, Workers, lost_cluster_errors, order_key, wait_for
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.engine.orders import depth_of
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.orders import SEARCHES, VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState


def step(
    batch: DaskBatch,
    state: ClusterState,
    penalties: Penalties,
    orders: VisitingOrders | IntArray,
    elapsed: float,
    execution: Execution = DEFAULT,
    search: str = "paper",
) -> tuple[ClusterState, Clustering]:
    """Cluster a batch that lies on a Dask cluster; its labels stay there.

    `orders` may be given row by row too: each row is then sent its place. All moves of sets, and
    splits in such orders, are searched here, with all rows.
    """
    with lost_cluster_errors():
        depth = depth_of(orders, search) if batch.n_points else 0
        is_gathered = depth > (1 if isinstance(orders, VisitingOrders) else 0)
        if is_gathered:
            return step_on_client(batch, state, penalties, orders, elapsed, SEARCHES[depth])
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
        return _step_over_nothing(batch, state, penalties, elapsed)
    found = _Found.of(batch, state, penalties, orders, elapsed)
    return *found.to_clustering(batch, state, penalties, elapsed), found.rounds


@dataclass(frozen=True, slots=True)
class _Found:
    """What a step comes to; and, where the rows are, their places and labels of a first pass."""

    arrived: ClusterState
    best: DaskSolution
    positions: list[Future]
    followed: list[Future]
    rounds: list[Round]

    @classmethod
    def of(
        cls,
        batch: DaskBatch,
        state: ClusterState,
        penalties: Penalties,
        orders: VisitingOrders | IntArray,
        elapsed: float,
    ) -> "_Found":
        """Run Algorithm 2 once for each order; splits follow the cheapest, in the last order."""
        arrived = advance_time(state, elapsed, penalties)
        remembered = Remembered(arrived, penalties)
        sums = sum_facts(batch.magnitudes, batch.n_points, batch.is_weighted, remembered)
        sizes = [sum(info.n_rows for info in infos) for infos in batch.chunks]
        workers = Workers(batch.client, batch.name, batch.pieces, sizes)
        best: DaskSolution | None = None
        best_positions, best_followed = list[Future](), list[Future]()
        for number, (run, places) in enumerate(runs_of(orders, state, penalties, sums)):
            positions = []
            if places is not None:
                positions = _send_positions(batch, places, str(number))
                workers.visit_by(str(number), positions)
            kept = () if best is None else (best.labeling.run.name,)
            requests = PassRequests.of(workers, batch.n_points, remembered, run, kept)
            found = cluster(requests)
            # The first of equals is kept: a later one must be lower.
            if best is None or found.cost < best.cost * (1.0 - NO_FALL):
                best, best_positions, best_followed = found, positions, workers.followed
        assert best is not None, "there is at least one order"
        if isinstance(orders, VisitingOrders) and orders.depth == 1:
            best = split_further(requests, best, run)
        return cls(arrived, best, best_positions, best_followed, workers.rounds)

    def to_clustering(
        self, batch: DaskBatch, state: ClusterState, penalties: Penalties, elapsed: float
    ) -> tuple[ClusterState, Clustering]:
        """Return the state after it, and the clusters by their identities."""
        best, arrived = self.best, self.arrived
        after = update_state(best.counts, best.centers, arrived, state.centers, penalties, elapsed)
        rule = after, penalties
        return after, _name_clusters(batch, best, (self.positions, self.followed), arrived, rule)


def split_further(requests: PassRequests, best: DaskSolution, last_order: OrderRun) -> DaskSolution:
    """Split sets of the cheapest run; the passes that follow are in the last order."""
    run, order = best.labeling.run, best.labeling.run
    if run.seed != last_order.seed:
        order = replace(last_order, name=uuid.uuid4().hex)
    return search_splits(replace(requests, kept_runs=(run.name,)), best, order)


def sum_facts(
    magnitudes: tuple[FloatArray, float, float],
    n_points: int,
    is_weighted: bool,
    remembered: Remembered,
) -> tuple[Any, ...]:
    """What the units of all sums follow from (native/algorithm/batch_sums.hpp)."""
    farthest, lightest, heaviest = magnitudes
    farthest = np.maximum(farthest, np.abs(remembered.state.centers).max(axis=0, initial=0.0))
    new_penalty = remembered.penalties.new_penalty
    return farthest, lightest, heaviest, n_points, is_weighted, new_penalty


def runs_of(
    orders: VisitingOrders | IntArray,
    state: ClusterState,
    penalties: Penalties,
    sums: tuple[Any, ...],
) -> Iterator[tuple[OrderRun, Words | None]]:
    """Yield the run of each order; with the place of each row, where the order was given."""
    new_penalty = penalties.new_penalty
    if isinstance(orders, VisitingOrders):
        hashed_by = orders.seed, state.n_steps
        seeds = compiled.order_seeds(*hashed_by, state.n_features, orders.n_init)
        for seed in seeds.tolist():
            yield OrderRun(uuid.uuid4().hex, seed, hashed_by, END, new_penalty, sums), None
        return
    n_points = orders.shape[1]
    for order in orders:
        places = np.empty(n_points, dtype=np.uint64)
        places[order] = np.arange(n_points, dtype=np.uint64)
        end = n_points * ROOM
        yield OrderRun(uuid.uuid4().hex, 0, None, end, new_penalty, sums), places


def _send_positions(batch: DaskBatch, places: Words, order: str) -> list[Future]:
    """Give each piece the place of its rows in a visiting order that the caller made."""
    client = batch.client
    sent = da.from_array(places, chunks=(tuple(batch.sizes),)).to_delayed(optimize_graph=False)
    chunks = client.compute(sent.tolist(), optimize_graph=False)
    return [
        client.submit(
            _colocate_positions,
            piece,
            [chunks[info.number] for info in infos],
            key=order_key(batch.name, number, order),
        )
        for number, (piece, infos) in enumerate(zip(batch.pieces, batch.chunks, strict=True))
    ]


def _colocate_positions(piece: Piece, places: list[Words]) -> Words:
    """Where the piece is; it is given so that Dask runs this there."""
    return np.concatenate(places)


def _name_clusters(
    batch: DaskBatch,
    solution: DaskSolution,
    beside: tuple[list[Future], list[Future]],
    arrived: ClusterState,
    rule: tuple[ClusterState, Penalties],
) -> Clustering:
    """Identities for slots."""
    counts, centers, trace = solution.counts, solution.centers, solution.cost_trace
    n_new, seen = len(counts) - arrived.n_clusters, counts > 0
    ids = np.concatenate([arrived.ids, arrived.next_id + np.arange(n_new)])
    return Clustering(
        labels=_name_rows(batch, solution.labeling, beside, ids, rule),
        ids=ids[seen],
        counts=counts[seen] if batch.is_weighted else counts[seen].astype(np.int64),
        centers=centers[seen],
        cost=trace[-1],
        n_iter=len(trace),
        cost_trace=np.array(trace),
        execution="dask",
    )


def _name_rows(
    batch: DaskBatch,
    labeling: Labeling,
    beside: tuple[list[Future], list[Future]],
    ids: IntArray,
    rule: tuple[ClusterState, Penalties],
) -> da.Array:
    """Have every worker label its rows, and leave the labels there."""
    client, name = batch.client, f"labels-{uuid.uuid4().hex}"
    message = client.submit(_identity, (labeling, ids, rule), pure=False)
    found = [
        client.submit(
            _label_piece, message, piece, *(own[n] if own else None for own in beside), pure=False
        )
        for n, piece in enumerate(batch.pieces)
    ]
    wait_for(found)
    nobody = np.empty(0, dtype=np.int64)
    graph: dict[Any, Any] = {(name, n): nobody for n in range(len(batch.sizes))}
    for labels, infos in zip(found, batch.chunks, strict=True):
        for place, info in enumerate(infos):
            graph[name, info.number] = (operator.getitem, labels, place)
    return da.Array(graph, name, (tuple(batch.sizes),), dtype=np.int64)


def _label_piece(
    message: Any, piece: Piece, positions: Words | None, followed: Any
) -> list[IntArray]:
    """Identities of the rows of each chunk of a piece; predicted where the weight is 0."""
    labeling, ids, rule = message
    run = piece.run(labeling.run, (), positions, followed)
    run.reach(labeling)
    labels: IntArray = np.append(ids, -1)[run.labels]
    begin = 0
    for part in piece.parts:
        own = labels[begin : begin + len(part.points)]
        if part.weights is not None:
            bystanders = part.weights == 0
            own[bystanders] = native.predict_labels(part.points[bystanders], *rule)[0]
        begin += len(own)
    return np.split(labels, np.cumsum([info.n_rows for info in piece.infos])[:-1])


def _identity(value: Any) -> Any:
    return value


def _step_over_nothing(
    batch: DaskBatch, state: ClusterState, penalties: Penalties, elapsed: float
) -> tuple[ClusterState, Clustering, list[Round]]:
    """An empty batch needs no cluster: it only lets time pass."""
    nobody = np.empty((1, 0), dtype=np.int64)
    weights = np.empty(0) if batch.is_weighted else None
    rows = Batch(np.empty((0, state.n_features)), weights)
    after, clustering = native.step(rows, state, penalties, nobody, elapsed, DEFAULT)
    labels = da.empty(0, dtype=np.int64, chunks=(tuple(batch.sizes),))
    return after, replace(clustering, labels=labels), []
