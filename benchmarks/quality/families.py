"""Time of `find_families` beside the run that it reads: a million points, 2,000 identities.

Run as ``python -m benchmarks.quality.families``. The clusters come and go, so that about a tenth of
the identities is in each of 1,000 batches of 1,000 points. Both times are the shortest of three
taken in turn; written to benchmarks/results/quality/families.json.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.machine import machine, write_results
from dynmeans import DynamicMeans, find_families
from dynmeans.records.arrays import FloatArray

N_BATCHES, N_POINTS, N_LIVING, LIFE = 1_000, 1_000, 200, 100
N_ROUNDS = 3


def make_stream(seed: int = 0) -> list[FloatArray]:
    """Return batches of clusters of which two are replaced by others in every batch."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(0, 60, size=(N_LIVING, 2))
    batches = []
    for t in range(N_BATCHES):
        first = t * N_LIVING // LIFE
        replaced = np.arange(first, first + N_LIVING // LIFE) % N_LIVING
        centers[replaced] = rng.uniform(0, 60, size=(len(replaced), 2))
        names = rng.integers(N_LIVING, size=N_POINTS)
        batches.append(centers[names] + 0.3 * rng.standard_normal((N_POINTS, 2)))
    return batches


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds and the result."""
    started = time.perf_counter()
    found = work()
    return time.perf_counter() - started, found


def main() -> None:
    """Time both in turn and write the ratio."""
    batches = make_stream()
    seconds: dict[str, list[float]] = {"run": [], "families": []}
    for _ in range(N_ROUNDS):
        model = DynamicMeans(2.0, max_gap=6.8, reach=1.2, random_state=0)
        took, (labels, _) = timed(lambda model=model: model.fit_sequence(batches))
        seconds["run"].append(took)
        took, families = timed(lambda labels=labels: find_families(batches, labels))
        seconds["families"].append(took)
    run, after = min(seconds["run"]), min(seconds["families"])
    print(
        f"{N_BATCHES * N_POINTS:,} points, {len(families.tree.ids):,} identities: run {run:.2f} s, "
        f"families {after:.2f} s, ratio {after / run:.2f}"
    )
    rows = {
        "n_points": N_BATCHES * N_POINTS,
        "n_identities": len(families.tree.ids),
        "run_seconds": run,
        "families_seconds": after,
        "ratio": after / run,
    }
    write_results("quality/families", {"machine": machine(), **rows})


if __name__ == "__main__":
    main()
