"""Rows that are different and have the same hash."""

import numpy as np

from dynmeans.algorithm.visiting_orders import split_mix


def colliding_rows(entropy, n_steps):
    """Pairs of different rows of equal hashes: two features, in which a difference cancels."""
    # hash = f(x) m0 + f(y) m1, where f folds the bits; f is its own inverse.
    m0, m1 = (int(m) | 1 for m in split_mix(entropy, n_steps, 2))

    def folded(bits):
        return bits ^ (bits >> 32)

    rng, rows = np.random.default_rng(0), []
    while len(rows) < 40:
        x, y, other = rng.normal(size=3)
        bits = [int(np.float64(value).view(np.uint64)) for value in (x, y, other)]
        rest = (folded(bits[0]) - folded(bits[2])) * m0 * pow(m1, -1, 2**64)
        twin = np.uint64(folded((folded(bits[1]) + rest) % 2**64)).view(np.float64)
        if np.isfinite(twin) and abs(twin) < 1e50:
            rows += [[x, y], [other, float(twin)]]
    return np.array(rows)
