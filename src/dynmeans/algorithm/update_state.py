"""UpdateC: what is remembered for the next batch (Eq. 14)."""

from dataclasses import replace

import numpy as np

from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.records.arrays import FloatArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


def let_time_pass(state: ClusterState, elapsed: float) -> ClusterState:
    """C_t as the arriving batch sees it: `elapsed` steps after the previous batch, not one."""
    return replace(state, ages=state.ages - 1.0 + elapsed)


def update_state(
    counts: FloatArray,
    centers: FloatArray,
    state: ClusterState,
    penalties: Penalties,
    elapsed: float,
) -> ClusterState:
    """Build C_{t+1} from C_t: seen clusters get age 1, unseen ones grow a batch older.

    A cluster too old to be revived at any distance is forgotten.
    """
    n_new = len(counts) - state.n_clusters
    seen = counts > 0
    new_ids = state.next_id + np.arange(n_new)

    prior = np.concatenate([prior_weights(state, penalties), np.zeros(n_new)])
    unseen_weights = np.concatenate([state.weights, np.zeros(n_new)])
    unseen_counts = np.concatenate([state.counts, np.zeros(n_new)])
    unseen_ages = np.concatenate([state.ages, np.zeros(n_new)]) + 1.0

    ages = np.where(seen, 1.0, unseen_ages)
    kept = seen | can_come_back(ages, penalties, elapsed)
    return ClusterState(
        ids=np.concatenate([state.ids, new_ids])[kept],
        centers=centers[kept],
        weights=np.where(seen, prior + counts, unseen_weights)[kept],
        ages=ages[kept],
        next_id=state.next_id + n_new,
        n_steps=state.n_steps + 1,
        counts=np.where(seen, counts, unseen_counts)[kept],
        time=state.time + elapsed,
    )


def can_come_back(
    ages: np.ndarray[tuple[int, ...], np.dtype[np.float64]], penalties: Penalties, elapsed: float
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Say which clusters some later batch could still revive: Q dt <= lambda.

    The next batch is taken to come at least one step later, unless this one came sooner
    than that itself; then it may come at any moment (decision 0003).
    """
    earliest_dt = ages if elapsed >= 1.0 else ages - 1.0
    return penalties.revival_penalty * earliest_dt <= penalties.new_penalty
