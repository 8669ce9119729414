"""Small streams for tests: made by hypothesis, ties and duplicates included."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from dynmeans import ClusterState, Penalties, step

still_penalties = st.one_of(
    st.builds(
        Penalties,
        new_penalty=st.floats(0.1, 50),
        max_gap=st.floats(1.1, 10) | st.just(np.inf),
        reach=st.floats(1, 5),
    ),
    st.builds(
        Penalties,
        new_penalty=st.sampled_from([0.5, 1.0, 4.0, 30.0]),
        revival_penalty=st.sampled_from([0.0, 0.25, 1.0, 4.0]),
        drift=st.sampled_from([0.0, 0.5, 1.0]),
    ),
)
motions = st.sampled_from(
    [("random_walk", None), ("constant_velocity", None), ("constant_velocity", (0,))]
)
penalties_strategy = st.builds(
    lambda penalties, motion: penalties.with_motion(*motion), still_penalties, motions
)


@dataclass
class Batch:
    points: np.ndarray
    orders: np.ndarray
    elapsed: float
    sample_weight: np.ndarray | None


@st.composite
def batch_lists(draw, n_features=None, max_batches=5, max_points=24, weights=(0.0, 0.5, 1.0, 2.0)):
    """Batches on a coarse grid (ties and duplicates abound) or anywhere, with their orders."""
    d = n_features or draw(st.sampled_from([1, 2, 3, 4, 5, 8, 11, 16, 64]))
    seed = draw(st.integers(0, 2**32 - 1))
    n_batches = draw(st.integers(1, max_batches))
    on_grid = draw(st.booleans())
    scale = draw(st.sampled_from([0.1, 1.0, 3.0]))
    far_off = draw(st.sampled_from([0.0, 1e6]))
    weights = weights if draw(st.booleans()) else None
    n_init = draw(st.integers(1, 3))
    supports_velocity = draw(st.booleans())
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, max_points, size=n_batches)
    starts, courses = rng.normal(size=(4, d)), rng.normal(size=(4, d))
    centers = [starts + t * courses if supports_velocity else None for t in range(n_batches)]
    return [
        _batch(rng, (n, d), n_init, on_grid, scale, far_off, weights, blobs)
        for n, blobs in zip(sizes, centers, strict=True)
    ]


def _batch(rng, shape, n_init, on_grid, scale, far_off, weights, centers):
    n, d = shape
    blobs = (rng.normal(size=(4, d)) if centers is None else centers)[rng.integers(4, size=n)]
    points = blobs + 0.2 * rng.normal(size=(n, d))
    points = far_off + scale * (np.round(points) if on_grid else points)
    return Batch(
        points=points,
        orders=np.array([rng.permutation(n) for _ in range(n_init)]).reshape(n_init, n),
        elapsed=float(rng.choice([0.25, 1.0, 1.0, 1.0, 2.5])),
        sample_weight=None if weights is None else rng.choice(weights, size=n),
    )


@st.composite
def light_batches(draw):
    """Two batches whose points weigh less than 1, and penalties; in many a pass raises the cost."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d, n = draw(st.sampled_from([1, 2, 3, 20])), draw(st.integers(20, 60))
    penalties = Penalties(draw(st.sampled_from([0.5, 1.0])) * d, max_gap=5, reach=1.1)
    batches = [
        Batch(
            points=rng.normal(size=(n, d)),
            orders=np.array([rng.permutation(n) for _ in range(2)]),
            elapsed=1.0,
            sample_weight=rng.choice([0.05, 0.2, 0.6, 1.0], n),
        )
        for _ in range(2)
    ]
    return batches, penalties


def run(
    batches,
    penalties,
    *,
    revival="paper",
    backend="reference",
    acceleration="auto",
    search="paper",
):
    """Return every clustering and the state after it."""
    results, state = [], None
    for batch in batches:
        state = state or ClusterState.empty(batch.points.shape[1])
        state, clustering = step(
            batch.points,
            state,
            penalties.with_revival(revival),
            orders=batch.orders,
            elapsed=batch.elapsed,
            sample_weight=batch.sample_weight,
            backend=backend,
            acceleration=acceleration,
            search=search,
        )
        results.append((clustering, state))
    return results
