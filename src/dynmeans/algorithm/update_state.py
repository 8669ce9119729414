"""UpdateC: what is remembered for the next batch (Eq. 14)."""

from typing import Any

import numpy as np

from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.algorithm.motion import initial_velocities, predict_state, update_velocities
from dynmeans.records.arrays import FloatArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


def advance_time(state: ClusterState, elapsed: float, penalties: Penalties) -> ClusterState:
    """C_t as the arriving batch sees it: `elapsed` steps after the previous batch, not one."""
    return predict_state(state, state.ages - 1.0 + elapsed, penalties)


def update_state(
    counts: FloatArray,
    centers: FloatArray,
    state: ClusterState,
    last_centers: FloatArray,
    penalties: Penalties,
    elapsed: float,
) -> ClusterState:
    """Build C_{t+1} from C_t: seen clusters get age 1, unseen ones grow a batch older.

    `state` is what `advance_time` returned, `last_centers` are the centers before that: those of
    unseen clusters stay where they were last seen. A cluster too old to be revived at any distance
    is forgotten.
    """
    n_new = len(counts) - state.n_clusters
    seen = counts > 0
    new_ids = state.next_id + np.arange(n_new)

    prior = np.concatenate([prior_weights(state, penalties), np.zeros(n_new)])
    unseen_weights = np.concatenate([state.weights, np.zeros(n_new)])
    unseen_counts = np.concatenate([state.counts, np.zeros(n_new)])
    unseen_ages = np.concatenate([state.ages, np.zeros(n_new)]) + 1.0

    unseen_centers = np.concatenate([last_centers, np.zeros((n_new, state.n_features))])
    ages = np.where(seen, 1.0, unseen_ages)
    courses = _courses(counts, centers, state, prior[: state.n_clusters], penalties)
    kept = seen | is_revivable(ages, penalties, elapsed)
    kept_courses: dict[str, Any] = {name: rows[kept] for name, rows in courses.items()}
    return ClusterState(
        ids=np.concatenate([state.ids, new_ids])[kept],
        centers=np.where(seen[:, None], centers, unseen_centers)[kept],
        weights=np.where(seen, prior + counts, unseen_weights)[kept],
        ages=ages[kept],
        next_id=state.next_id + n_new,
        n_steps=state.n_steps + 1,
        counts=np.where(seen, counts, unseen_counts)[kept],
        time=state.time + elapsed,
        **kept_courses,
    )


def _courses(
    counts: FloatArray,
    centers: FloatArray,
    state: ClusterState,
    gamma: FloatArray,
    penalties: Penalties,
) -> dict[str, FloatArray]:
    """Velocities and their covariances of every slot, where clusters keep a course."""
    if state.velocities is None:
        return {}
    k = state.n_clusters
    kept = update_velocities(state, gamma, counts[:k], centers[:k], penalties)
    new = initial_velocities(len(counts) - k, state.n_features, penalties)
    names = ("velocities", "velocity_covariances")
    return {name: np.concatenate(pair) for name, *pair in zip(names, kept, new, strict=True)}


def is_revivable(
    ages: np.ndarray[tuple[int, ...], np.dtype[np.float64]], penalties: Penalties, elapsed: float
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return which clusters some later batch could still revive: Q dt <= lambda.

    The next batch is taken to come at least one step later, unless this one came sooner
    than that itself; then it may come at any moment (decision 0003).
    """
    earliest_dt = ages if elapsed >= 1.0 else ages - 1.0
    return penalties.revival_penalty * earliest_dt <= penalties.new_penalty
