"""Streams of many kinds, with the truth beside them, to judge choices of parameters on.

Each kind changes what the choice may depend on: noise, number and size of clusters, scale,
dimension, shape, outliers, absences. Seeds below 1,000 were for developing; figures are reported
on seeds from 1,000 on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray

N_STEPS = 50
OUTLIER = -1  # the metrics leave such points out
FIRST_TEST_SEED = 1000


@dataclass(frozen=True)
class Kind:
    """How one stream is made; lengths are in units of the square the clusters start on."""

    n_clusters: int
    n_features: int = 2
    noise: str = "isotropic"  # or "radial": a normal length in a uniform direction
    spread: float = 0.05
    motion: float = 0.05
    death: float = 0.05
    vanish: float = 0.0
    max_hidden: int = 5
    sizes: tuple[int, int] = (15, 15)  # points of a cluster per batch, log-uniform over clusters
    degrees: float = np.inf  # of freedom of the points' noise; 3 is heavy-tailed
    stretch: float = 1.0  # longest over shortest axis of a cluster
    outliers: float = 0.0  # share of points that belong to nothing
    scale: float = 1.0  # of all coordinates


@dataclass
class TestStream:
    """Batches, true identities, and the variance of one point's move within its cluster."""

    family: str
    seed: int
    kind: Kind
    batches: list[FloatArray] = field(default_factory=list)
    labels: list[IntArray] = field(default_factory=list)

    @property
    def unit(self) -> float:
        """Total variance of a point around where its cluster was one batch ago."""
        kind = self.kind
        axes = kind.n_features if kind.noise == "isotropic" else 1
        return axes * (kind.spread**2 + kind.motion**2) * kind.scale**2


@dataclass
class _Cluster:
    """One cluster: where it is, its shape and size, and how long it stays out of sight."""

    identity: int
    center: FloatArray
    shape: FloatArray
    size: int
    hidden_for: int = 0


def _draw_kind(family: str, rng: np.random.Generator) -> Kind:
    """Draw what a family leaves open."""
    k = int(np.round(np.exp(rng.uniform(np.log(3), np.log(30)))))
    noise = str(rng.choice(["isotropic", "radial"]))
    return FAMILIES[family](k, noise, rng)


def _draw_mixture(k: int, noise: str, rng: np.random.Generator) -> Kind:
    """Several difficulties at once."""
    return Kind(
        k,
        n_features=int(rng.choice([2, 3, 5, 8, 12])),
        noise=noise,
        spread=float(np.exp(rng.uniform(np.log(0.01), np.log(0.08)))),
        motion=float(np.exp(rng.uniform(np.log(0.005), np.log(0.06)))),
        vanish=float(rng.choice([0.0, 0.05])),
        sizes=(5, 40),
        degrees=float(rng.choice([3.0, np.inf])),
        stretch=float(rng.choice([1.0, 3.0])),
        outliers=float(rng.choice([0.0, 0.03])),
        scale=float(10 ** rng.uniform(-2, 2)),
    )


