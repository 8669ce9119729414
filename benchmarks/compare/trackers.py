"""Trackers of detections, each as its users would run it: a label for every row of every frame.

-1 is a detection without a track. norfair and trackers (SORT, OC-SORT) are used if installed:
``pip install trackers "filterpy<2"`` and ``pip install --no-deps norfair``, which asks for NumPy 1
and runs with NumPy 2.
"""

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dynmeans import DynamicMeans
from dynmeans.records.arrays import FloatArray, IntArray

Frames = list[FloatArray]
Labels = list[IntArray]
Choice = dict[str, Any]
# Distances are tried in units of the median distance of a row to the nearest one in the next frame.
REACHES = (2.0, 3.0, 4.0, 6.0, 8.0, 12.0)


def track_by_default(frames: Frames, choice: Choice) -> Labels:
    """Follow every row as one object; the gate is chosen from the rows."""
    model = DynamicMeans(method="detections", random_state=0)
    return [np.asarray(found) for found in model.fit_sequence(frames)[0]]


def track(frames: Frames, choice: Choice) -> Labels:
    """Follow every row as one object with a given gate; new objects are confirmed later."""
    model = DynamicMeans(
        choice["distance"] ** 2,
        max_gap=choice["gap"],
        reach=1.5,
        motion=choice["motion"],
        method="detections",
        min_batches=choice["hits"],
        random_state=0,
    )
    return [np.asarray(model.partial_fit(frame).confirmed_labels_) for frame in frames]


def track_hungarian(frames: Frames, choice: Choice) -> Labels:
    """Match each frame to the last positions, so that the sum of distances is least."""
    places, names, missed = np.empty((0, frames[0].shape[1])), np.empty(0, dtype=np.int64), []
    labels, n_born = [], 0
    for frame in frames:
        distances = cdist(places, frame)
        rows, columns = linear_sum_assignment(np.minimum(distances, choice["distance"] * 10))
        is_near = distances[rows, columns] <= choice["distance"]
        found = np.full(len(frame), -1)
        found[columns[is_near]] = names[rows[is_near]]
        is_new = found < 0
        found[is_new] = n_born + np.arange(is_new.sum())
        n_born += int(is_new.sum())
        waiting = [
            (place, name, gap + 1)
            for place, name, gap in zip(places, names, missed, strict=True)
            if name not in found and gap + 1 < choice["gap"]
        ]
        places = np.vstack([frame, *(place[None] for place, _, _ in waiting)])
        names = np.r_[found, [name for _, name, _ in waiting]].astype(np.int64)
        missed = [0] * len(frame) + [gap for _, _, gap in waiting]
        labels.append(found)
    return labels


def track_norfair(frames: Frames, choice: Choice) -> Labels:
    """Run norfair on points."""
    norfair = importlib.import_module("norfair")
    gap, hits = choice["gap"], choice["hits"]
    given = (
        {} if gap is None else {"hit_counter_max": gap, "initialization_delay": min(hits, gap - 1)}
    )
    tracker = norfair.Tracker("euclidean", choice["distance"], **given)
    labels = []
    for t, frame in enumerate(frames):
        rows = [norfair.Detection(place[None], data=(t, i)) for i, place in enumerate(frame)]
        found = np.full(len(frame), -1)
        for one in tracker.update(rows):
            when, row = one.last_detection.data
            if when == t:
                found[row] = one.id
        labels.append(found)
    return labels


def track_boxes(name: str, frames: Frames, choice: Choice) -> Labels:
    """Run a tracker of boxes of the package trackers: squares around the points."""
    detections = importlib.import_module("supervision").Detections
    options = {"lost_track_buffer": choice["gap"], "minimum_consecutive_frames": choice["hits"]}
    given = {name: int(value) for name, value in options.items() if value is not None}
    tracker = getattr(importlib.import_module("trackers"), name)(**given)
    half, labels = 0.5 * choice["distance"], []
    # Boxes count in pixels: the smallest coordinate is 0, and a box is 40 wide.
    scale, low = 20.0 / half, np.min([frame.min(axis=0) for frame in frames if len(frame)], axis=0)
    for frame in frames:
        places = (frame - low) * scale
        boxes = np.hstack([places - 20.0, places + 20.0])
        rows = {"row": np.arange(len(frame))}  # some return the detections in another order
        found = tracker.update(detections(xyxy=boxes, confidence=np.ones(len(frame)), data=rows))
        names = np.full(len(frame), -1)
        if len(found):
            names[found.data["row"]] = found.tracker_id
        labels.append(names)
    return labels


def usual_move(frames: Frames) -> float:
    """Return the median distance of a row to the nearest one in the next frame."""
    nearest = [cdist(a, b).min(axis=1) for a, b in pairwise(frames) if len(a) and len(b)]
    return float(np.median(np.concatenate(nearest)))


def choices(move: float, **values: tuple[Any, ...]) -> list[Choice]:
    """Return every combination of the values, with every distance."""
    grid = {"distance": tuple(move * reach for reach in REACHES), **values}
    return [dict(zip(grid, chosen, strict=True)) for chosen in product(*grid.values())]


Tracker = tuple[Callable[[Frames, Choice], Labels], dict[str, tuple[Any, ...]] | None]
_GAPS, _HITS = (2, 4, 8, 16), (1, 2, 3)


def trackers() -> dict[str, Tracker]:
    """Return each tracker with the values that are tried; None is nothing to choose."""
    found: dict[str, Tracker] = {
        "dynmeans, nothing given": (track_by_default, None),
        "dynmeans, tuned": (
            track,
            {"gap": _GAPS, "hits": _HITS, "motion": ("random_walk", "constant_velocity")},
        ),
        "Hungarian, tuned": (track_hungarian, {"gap": _GAPS}),
    }
    if find_spec("norfair"):
        found["norfair, distance tuned"] = (track_norfair, {"gap": (None,), "hits": (None,)})
        found["norfair, all tuned"] = (track_norfair, {"gap": _GAPS, "hits": (0, 1, 2)})
    if find_spec("trackers"):
        for name in ("SORT", "OCSORT"):
            run = lambda frames, choice, name=name: track_boxes(f"{name}Tracker", frames, choice)  # noqa: E731
            found[f"{name}, box tuned"] = (run, {"gap": (None,), "hits": (None,)})
            found[f"{name}, all tuned"] = (run, {"gap": _GAPS, "hits": _HITS})
    return found
