"""What the spaces bring, and what they cost.

Run as ``python -m benchmarks.quality.spaces text rings communities times``, any of them; each
replaces its rows in benchmarks/results/quality/spaces.json. ``text``: Reuters and tweets in `raw`
and in `cosine`, label-free and with lambda chosen by the labels that score it. ``rings``: nested
rings that wander.
``communities``: networks over time, beside Leiden with matching (needs python-igraph).
``times``: a step of 1e6 rows, in turns within one process, as ratios to `raw`.
"""

import json
import runpy
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.machine import RESULTS, machine, write_results
from benchmarks.quality.real_streams import SHARED, read_npz, scores
from benchmarks.quality.ring_streams import moving_rings
from dynmeans import DynamicMeans
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.spaces.landmarks import Landmarks
from dynmeans.spaces.named import find_space

TEXTS = ("reuters", "tweets")
SHARES = tuple(2.8 * 2.0 ** (-k / 2) for k in range(-2, 10))  # of the variance within batches
RING_LAMBDAS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
N_ROWS = 1_000_000
TURNS = 5
EXAMPLE = RESULTS.parents[1] / "examples" / "communities.py"


def text() -> list[dict[str, Any]]:
    """Score the topics found in each space, label-free and at the best lambda."""
    rows = []
    for name in TEXTS:
        batches, true = read_npz(SHARED / "real_streams" / f"{name}.npz")
        for space in ("raw", "cosine"):
            found = _label_free(batches, true, space)
            found["best lambda"] = _best_lambda(batches, true, space)
            rows += [{"stream": name, "space": space, "row": row, **s} for row, s in found.items()]
    return rows


def _label_free(
    batches: list[FloatArray], true: list[IntArray], space: str
) -> dict[str, dict[str, Any]]:
    model = DynamicMeans("auto", families=True, space=space, random_state=0)
    labels, _ = model.fit_sequence(batches)
    families = model.families_
    levels = families.levels[np.unique(np.linspace(0, len(families.levels) - 1, 80).astype(int))]
    at_levels = [scores(true, families.cut(level).map_labels(labels)) for level in levels]
    return {
        "label-free, without families": scores(true, labels),
        "label-free": scores(true, families.map_labels(labels)),
        "best level": max(at_levels, key=lambda row: float(row["accuracy"])),
    }


def _best_lambda(batches: list[FloatArray], true: list[IntArray], space: str) -> dict[str, Any]:
    points = [find_space(space).to_points(batch) for batch in batches if len(batch)]
    variance = float(np.mean([batch.var(axis=0).sum() for batch in points]))
    tried = []
    for share in SHARES:
        model = DynamicMeans(share * variance, space=space, max_gap=28, reach=1.01, random_state=0)
        tried.append(scores(true, model.fit_sequence(batches)[0]))
    return max(tried, key=lambda row: float(row["accuracy"]))


def rings() -> list[dict[str, Any]]:
    """Score rings that no center describes; `raw` at the best of eight lambdas."""
    rows = []
    for seed in range(5):
        batches, true = moving_rings(np.random.default_rng(seed))
        raw = [
            scores(true, DynamicMeans(lam, random_state=0).fit_sequence(batches)[0])
            for lam in RING_LAMBDAS
        ]
        best = max(raw, key=lambda row: float(row["accuracy"]))
        rows.append({"seed": seed, "space": "raw", **best})
        model = DynamicMeans(0.6, space="landmarks", max_gap=8, random_state=0)
        found = scores(true, model.fit_sequence(batches)[0])
        rows.append({"seed": seed, "space": "landmarks", **found})
    return rows


def communities() -> list[dict[str, Any]]:
    """Score the example of communities on networks that it was not made on; needs igraph."""
    example = runpy.run_path(str(EXAMPLE))
    rows = []
    for seed in range(10, 15):
        network = example["simulate"](seed)
        for name in ("follow", "match_leiden"):
            rows.append(
                {"seed": seed, "method": name} | example["score"](network, example[name](network))
            )
    return rows


def times() -> list[dict[str, Any]]:
    """Time a step in each space beside one of `raw` on points of as many features."""
    rng = np.random.default_rng(0)
    lat = rng.choice([-40.0, 0.0, 20.0, 50.0], N_ROWS) + rng.normal(0, 1, N_ROWS)
    lon = rng.choice([-120.0, 10.0, 100.0, 179.0], N_ROWS) + rng.normal(0, 1, N_ROWS)
    degrees = np.stack([lat, (lon + 180) % 360 - 180], axis=1)
    places = find_space("geo").to_points(degrees)
    three = rng.normal(size=(N_ROWS, 3)) + 20 * rng.integers(0, 3, (N_ROWS, 3))
    near, true = moving_rings(np.random.default_rng(0), n_points=3000, n_steps=3)
    first = Landmarks().fit(np.concatenate(near))
    wide = rng.normal(size=(len(near[0]), first.n_landmarks)) + 9 * true[0][:, None]
    rows = []
    for name, space, inside, plain, penalty in (
        ("geo", "geo", degrees, places, 1000.0**2),
        ("standard", "standard", three, find_space("standard").fit(three).to_points(three), 1.0),
        ("landmarks", first, near[0], wide, 0.6),
    ):
        beside = 9.0 * wide.shape[1] if name == "landmarks" else penalty
        pairs = [
            (_seconds(inside, space, penalty), _seconds(plain, "raw", beside)) for _ in range(TURNS)
        ]
        ours_, raw = np.median(pairs, axis=0)
        told = {"space": name, "n_rows": len(inside), "n_features": plain.shape[1]}
        rows.append(told | {"seconds": float(ours_), "raw_seconds": float(raw)})
        rows[-1]["ratio"] = float(np.median([a / b for a, b in pairs]))
    return rows


def _seconds(rows: FloatArray, space: Any, penalty: float) -> float:
    model = DynamicMeans(penalty, space=space, random_state=0).partial_fit(rows[:1000])
    started = time.perf_counter()
    model.partial_fit(rows)
    return time.perf_counter() - started


PARTS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "text": text,
    "rings": rings,
    "communities": communities,
    "times": times,
}


def main(parts: Sequence[str]) -> None:
    """Measure these parts, print them, and put them in their places."""
    warnings.simplefilter("ignore")
    path = RESULTS / "quality" / "spaces.json"
    known = json.loads(path.read_text())["parts"] if path.exists() else {}
    for part in parts:
        known[part] = PARTS[part]()
        for row in known[part]:
            print(part, row)
        write_results("quality/spaces", {"machine": machine(), "parts": known})


if __name__ == "__main__":
    main(sys.argv[1:] or list(PARTS))
