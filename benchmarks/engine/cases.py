"""The measured cases: the data they run on, and how a figure is taken."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min
from threadpoolctl import threadpool_limits

from benchmarks.machine import n_cores
from dynmeans import ClusterState, Penalties, step
from dynmeans.records.arrays import FloatArray, IntArray

N_CORES = n_cores()
QUIET = 0.1  # share of one core that others may use during a measurement of threads
MAX_PAIRS = 2e9  # points x centers of one call of scikit-learn; beyond, a share of the points
Batch = tuple[FloatArray, IntArray]


@dataclass(frozen=True)
class Case:
    """Two batches of a moving stream of N points, about K clusters and d features.

    Layout "uniform" draws the centers independently: some overlap, and points between those
    change sides for many cheap passes. "apart" keeps them apart, so that two or three passes
    suffice and the first one weighs. "normal" is for many features.
    """

    name: str
    n_points: int
    n_clusters: int
    n_features: int
    layout: str = "uniform"

    @property
    def penalties(self) -> Penalties:
        """lambda by layout and dimension, such that about K clusters are found."""
        d = self.n_features
        if self.layout == "normal":
            new_penalty = (0.95 if d == 400 else 1.35) * d
        else:
            new_penalty = 0.25 if self.layout == "apart" else {2: 0.12, 3: 0.16, 8: 0.3}[d]
        return Penalties(new_penalty, max_gap=6.8, reach=1.01)

    def batches(self, n_steps: int = 2, seed: int = 0) -> list[Batch]:
        """Return (points, one visiting order) for each step; 5 % of the centers are replaced."""
        rng = np.random.default_rng(seed)
        spread, motion = (0.6, 0.2) if self.layout == "normal" else (0.06, 0.05)
        centers = self._new_centers(self.n_clusters, rng)
        made = []
        for t in range(n_steps):
            if t:
                centers = centers + motion * rng.normal(size=centers.shape)
                replaced = rng.random(self.n_clusters) < 0.05
                centers[replaced] = self._new_centers(int(replaced.sum()), rng, is_first=False)
            members = rng.integers(self.n_clusters, size=self.n_points)
            noise = rng.normal(size=(self.n_points, self.n_features))
            made.append((centers[members] + spread * noise, rng.permutation(self.n_points)))
        return made

    def _new_centers(self, n: int, rng: np.random.Generator, is_first: bool = True) -> FloatArray:
        d = self.n_features
        if self.layout == "normal":
            return rng.normal(size=(n, d))
        side = self.n_clusters ** (1 / d)
        if self.layout == "uniform":
            return rng.random((n, d)) * 0.7 * side
        # Cells of a lattice; those that come later lie beside the first ones.
        per_side = int(np.ceil(side))
        cells = rng.permutation(per_side**d)[:n]
        corners = np.stack(np.unravel_index(cells, (per_side,) * d), axis=1)
        corners[:, 0] += 0 if is_first else per_side
        return corners + rng.uniform(-0.1, 0.1, size=(n, d))


# The clusters made; the benchmark reports those found.
CASES = [
    Case("A", 10_000, 50, 2),
    Case("B", 1_000_000, 120, 2),
    Case("C", 1_000_000, 1000, 2),
    Case("D", 18_000, 200, 400, "normal"),
    Case("E", 100_000, 1000, 64, "normal"),
    Case("A apart", 10_000, 50, 2, "apart"),
    Case("B apart", 1_000_000, 120, 2, "apart"),
    Case("C apart", 1_000_000, 1000, 2, "apart"),
]


@dataclass(frozen=True)
class Timing:
    """What one piece of work took, in seconds, and what others did meanwhile."""

    cpu: float
    wall: float
    others: float  # share of one core that other processes used

    @property
    def is_quiet(self) -> bool:
        """Whether the other cores were free; known only if it took a few clock ticks of 10 ms."""
        return self.others < QUIET


def timed(work: Callable[[], Any], at_least: float = 0.0) -> tuple[Any, Timing]:
    """Call `work` until `at_least` seconds have passed; return its result and the mean timing."""
    busy, cpu, wall, n = _busy_seconds(), time.process_time(), time.perf_counter(), 0
    while n == 0 or time.perf_counter() - wall < at_least:
        result = work()
        n += 1
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    others = max(0.0, _busy_seconds() - busy - cpu) / wall
    return result, Timing(cpu / n, wall / n, others)


def _busy_seconds() -> float:
    """Processor time that the whole machine has spent so far, on all its cores."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    except OSError:
        return 0.0
    user, nice, system, _, _, irq, softirq, steal = map(int, fields)
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Run:
    """What the steps of one case came to."""

    n_passes: int
    n_found: int
    centers: FloatArray


def run_steps(case: Case, batches: list[Batch], **way: Any) -> Run:
    """Cluster the batches one after the other; `way` is acceleration and n_threads."""
    state, n_passes = ClusterState.empty(case.n_features), 0
    for points, order in batches:
        state, clustering = step(points, state, case.penalties, orders=order[None, :], **way)
        n_passes += clustering.n_iter
    return Run(n_passes, len(clustering.ids), clustering.centers)


def time_nearest(
    points: FloatArray, centers: FloatArray, n_threads: int = 1, at_least: float = 0.05
) -> Timing:
    """Time scikit-learn's nearest centers; above MAX_PAIRS on some of the points, and scaled."""
    share = min(1.0, MAX_PAIRS / (len(points) * len(centers)))
    some = points[: int(len(points) * share)]
    with threadpool_limits(n_threads):
        _, t = timed(lambda: pairwise_distances_argmin_min(some, centers), at_least)
    scale = len(points) / len(some)
    return Timing(t.cpu * scale, t.wall * scale, t.others)
