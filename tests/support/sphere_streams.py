"""Small streams of points on the unit sphere: made by hypothesis, ties and opposites included."""

import numpy as np
from hypothesis import strategies as st
from streams import Batch


@st.composite
def unit_batches(draw, max_points=60, weights=(0.0, 1.0, 2.0)):
    """Batches of unit rows about a few directions, with their orders."""
    d = draw(st.sampled_from([1, 2, 3, 5, 8, 16, 17, 40, 130]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread, on_grid = draw(st.sampled_from([0.1, 0.5, 2.0])), draw(st.booleans())
    weights = weights if draw(st.booleans()) else None
    kind = draw(st.sampled_from([np.float32, np.float64]))
    directions = rng.normal(size=(draw(st.integers(1, 12)), d))
    n_init, batches = draw(st.integers(1, 3)), []
    for _ in range(draw(st.integers(1, 4))):
        n = int(rng.integers(0, max_points))
        points = directions[rng.integers(len(directions), size=n)]
        points = points + spread * rng.normal(size=(n, d))
        points = (
            np.round(points) + (np.round(points) == 0).all(axis=1)[:, None] if on_grid else points
        )
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        if n > 4:
            points[3] = -points[2]
        orders = np.array([rng.permutation(n) for _ in range(n_init)]).reshape(n_init, n)
        elapsed = float(rng.choice([0.25, 1.0, 1.0, 2.5]))
        given = None if weights is None else rng.choice(weights, size=n)
        batches.append(Batch(points.astype(kind), orders, elapsed, given))
    return batches