def _few(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


FAMILIES: dict[str, Callable[[int, str, np.random.Generator], Kind]] = {
    "paper, isotropic": lambda k, noise, rng: Kind(k),
    "paper, radial": lambda k, noise, rng: Kind(k, noise="radial"),
    "spread": lambda k, noise, rng: Kind(k, noise=noise, spread=_few(rng, 0.007, 0.07)),
    "motion": lambda k, noise, rng: Kind(k, noise=noise, motion=_few(rng, 0.007, 0.07)),
    "scale": lambda k, noise, rng: Kind(
        k, noise=noise, spread=0.03, scale=10 ** rng.uniform(-2, 2)
    ),
    "vanishing": lambda k, noise, rng: Kind(
        k, noise=noise, spread=0.03, motion=0.03, vanish=0.08, max_hidden=int(rng.integers(3, 9))
    ),
    "unbalanced": lambda k, noise, rng: Kind(
        k, noise=noise, spread=0.04, motion=0.03, sizes=(3, 80)
    ),
    "heavy-tailed": lambda k, noise, rng: Kind(
        k, noise=noise, spread=0.03, motion=0.03, degrees=3.0
    ),
    "anisotropic": lambda k, noise, rng: Kind(
        k, spread=0.04, motion=0.03, stretch=float(rng.uniform(3, 6))
    ),
    "outliers": lambda k, noise, rng: Kind(
        k, noise=noise, spread=0.03, motion=0.03, outliers=float(rng.uniform(0.02, 0.1))
    ),
    "d = 3 to 6": lambda k, noise, rng: Kind(
        k, n_features=int(rng.integers(3, 7)), noise=noise, spread=0.1, motion=0.06
    ),
    "d = 8 to 16": lambda k, noise, rng: Kind(
        k, n_features=int(rng.integers(8, 17)), noise=noise, spread=0.15, motion=0.08
    ),
    "mixed": _draw_mixture,
}


def make_stream(family: str, seed: int, n_steps: int = N_STEPS, times: int = 1) -> TestStream:
    """Return one stream of a family; the same seed gives the same stream.

    With `times` every cluster has so many times its points.
    """
    rng = np.random.default_rng([seed, list(FAMILIES).index(family)])
    kind = _draw_kind(family, rng)
    kind = replace(kind, sizes=(times * kind.sizes[0], times * kind.sizes[1]))
    stream = TestStream(family, seed, kind)
    world = _World(stream.kind, rng)
    for step in range(n_steps):
        if step:
            world.move_on()
        points, labels = world.observe()
        stream.batches.append(points)
        stream.labels.append(labels)
    return stream


class _World:
    """The clusters alive at one moment."""

    def __init__(self, kind: Kind, rng: np.random.Generator) -> None:
        self.kind, self.rng, self.n_born = kind, rng, 0
        self.clusters = [self._new_cluster() for _ in range(kind.n_clusters)]

    def move_on(self) -> None:
        """Let clusters die and be replaced, move, vanish and return."""
        kind, rng = self.kind, self.rng
        for row, cluster in enumerate(self.clusters):
            if cluster.hidden_for == 0 and rng.random() < kind.death:
                self.clusters[row] = self._new_cluster()
                continue
            cluster.center = cluster.center + self._scatter(1, kind.motion)[0]
            if cluster.hidden_for > 0:
                cluster.hidden_for -= 1
            elif rng.random() < kind.vanish:
                cluster.hidden_for = int(rng.integers(1, kind.max_hidden + 1))

    def observe(self) -> tuple[FloatArray, IntArray]:
        """Draw the points of one batch, in random order."""
        kind, rng = self.kind, self.rng
        seen = [cluster for cluster in self.clusters if cluster.hidden_for == 0]
        parts = [np.empty((0, kind.n_features))]
        for c in seen:
            tails = np.ones((c.size, 1))
            if np.isfinite(kind.degrees):
                # A t of the same variance: n / chi2_n has mean n / (n - 2).
                n = kind.degrees
                tails = np.sqrt((n - 2) / rng.chisquare(n, size=(c.size, 1)))
            parts.append(c.center + tails * self._scatter(c.size, kind.spread) @ c.shape)
        labels = np.repeat([c.identity for c in seen], [c.size for c in seen]).astype(np.int64)
        n_outliers = rng.binomial(len(labels), kind.outliers)
        low, high = (np.vstack(parts).min(axis=0), np.vstack(parts).max(axis=0)) if seen else (0, 1)
        parts.append(rng.uniform(low, high, size=(n_outliers, kind.n_features)))
        labels = np.append(labels, np.full(n_outliers, OUTLIER))
        shuffled = rng.permutation(len(labels))
        return kind.scale * np.vstack(parts)[shuffled], labels[shuffled]

    def _new_cluster(self) -> _Cluster:
        kind, rng = self.kind, self.rng
        self.n_born += 1
        center = rng.random(kind.n_features)
        size = int(np.round(np.exp(rng.uniform(*np.log(kind.sizes)))))
        return _Cluster(self.n_born - 1, center, self._draw_shape(), size)

    def _draw_shape(self) -> FloatArray:
        """Draw a map that stretches the axes, keeps the total variance, and turns."""
        d, stretch = self.kind.n_features, self.kind.stretch
        if stretch == 1.0:
            return np.eye(d)
        axes = stretch ** np.linspace(0, 1, d)
        axes *= np.sqrt(d / np.sum(axes**2))
        turn, _ = np.linalg.qr(self.rng.normal(size=(d, d)))
        return np.diag(axes) @ turn

    def _scatter(self, n_points: int, size: float) -> FloatArray:
        gaussian = self.rng.normal(size=(n_points, self.kind.n_features))
        if self.kind.noise == "isotropic":
            return size * gaussian
        lengths = self.rng.normal(scale=size, size=(n_points, 1))
        return lengths * gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True)
