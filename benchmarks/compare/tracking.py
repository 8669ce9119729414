"""IDF1 and HOTA of trackers on detections of people, road users, aircraft and ships.

Run as ``python -m benchmarks.compare.tracking``. "Tuned" means: the setting of highest HOTA on
another stream of the kind (of another seed; earlier hours or minutes of the real ones), with its
labels. Scores are those of trackeval; a false detection is no object, and costs if it gets a track.
Writes benchmarks/results/compare/tracking.json.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from trackeval.metrics import HOTA, Identity

from benchmarks.compare.detections import (
    AIRCRAFT,
    SCENES,
    Stream,
    make_scene,
    read_aircraft,
    read_harbor,
)
from benchmarks.compare.rows import Row, Rows
from benchmarks.compare.trackers import Choice, choices, trackers, usual_move
from benchmarks.quality.ships import SHIPS
from dynmeans.records.arrays import IntArray

# Of scenes; smaller seeds than that of the tuned one are for development.
TUNING_SEED, FIRST_SEED, N_SEEDS = 1000, 2000, 4


def score(true: list[IntArray], found: list[IntArray]) -> Row:
    """Return IDF1 and HOTA by trackeval; rows labeled -1 are no object or have no track."""
    gt_names, gt = _numbered(true)
    names, tracked = _numbered(found)
    data = {
        "num_gt_ids": gt_names,
        "num_tracker_ids": names,
        "num_gt_dets": sum(map(len, gt)),
        "num_tracker_dets": sum(map(len, tracked)),
        "num_timesteps": len(true),
        "gt_ids": gt,
        "tracker_ids": tracked,
        "similarity_scores": [
            np.eye(len(a))[np.ix_(a >= 0, b >= 0)] for a, b in zip(true, found, strict=True)
        ],
    }
    hota = HOTA().eval_sequence(data)
    return {
        "hota": float(np.mean(hota["HOTA"])),
        "idf1": float(Identity({"PRINT_CONFIG": False}).eval_sequence(data)["IDF1"]),
        "n_tracks": names,
    }


def _numbered(labels: list[IntArray]) -> tuple[int, list[IntArray]]:
    """Return how many names there are, and the names of each frame as numbers from 0."""
    names = np.unique(np.concatenate(labels))
    names = names[names >= 0]
    return len(names), [np.searchsorted(names, one[one >= 0]) for one in labels]


def streams() -> Iterator[tuple[str, int, Callable[[], Stream], Callable[[], Stream]]]:
    """Return name and seed of each stream, its reader, and that of the stream for tuning."""
    for kind in SCENES:
        for seed in range(FIRST_SEED, FIRST_SEED + N_SEEDS):
            yield (
                kind,
                seed,
                lambda kind=kind, seed=seed: make_scene(kind, seed),
                lambda kind=kind: make_scene(kind, TUNING_SEED),
            )
    if AIRCRAFT.exists():
        yield "aircraft", 0, lambda: read_aircraft((13, 15)), lambda: read_aircraft((12, 13))
    if SHIPS["ships, New York"].exists():
        yield (
            "ships",
            0,
            lambda: read_harbor(slice(20, None)),
            lambda: read_harbor(slice(0, 20)),
        )


@cache
def best_choice(data: str, method: str) -> Choice:
    """Return the setting of highest HOTA on the stream for tuning."""
    follow, values = trackers()[method]
    if values is None:
        return {}
    batches, true = next(tuning() for name, _, _, tuning in streams() if name == data)
    scores, tried = [], choices(usual_move(batches), **values)
    for choice in tried:
        scores.append(score(true, follow(batches, choice))["hota"])
    return tried[int(np.argmax(scores))]


def main() -> None:
    """Measure the rows that are not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", help="measure rows again whose method has this in its name")
    parser.add_argument("--only", default="", help="only rows that have this in data or method")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    measure(Rows("tracking", options.again, options.only))


def measure(rows: Rows) -> None:
    """Measure the rows that are not there."""
    for data, seed, read, _ in streams():
        for method in trackers():
            rows.measure(
                {"data": data, "seed": seed, "method": method},
                lambda data=data, method=method, read=read: run(data, method, *read()),
            )


def run(data: str, method: str, batches: list[np.ndarray], true: list[IntArray]) -> Row:
    """Choose the setting, track and score; the time is that of tracking alone."""
    choice = best_choice(data, method)
    started = time.perf_counter()
    found = trackers()[method][0](batches, choice)
    seconds = time.perf_counter() - started
    scores = score(true, found)
    shown = {name: f"{v:.3g}" if isinstance(v, float) else v for name, v in choice.items()}
    return {**scores, "seconds": seconds, "n_rows": sum(map(len, true)), "chosen": shown}


if __name__ == "__main__":
    main()
