"""What the spaces bring, and what they cost.

Run as ``python -m benchmarks.quality.spaces vectors rings times``, any of them;
each replaces its rows in benchmarks/results/quality/spaces.json. ``vectors``: Reuters and tweets on
SVD axes, and generated embeddings with a common part, at several cosines. ``rings``: nested rings
that wander.
``times``: a step of 1e6 rows, in turns within one process, as ratios to `raw`.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.machine import RESULTS, machine, write_results
from benchmarks.quality.real_streams import SHARED, read_npz, scores
from benchmarks.quality.ring_streams import moving_rings
from dynmeans import DynamicMeans
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.spaces.landmarks import Landmarks
from dynmeans.spaces.named import find_space

TEXTS = ("reuters", "tweets")
COSINES = (0.1, 0.2, 0.3, 0.4, 0.5)
COMMON = (0.0, 1.0, 3.0)  # lengths of the part that all vectors share, beside 1 of the topic
RING_LAMBDAS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
N_ROWS = 1_000_000
TURNS = 5


def vectors() -> list[dict[str, Any]]:
    """Score dense vectors at several cosines, as they are and less the mean of the first rows."""
    streams = {name: read_npz(SHARED / "real_streams" / f"{name}.npz") for name in TEXTS}
    for common in COMMON:
        streams[f"generated, common part {common:g}"] = _embeddings(common)
    rows = []
    for name, (batches, true) in streams.items():
        for space in ("cosine", "cosine:centered"):
            for cosine in COSINES:
                penalty = 2.0 * (1.0 - cosine)
                model = DynamicMeans(penalty, space=space, search="paper", n_init=1, random_state=0)
                labels = model.fit_sequence([batch for batch in batches if len(batch)])[0]
                found = np.concatenate(labels)
                truth = np.concatenate([t for t in true if len(t)])
                nmi = normalized_mutual_info_score(truth, found, average_method="geometric")
                told = {"stream": name, "space": space, "cosine": cosine, "nmi": float(nmi)}
                rows.append(told | {"n_clusters": int(found.max()) + 1})
    return rows


def _embeddings(common: float, seed: int = 0) -> tuple[list[FloatArray], list[IntArray]]:
    """Make vectors of 60 topics: a part in common, that of the topic, and noise twice as long."""
    rng = np.random.default_rng(seed)
    topics = _unit(rng.normal(size=(60, 384)))
    shared = common * _unit(rng.normal(size=(1, 384)))
    shares = rng.dirichlet(np.full(60, 0.3))
    true = [rng.choice(60, 400, p=shares) for _ in range(20)]
    noise = (2.0 * _unit(rng.normal(size=(400, 384))) for _ in true)
    return [_unit(shared + topics[t] + own) for t, own in zip(true, noise, strict=True)], true


def _unit(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


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
    "vectors": vectors,
    "rings": rings,
    "times": times,
}


def main(parts: Sequence[str]) -> None:
    """Measure these parts, print them, and put them in their places."""
    warnings.simplefilter("ignore")
    path = RESULTS / "quality" / "spaces.json"
    known = json.loads(path.read_text())["parts"] if path.exists() else {}
    known = {part: rows for part, rows in known.items() if part in PARTS}
    for part in parts:
        known[part] = PARTS[part]()
        for row in known[part]:
            print(part, row)
        write_results("quality/spaces", {"machine": machine(), "parts": known})


if __name__ == "__main__":
    main(sys.argv[1:] or list(PARTS))
