"""Labeled streams of Gaussian clusters that drift, in nine kinds, with and without outliers.

The first four are the kinds of the public suite of Iglesias and Zseby (base, moving, sequential,
nonstat), written from its description; the others are what users' data have and that suite lacks.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray

N_ROWS, BLOCK = 8_000, 200
OUTLIER = -1
_ANYWHERE = 0.03  # share of outliers


@dataclass(frozen=True)
class Drift:
    """What sets a kind apart."""

    moves: float = 0.0  # how far a center goes over the whole stream, in units of the square
    order: str = "mixed"  # when clusters come: "mixed", "one by one", "one first", "returning"
    weights: str = "even"  # shares of rows: "even", "unlike" (1 to 10), "changing"
    spreads: tuple[float, float] = (0.01, 0.04)  # log-uniform over clusters
    outliers: float = _ANYWHERE


KINDS: dict[str, Drift] = {
    "base": Drift(),
    "moving": Drift(moves=0.5),
    "sequential": Drift(order="one by one"),
    "nonstat": Drift(weights="changing", moves=0.2),
    "one first": Drift(order="one first"),
    "unlike densities": Drift(weights="unlike", spreads=(0.005, 0.05)),
    "many outliers": Drift(outliers=0.1),
    "returning": Drift(order="returning"),
}
SUITE = ("base", "moving", "sequential", "nonstat")


def make_drifting(
    kind: str, seed: int, *, has_outliers: bool = True
) -> tuple[list[FloatArray], list[IntArray]]:
    """Return blocks of 200 rows and their true labels, -1 for outliers."""
    drift = KINDS[kind]
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    n_features, n_clusters = int(rng.integers(2, 5)), int(rng.integers(4, 11))
    spreads = np.exp(rng.uniform(*np.log(drift.spreads), n_clusters))
    starts, ends = _apart(rng, n_clusters, n_features, spreads, drift.moves)
    time = np.sort(rng.uniform(size=N_ROWS))
    shares = _shares(drift, n_clusters, rng)(time)
    cumulative = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
    labels = (rng.uniform(size=(N_ROWS, 1)) > cumulative[:, :-1]).sum(axis=1)
    centers = starts[labels] + time[:, None] * (ends - starts)[labels]
    points = centers + spreads[labels, None] * rng.normal(size=(N_ROWS, n_features))
    if has_outliers:
        is_out = rng.uniform(size=N_ROWS) < drift.outliers
        low, high = points.min(axis=0), points.max(axis=0)
        points[is_out] = rng.uniform(low, high, size=(int(is_out.sum()), n_features))
        labels = np.where(is_out, OUTLIER, labels)
    cuts = np.arange(BLOCK, N_ROWS, BLOCK)
    return np.split(points, cuts), np.split(labels.astype(np.int64), cuts)


def _apart(
    rng: np.random.Generator, n: int, n_features: int, spreads: FloatArray, moves: float
) -> tuple[FloatArray, FloatArray]:
    """Draw starts and ends such that no two clusters come nearer than eight spreads on the way."""
    way = np.linspace(0.0, 1.0, 41)[:, None]
    starts = np.empty((0, n_features))
    ends = np.empty((0, n_features))
    least = 8.0
    while len(starts) < n:
        for _ in range(300):
            start = rng.uniform(size=n_features)
            turn = rng.normal(size=n_features)
            end = start + moves * rng.uniform(0.5, 1.0) * turn / np.linalg.norm(turn)
            path = start + way * (end - start)
            others = starts[:, None] + way * (ends - starts)[:, None]
            gaps = np.linalg.norm(others - path, axis=2).min(axis=1)
            here = len(starts)
            if np.all(gaps > least * np.maximum(spreads[:here], spreads[here])):
                starts, ends = np.vstack([starts, start]), np.vstack([ends, end])
                break
        else:
            least *= 0.95
    return starts, ends


def _shares(drift: Drift, n: int, rng: np.random.Generator) -> Callable[[FloatArray], FloatArray]:
    """Return the share of each cluster as a function of time."""
    weights = np.ones(n)
    if drift.weights == "unlike":
        weights = 10.0 ** rng.uniform(0, 1, n)
    places, phases = np.arange(n) / n, rng.uniform(0, 2 * np.pi, n)
    rates = rng.uniform(1.0, 3.0, n)

    def shares(time: FloatArray) -> FloatArray:
        t = time[:, None]
        if drift.order == "one by one":  # each overlaps the next by a tenth of its time
            is_on = (t >= places) & (t < places + 1.1 / n)
        elif drift.order == "one first":  # a second one comes after a fifth of the stream
            is_on = t >= np.where(np.arange(n) == 0, 0.0, 0.2 + 0.6 * places)
        elif drift.order == "returning":  # two short visits, far apart; the first always stays
            is_on = (np.abs(t - 0.4 * places) < 0.05) | (np.abs(t - 0.5 - 0.5 * places) < 0.05)
            is_on |= np.arange(n) == 0
        else:
            is_on = np.ones((len(t), n), dtype=bool)
        found = weights * is_on
        if drift.weights == "changing":
            found = found * (1.05 + np.sin(2 * np.pi * rates * t + phases))
        return np.asarray(found)

    return shares


def make_detections(seed: int) -> tuple[list[FloatArray], list[IntArray]]:
    """Return walkers on a square, one row each in every batch: one row is one object."""
    rng = np.random.default_rng([seed, 99])
    places, speeds = rng.uniform(size=(12, 2)), rng.normal(0, 0.01, (12, 2))
    names, batches, labels = np.arange(12), list[FloatArray](), list[IntArray]()
    for _ in range(150):
        batches.append(places + rng.normal(0, 0.002, places.shape))
        labels.append(names.copy())
        places = places + speeds
        is_gone = (places < 0).any(axis=1) | (places > 1).any(axis=1)
        n = int(is_gone.sum())
        places[is_gone], speeds[is_gone] = rng.uniform(size=(n, 2)), rng.normal(0, 0.01, (n, 2))
        names[is_gone] = names.max() + 1 + np.arange(n)
    return batches, labels
