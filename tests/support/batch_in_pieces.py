"""A batch cut into pieces in one process, compared with the native backend on the whole of it."""

import numpy as np
from dask_streams import DaskStream

from benchmarks.scale.one_process import OneProcess, cut_here
from dynmeans import ClusterState, VisitingOrders, step
from dynmeans.algorithm.update_state import let_time_pass
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.assign_labels import Remembered
from dynmeans.engine.dask.cluster import cluster
from dynmeans.engine.dask.messages import OrderRun
from dynmeans.engine.dask.step import keys_of, sum_facts


def solve(batch, state, penalties, revival, cuts=()):
    """Run Algorithm 2 in every order; yields what was found, and the workers."""
    points, weights, orders, elapsed = batch
    remembered = Remembered(
        let_time_pass(state, elapsed, penalties), penalties.with_revival(revival)
    )
    for number, (seed, positions) in enumerate(keys_of(orders, state.n_steps)):
        workers = OneProcess(cut_here(points, weights, cuts), positions)
        n_keys = 2**64 if positions is None else len(points)
        magnitudes, is_weighted = workers.magnitudes(), weights is not None
        sums = sum_facts(magnitudes, len(points), is_weighted, remembered)
        run = OrderRun(str(number), seed, n_keys, penalties.new_penalty, sums)
        yield cluster(workers, len(points), remembered, run, ()), workers


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
            listed = compiled.hash_orders(
                len(points), orders.row_seed(state.n_steps), orders.n_init
            )
        solved = solve(batch, state, penalties, revival, cuts)
        for order, (found, _) in zip(listed, solved, strict=True):
            _, alone = step(points, state, ruled, orders=order[None], **options)
            np.testing.assert_array_equal(found.cost_trace, alone.cost_trace)
            seen = found.counts > 0
            np.testing.assert_array_equal(found.centers[seen], alone.centers)
            np.testing.assert_array_equal(found.counts[seen], alone.counts)
        state, _ = step(points, state, ruled, orders=orders, **options)
