"""A batch cut into pieces in one process, compared with the native backend on the whole of it."""

from types import SimpleNamespace

import numpy as np
from dask_streams import DaskStream

from benchmarks.scale.one_process import OneProcess, cut_here
from dynmeans import ClusterState, VisitingOrders, step
from dynmeans.algorithm.cluster import NO_FALL
from dynmeans.algorithm.update_state import advance_time
from dynmeans.engine.batch import Batch
from dynmeans.engine.dask.assign_labels import PassRequests, Remembered
from dynmeans.engine.dask.cluster import cluster
from dynmeans.engine.dask.step import runs_of, split_further, sum_facts
from dynmeans.engine.orders import list_orders


def solve(batch, state, penalties, revival, cuts=()):
    """Run Algorithm 2 in every order; yields what was found, and the workers."""
    points, weights, orders, elapsed = batch
    remembered = Remembered(
        advance_time(state, elapsed, penalties), penalties.with_revival(revival)
    )
    magnitudes = OneProcess(cut_here(points, weights, cuts)).magnitudes()
    sums = sum_facts(magnitudes, len(points), weights is not None, remembered)
    for run, positions in runs_of(orders, state, penalties, sums):
        workers = OneProcess(cut_here(points, weights, cuts), positions)
        yield cluster(PassRequests.of(workers, len(points), remembered, run)), workers


def step_in_pieces(batch, state, penalties, cuts=()):
    """Return the cheapest run after its splits, with `labels` by slot of all rows."""
    points, weights, orders, elapsed = batch
    remembered = Remembered(advance_time(state, elapsed, penalties), penalties)
    workers, best = OneProcess(cut_here(points, weights, cuts)), None
    sums = sum_facts(workers.magnitudes(), len(points), weights is not None, remembered)
    for run, _ in runs_of(orders, state, penalties, sums):
        kept = () if best is None else (best.labeling.run.name,)
        requests = PassRequests.of(workers, len(points), remembered, run, kept)
        found = cluster(requests)
        if best is None or found.cost < best.cost * (1.0 - NO_FALL):
            best = found
    best = split_further(requests, best, run)
    found = SimpleNamespace(
        cost_trace=best.cost_trace, counts=best.counts, centers=best.centers, labels=[]
    )
    for piece in workers.pieces:
        run = piece.run(best.labeling.run, (), None)
        run.reach(best.labeling)
        found.labels.extend(run.labels.tolist())
    return found


def check_stream(seed):
    stream = DaskStream(seed)
    check_batches(stream.batches, stream.penalties, stream.revival, seed)


def check_batches(batches, penalties, revival, seed):
    """Every order alone must give what the native backend gives in that order."""
    rng, state = np.random.default_rng(seed), ClusterState.empty(batches[0][0].shape[1])
    for points, weights, orders, elapsed, *_ in batches:
        if not len(points):
            continue
        options = {"elapsed": elapsed, "sample_weight": weights}
        ruled = penalties.with_revival(revival)
        batch = (points, weights, orders, elapsed)
        cuts = rng.integers(len(points), size=5).tolist()
        listed = orders
        if isinstance(orders, VisitingOrders):
            listed = list_orders(orders, Batch(points, weights), state.n_steps)
        solved = solve(batch, state, penalties, revival, cuts)
        for order, (found, _) in zip(listed, solved, strict=True):
            _, alone = step(points, state, ruled, orders=order[None], **options)
            np.testing.assert_array_equal(found.cost_trace, alone.cost_trace)
            seen = found.counts > 0
            np.testing.assert_array_equal(found.centers[seen], alone.centers)
            np.testing.assert_array_equal(found.counts[seen], alone.counts)
        state, _ = step(points, state, ruled, orders=orders, **options)
