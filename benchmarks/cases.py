"""The measured cases: the data they run on, and how a figure is taken."""

from dataclasses import dataclass

import numpy as np

from dynmeans import Penalties
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Case:
    """Two batches of a moving stream of N points, about K clusters and d features."""

    name: str
    n_points: int
    n_clusters: int
    n_features: int

    @property
    def penalties(self) -> Penalties:
        """lambda by dimension: .12, .95 d at d = 400, 1.35 d otherwise."""
        d = self.n_features
        new_penalty = 0.12 if d == 2 else (0.95 if d == 400 else 1.35) * d
        return Penalties(new_penalty, max_gap=6.8, reach=1.01)

    def batches(self, n_steps: int = 2, seed: int = 0) -> list[tuple[FloatArray, IntArray]]:
        """Return (points, one visiting order) for each step; 5 % of the centers are replaced."""
        rng = np.random.default_rng(seed)
        spread, motion = (0.06, 0.05) if self.n_features == 2 else (0.6, 0.2)
        centers = self._new_centers(self.n_clusters, rng)
        made = []
        for step in range(n_steps):
            if step:
                centers = centers + motion * rng.normal(size=centers.shape)
                replaced = rng.random(self.n_clusters) < 0.05
                centers[replaced] = self._new_centers(int(replaced.sum()), rng)
            members = rng.integers(self.n_clusters, size=self.n_points)
            noise = rng.normal(size=(self.n_points, self.n_features))
            made.append((centers[members] + spread * noise, rng.permutation(self.n_points)))
        return made

    def _new_centers(self, n: int, rng: np.random.Generator) -> FloatArray:
        if self.n_features == 2:
            return rng.random((n, 2)) * 0.7 * np.sqrt(self.n_clusters)
        return rng.normal(size=(n, self.n_features))


# The clusters made; those found are about 46, 115, 960, 203 and 1025.
CASES = [
    Case("A", 10_000, 50, 2),
    Case("B", 1_000_000, 120, 2),
    Case("C", 1_000_000, 1000, 2),
    Case("D", 18_000, 200, 400),
    Case("E", 100_000, 1000, 64),
]
