"""Courses in a space that is not flat: along great circles and round circles, not out of them."""

from dataclasses import replace

import numpy as np

from dynmeans.algorithm.motion import MAX_EXTRAPOLATION
from dynmeans.inputs.input_error import InputError
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState
from dynmeans.spaces.space import Space


def check_motion(space: Space, penalties: Penalties) -> None:
    """Refuse constant velocity in a space that does not support it."""
    if penalties.motion == "constant_velocity" and not space.supports_velocity:
        rule = f"'constant_velocity' is not supported in space {space.name!r}"
        raise InputError("motion", rule, hint="Use {motion='random_walk'}.")


def on_course(
    space: Space, state: ClusterState, penalties: Penalties, elapsed: float
) -> ClusterState:
    """Return the clusters such that straight on from them is where their courses end.

    The engine expects a cluster at theta + v dt. Where a course bends, theta and v are replaced by
    the place and the velocity at its end, gone back dt steps on a straight line.
    """
    if penalties.motion == "random_walk" or not space.is_curved or state.velocities is None:
        return state
    dt = np.minimum(state.ages - 1.0 + elapsed, MAX_EXTRAPOLATION)
    places, moves = space.extrapolate(state.centers, state.velocities, dt)
    return replace(state, centers=places - moves * dt[:, None], velocities=moves)


def with_unseen(
    before: ClusterState, ready: ClusterState, clustering: Clustering, after: ClusterState
) -> ClusterState:
    """Let clusters that were not seen remember where they were last seen."""
    if ready is before or after.velocities is None or before.velocities is None:
        return after
    rows = np.flatnonzero(np.isin(after.ids, before.ids) & ~np.isin(after.ids, clustering.ids))
    then = np.searchsorted(before.ids, after.ids[rows])
    centers, velocities = after.centers.copy(), after.velocities.copy()
    centers[rows], velocities[rows] = before.centers[then], before.velocities[then]
    return replace(after, centers=centers, velocities=velocities)
