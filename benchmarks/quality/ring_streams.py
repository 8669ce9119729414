"""Nested rings that wander, the authors' kind of example for their kernel variant."""

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray

RADII = (0.13, 0.27, 0.4)


def moving_rings(
    rng: np.random.Generator, n_steps: int = 200, n_points: int = 30, wobble: float = 0.01
) -> tuple[list[FloatArray], list[IntArray]]:
    """Return batches and the ring of each row; rings go out of sight for 2 to 4 steps at times.

    Each ring's center wanders about the origin by `wobble` on each axis; rows lie within 0.012 of
    their ring. A ring never comes where another one was: the map of a space does not move.
    """
    offsets, away = np.zeros((len(RADII), 2)), np.zeros(len(RADII), dtype=int)
    batches, true = [], []
    for step in range(n_steps):
        offsets = 0.9 * offsets + rng.normal(0, wobble * np.sqrt(1 - 0.81), offsets.shape)
        for ring in range(len(RADII)):
            if away[ring]:
                away[ring] -= 1
            elif step > 3 and rng.random() < 0.02 and np.count_nonzero(away) < len(RADII) - 1:
                away[ring] = rng.integers(2, 5)
        seen = np.flatnonzero(away == 0)
        rings = np.repeat(seen, n_points)
        angles = rng.uniform(0, 2 * np.pi, len(rings))
        lengths = np.array(RADII)[rings] + rng.normal(0, 0.012, len(rings))
        circles = lengths[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        batches.append(offsets[rings] + circles)
        true.append(rings)
    return batches, true
