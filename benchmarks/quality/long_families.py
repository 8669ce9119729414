"""Time and memory of a model with families over 10,000 batches in which clusters come and go.

Run as ``python -m benchmarks.quality.long_families``. Of 40 clusters four are replaced by others in
every batch, so that tens of thousands are forgotten. For each thousand batches: processor time, how
long `events_` and `families_` take at its end, and the size of the pickled model; written to
benchmarks/results/quality/long_families.json.
"""

import pickle
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.machine import machine, write_results
from dynmeans import DynamicMeans
from dynmeans.records.arrays import FloatArray

N_BATCHES, N_POINTS, N_LIVING, PART = 10_000, 200, 40, 1_000


def make_stream(seed: int = 0) -> Iterator[FloatArray]:
    """Yield batches of clusters, four of which are replaced in each."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(0, 60, size=(N_LIVING, 2))
    for t in range(N_BATCHES):
        centers[np.arange(4 * t, 4 * t + 4) % N_LIVING] = rng.uniform(0, 60, size=(4, 2))
        names = rng.integers(N_LIVING, size=N_POINTS)
        yield centers[names] + 0.3 * rng.standard_normal((N_POINTS, 2))


def main() -> None:
    """Follow the stream, measure every thousand batches, print and write."""
    model = DynamicMeans(2.0, max_gap=6.8, reach=1.2, random_state=0, families=True)
    rows: list[dict[str, Any]] = []
    started = time.process_time()
    for t, batch in enumerate(make_stream(), start=1):
        model.partial_fit(batch)
        if t % PART:
            continue
        row: dict[str, Any] = {"n_batches": t, "seconds": time.process_time() - started}
        for name in ("events_", "families_"):
            began = time.process_time()
            getattr(model, name)
            row[f"seconds_of_{name}"] = time.process_time() - began
        row["megabytes"] = len(pickle.dumps(model)) / 1e6
        row["n_identities"] = model.state_.next_id
        rows.append(row)
        print(row, flush=True)
        started = time.process_time()
    write_results("quality/long_families", {"machine": machine(), "rows": rows})


if __name__ == "__main__":
    main()
