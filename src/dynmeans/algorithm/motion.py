"""Motion: where remembered clusters are expected, and how sure of it we are (decision 0015).

Each axis of a cluster is a position that wanders by tau a step and, in steady motion, a velocity
that wanders by q = tau/4. In units of the noise this is a Kalman filter with the covariance
P = [[1/w, P12], [P12, P22]] of position and velocity. Without a velocity it is the paper's model.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from dynmeans.records.arrays import FloatArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

TURNING = 0.25  # q / tau
MAX_EXTRAPOLATION = 1e6  # steps over which a course is kept


def predict_state(state: ClusterState, dt: FloatArray, penalties: Penalties) -> ClusterState:
    """C_t as seen dt steps after each cluster was last seen: centers at theta + v dt.

    Where clusters keep a course and none is known, they are treated as new. Velocities
    and covariances stay those of when they were last seen.
    """
    moving = velocity_mask(penalties, state.n_features)
    if moving is None:
        return replace(state, ages=dt, velocities=None, velocity_covariances=None)
    velocities, covariances = state.velocities, state.velocity_covariances
    if velocities is None or covariances is None:
        shape = state.n_clusters, state.n_features
        velocities, covariances = initial_velocities(*shape, penalties)
    velocities = velocities * moving
    return replace(
        state,
        ages=dt,
        centers=state.centers + velocities * np.minimum(dt, MAX_EXTRAPOLATION)[:, None],
        velocities=velocities,
        velocity_covariances=covariances,
    )


def initial_velocities(
    n_clusters: int, n_features: int, penalties: Penalties
) -> tuple[FloatArray, FloatArray]:
    """Velocities, and P12 and P22, of clusters without a past: v = 0, P12 = 0, P22 = tau."""
    return np.zeros((n_clusters, n_features)), np.tile([0.0, penalties.drift], (n_clusters, 1))


def position_growth(state: ClusterState, penalties: Penalties) -> FloatArray:
    """P11' - P11 = tau dt + 2 P12 dt + P22 dt^2 + q dt^3/3; without a velocity, tau dt."""
    dt, tau = state.ages, penalties.drift
    if state.velocity_covariances is None:
        return dt * tau
    p12, p22 = state.velocity_covariances.T
    t, q = np.minimum(dt, MAX_EXTRAPOLATION), tau * TURNING
    growth: FloatArray = dt * tau + t * (2.0 * p12 + t * (p22 + t * (q / 3.0)))
    return growth


def update_velocities(
    state: ClusterState,
    gamma: FloatArray,
    counts: FloatArray,
    centers: FloatArray,
    penalties: Penalties,
) -> tuple[FloatArray, FloatArray]:
    """Velocities, and P12 and P22, of the clusters of `state` once the batch was seen.

    `state` is as `predict_state` returned it. The Kalman gain P12' / (P11' + 1/n) on the distance
    of the batch's mean is gamma P12' on that of the new center. Inactive clusters keep their
    velocity.
    """
    moving = velocity_mask(penalties, state.n_features)
    dt, tau, n = state.ages, penalties.drift, counts
    v, covariances = state.velocities, state.velocity_covariances
    assert moving is not None, "random-walk clusters have no velocity"
    assert v is not None, "predict_state() gives every cluster a velocity"
    assert covariances is not None, "and its covariances"
    p12, p22 = covariances.T
    t, q = np.minimum(dt, MAX_EXTRAPOLATION), tau * TURNING
    p12, p22 = p12 + t * (p22 + t * (q * 0.5)), p22 + t * q
    seen, w = n > 0, gamma + n
    gain = gamma * p12
    learned = np.stack([gain / w, np.maximum(0.0, p22 - p12 * gain * n / w)], axis=1)
    surprise = centers - state.centers
    velocities = v + moving * (np.where(seen, gain, 0.0)[:, None] * surprise)
    return velocities, np.where(seen[:, None], learned, covariances)


@lru_cache(maxsize=64)
def moving_factors(moving: tuple[int, ...] | None, n_features: int) -> FloatArray:
    """1 for each feature that keeps a course, 0 for the others."""
    factors = np.ones(n_features) if moving is None else np.zeros(n_features)
    for feature in moving or ():
        if feature >= n_features:
            raise ValueError(
                f"moving_features must name features of the points, which have {n_features}, "
                f"got feature {feature}."
            )
        factors[feature] = 1.0
    factors.setflags(write=False)
    return factors


def velocity_mask(penalties: Penalties, n_features: int) -> FloatArray | None:
    """1 for each feature that keeps a course, 0 for the others; None where none does."""
    if penalties.motion == "random_walk":
        return None
    return moving_factors(penalties.moving_features, n_features)
