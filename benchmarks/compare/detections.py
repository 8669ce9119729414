"""Detections of people and vehicles with known identity: generated, and real aircraft and ships.

Every batch is a frame. A row is one detection: a position in m (km for aircraft and ships). Objects
are missed at random and while another one hides them; false detections are labeled -1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.quality.ships import read_ships
from dynmeans.records.arrays import FloatArray, IntArray

Stream = tuple[list[FloatArray], list[IntArray]]
FALSE = -1
_SHARED = Path(__file__).parents[3] / "shared" / "data"
AIRCRAFT = _SHARED / "traffic_switzerland" / "points.parquet"
_KM_PER_DEGREE = 111.2


@dataclass(frozen=True)
class Scene:
    """One kind of scene; lengths in m, times in s."""

    n_objects: int  # in sight at once
    frame: float  # time between two frames
    size: tuple[float, float]
    width: float  # of an object: what it hides, and the side of its box
    noise: float = 0.05  # of a position
    missed: float = 0.05  # share of detections
    n_false: float = 0.3  # detections of nothing in a frame
    n_frames: int = 250


SCENES = {
    "walkers": Scene(8, 0.2, (16.0, 10.0), 0.6),
    "crowd": Scene(30, 0.2, (16.0, 10.0), 0.6),
    "road users": Scene(24, 0.2, (120.0, 120.0), 4.0, noise=0.3),
}


def make_scene(kind: str, seed: int) -> Stream:
    """Return the detections of each frame and the identity of each."""
    scene = SCENES[kind]
    rng = np.random.default_rng([seed, list(SCENES).index(kind)])
    moves = _drive if kind == "road users" else _walk
    batches, labels = [], []
    for places, names in moves(scene, rng):
        is_seen = ~_is_hidden(places, scene) & (rng.random(len(places)) >= scene.missed)
        n_false = rng.poisson(scene.n_false)
        seen = places[is_seen] + rng.normal(0, scene.noise, (int(is_seen.sum()), 2))
        rows = np.vstack([seen, rng.uniform(0, 1, (n_false, 2)) * scene.size])
        order = rng.permutation(len(rows))
        batches.append(rows[order])
        labels.append(np.r_[names[is_seen], np.full(n_false, FALSE)][order].astype(np.int64))
    return batches, labels


def _is_hidden(places: FloatArray, scene: Scene) -> FloatArray:
    """Whether a nearer object stands in the line of sight of a camera below the scene."""
    from_camera = places - [0.5 * scene.size[0], -0.4 * scene.size[1]]
    distances = np.linalg.norm(from_camera, axis=1)
    angles = np.arctan2(from_camera[:, 0], from_camera[:, 1])
    is_nearer = distances[None, :] < distances[:, None]
    apart = np.abs(angles[:, None] - angles[None, :]) * distances[:, None]
    return np.asarray((is_nearer & (apart < 0.4 * scene.width)).any(axis=1))


def _walk(scene: Scene, rng: np.random.Generator) -> Iterator[tuple[FloatArray, IntArray]]:
    """People who cross from edge to edge at 1.3 m/s, and do not walk quite straight."""
    size = np.asarray(scene.size)
    n = scene.n_objects
    places = rng.uniform(0, 1, (n, 2)) * size
    goals = _on_edge(rng, n, size)
    speeds, names = rng.normal(1.3, 0.25, n), np.arange(n)
    for _ in range(scene.n_frames):
        yield places, names
        way = goals - places
        left = np.linalg.norm(way, axis=1)
        turned = rng.normal(0, 0.15, (n, 2)) * speeds[:, None]
        places = places + scene.frame * (way / left[:, None] * speeds[:, None] + turned)
        is_gone = left < 0.5
        k = int(is_gone.sum())
        places, goals, names = places.copy(), goals.copy(), names.copy()
        places[is_gone], goals[is_gone] = _on_edge(rng, k, size), _on_edge(rng, k, size)
        names[is_gone] = names.max() + 1 + np.arange(k)


def _on_edge(rng: np.random.Generator, n: int, size: FloatArray) -> FloatArray:
    places = rng.uniform(0, 1, (n, 2))
    sides = rng.integers(0, 4, n)
    places[np.arange(n), sides % 2] = sides // 2
    return np.asarray(places * size)


def _drive(scene: Scene, rng: np.random.Generator) -> Iterator[tuple[FloatArray, IntArray]]:
    """Cars on the lanes of a crossing: they keep their distance and stop at a red light."""
    side, n = scene.size[0], scene.n_objects
    lanes, along = rng.integers(0, 8, n), -rng.uniform(0, side, n)
    wished, speeds, names = rng.normal(11, 2, n), np.zeros(n), np.arange(n)
    for step in range(scene.n_frames):
        is_in = (along >= 0) & (along <= side)
        yield _on_lane(along, lanes, side)[is_in], names[is_in]
        is_red = lanes % 2 == (step // 60) % 2
        ahead = np.where(lanes[None, :] == lanes[:, None], along[None, :] - along[:, None], np.inf)
        free = np.where(ahead > 0, ahead, np.inf).min(axis=1) - 7.0
        to_line = 0.42 * side - along
        free = np.where(is_red & (to_line > 0), np.minimum(free, to_line), free)
        target = np.minimum(wished, np.maximum(free, 0.0) / 1.5)
        speeds = speeds + np.clip(target - speeds, -7 * scene.frame, 2.5 * scene.frame)
        along = along + np.maximum(speeds, 0.0) * scene.frame
        is_gone = along > side
        k = int(is_gone.sum())
        lanes, along, names = lanes.copy(), along.copy(), names.copy()
        lanes[is_gone], along[is_gone] = rng.integers(0, 8, k), -rng.uniform(0, 0.3 * side, k)
        names[is_gone] = names.max() + 1 + np.arange(k)


def _on_lane(along: FloatArray, lanes: IntArray, side: float) -> FloatArray:
    """Positions on eight lanes: even ones run along x, odd ones along y, two each way."""
    across = 0.5 * side + np.array([-2.0, -6.0, 2.0, 6.0])[lanes // 2]
    forward = np.where(lanes // 2 < 2, along, side - along)
    places = np.column_stack([forward, across])
    return np.where((lanes % 2 == 0)[:, None], places, places[:, ::-1])


def read_aircraft(hours: tuple[float, float]) -> Stream:
    """Return aircraft over Switzerland between two hours of the day, every 30 s, in km."""
    table = pd.read_parquet(AIRCRAFT, columns=["traj", "timestamp", "latitude", "longitude"])
    when = pd.to_datetime(table["timestamp"])
    hour = (when - when.dt.normalize()).dt.total_seconds() / 3600
    table = table[(hour >= hours[0]) & (hour < hours[1])].assign(frame=when.dt.floor("30s"))
    table = table.dropna().sort_values("timestamp", kind="stable")
    table = table.drop_duplicates(["traj", "frame"], keep="last")
    east = table["longitude"] * np.cos(np.deg2rad(46.8))
    points = _KM_PER_DEGREE * np.column_stack([east, table["latitude"]])
    cuts = np.flatnonzero(np.diff(pd.factorize(table["frame"])[0])) + 1
    return np.split(points, cuts), np.split(table["traj"].to_numpy(np.int64), cuts)


def read_harbor(part: slice) -> Stream:
    """Return ships of New York, the last position of each in every minute, in km."""
    batches, labels = read_ships("ships, New York")
    kept = [_last_rows(names) for names in labels[part]]
    points = [batch[rows] for batch, rows in zip(batches[part], kept, strict=True)]
    return points, [names[rows] for names, rows in zip(labels[part], kept, strict=True)]


def _last_rows(names: IntArray) -> IntArray:
    reverse = np.unique(names[::-1], return_index=True)[1]
    return np.sort(len(names) - 1 - reverse)
