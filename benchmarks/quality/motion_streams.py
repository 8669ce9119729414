"""Streams of clusters that keep a course, that wander, and of people who walk in groups."""

from typing import Any

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray

Stream = tuple[list[FloatArray], list[IntArray]]

SPEEDS = (0.5, 1.0, 1.5, 2.0, 3.0)  # spreads a batch
WANDERS = (0.25, 0.5, 1.0, 1.5, 2.0)  # spreads a batch


def crossing_stream(seed: int, speed: float, **change: Any) -> Stream:
    """Eight clusters on straight courses across a box, out of sight for up to five batches."""
    return _box_stream(np.random.default_rng(seed), speed=speed, wander=0.0, **change)


def wandering_stream(seed: int, wander: float, **change: Any) -> Stream:
    """The same clusters as random walks."""
    return _box_stream(np.random.default_rng(seed), speed=0.0, wander=wander, **change)


def _box_stream(
    rng: np.random.Generator,
    *,
    speed: float,
    wander: float,
    n_clusters: int = 8,
    n_steps: int = 60,
    box: float = 30.0,
    longest_gap: int = 5,
) -> Stream:
    places = rng.uniform(0, box, (n_clusters, 2))
    angles = rng.uniform(0, 2 * np.pi, n_clusters)
    velocities = speed * np.column_stack([np.cos(angles), np.sin(angles)])
    hidden = np.zeros(n_clusters, dtype=int)
    batches, labels = [], []
    for _ in range(n_steps):
        places = places + velocities + wander * rng.normal(size=places.shape)
        velocities = np.where(places < 0, np.abs(velocities), velocities)
        velocities = np.where(places > box, -np.abs(velocities), velocities)
        leaves = (hidden == 0) & (rng.random(n_clusters) < 0.05)
        hidden[leaves] = rng.integers(1, longest_gap + 1, np.count_nonzero(leaves))
        sizes = np.where(hidden > 0, 0, rng.poisson(12, n_clusters) + 1)
        hidden = np.maximum(hidden - 1, 0)
        truth = np.repeat(np.arange(n_clusters), sizes)
        batches.append(places[truth] + rng.normal(size=(len(truth), 2)))
        labels.append(truth)
    return batches, labels


def walking_groups(
    seed: int, n_frames: int = 300, arrivals: float = 0.06, side: float = 16.0
) -> Stream:
    """Groups of 2 to 5 people, 0.5 to 1 m apart, who cross a square at 1.3 m/s; frames of 0.4 s."""
    rng = np.random.default_rng(seed)
    groups: list[tuple[int, FloatArray, FloatArray, FloatArray]] = []
    batches, labels, n_groups = [], [], 0
    for _ in range(n_frames):
        n_arriving = rng.poisson(arrivals)
        for _ in range(max(n_arriving, 3 if n_groups == 0 else 0)):
            groups.append((n_groups, *_new_group(rng, side)))
            n_groups += 1
        groups = [(k, place + step, step, around) for k, place, step, around in groups]
        groups = [g for g in groups if np.all(np.abs(g[1]) <= side / 2 + 0.5)]
        people = [place + around for _, place, _, around in groups]
        batches.append(
            np.vstack([p + rng.normal(0, 0.08, p.shape) for p in people])
            if people
            else np.empty((0, 2))
        )
        labels.append(np.repeat([g[0] for g in groups], [len(p) for p in people]).astype(np.int64))
    return batches, labels


def _new_group(rng: np.random.Generator, side: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the place, the step of a frame, and where the members are around the middle."""
    entry, exit_ = rng.uniform(-0.4 * side, 0.4 * side, (2, 2))
    axis, sign = rng.integers(2), rng.choice([-1.0, 1.0])
    entry[axis], exit_[axis] = -sign * side / 2, sign * side / 2
    course = (exit_ - entry) / np.linalg.norm(exit_ - entry)
    step = 0.4 * rng.normal(1.3, 0.15) * course
    n = int(rng.integers(2, 6))
    across = np.array([-course[1], course[0]])
    abreast = min(n, 3)
    ranks, files = np.divmod(np.arange(n), abreast)
    apart = rng.uniform(0.5, 1.0)
    around = apart * (np.outer(files, across) - np.outer(ranks, course))
    return entry, step, around - around.mean(axis=0)
