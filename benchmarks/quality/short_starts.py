"""Should the memory that is suggested be no longer than the start that was looked at?

Run as ``python -m benchmarks.quality.short_starts``. For every real stream at hand and starts of a
few batches, the suggestion chooses max_gap ("open") or is told the number of those batches
("stated"); either is then followed over the whole stream. Labels are used for scoring only. Rows go
to benchmarks/results/quality/short_starts.json stream by stream; those that are there already are
not measured again.
"""

import json
import math
import warnings
from typing import Any

from benchmarks.machine import RESULTS, commit, machine, write_results
from benchmarks.quality.real_streams import Row, scores, streams_at_hand
from dynmeans import DynamicMeans
from dynmeans.parameters.selection import suggest
from dynmeans.records.arrays import FloatArray, IntArray

NAME = "quality/short_starts"
STARTS = (5, 7, 10, 14, 20)
OPEN, STATED = "open", "stated"
SEEDS = range(2)


def rows_of(
    batches: list[FloatArray], true: list[IntArray], n_start: int, memory: str
) -> list[Row]:
    """Choose on the first batches, follow all of them with each seed, and score."""
    told = float(n_start) if memory == STATED else None
    penalties = suggest(batches[:n_start], motion="random_walk", max_gap=told).penalties
    gap = penalties.max_gap if math.isfinite(penalties.max_gap) else None  # forgets nothing
    chosen = {"new_penalty": penalties.new_penalty, "max_gap": gap, "reach": penalties.reach}
    rows = []
    for seed in SEEDS:
        model = DynamicMeans(penalties, families=True, random_state=seed)
        labels, _ = model.fit_sequence(batches)
        found = {"families": model.families_.map_labels(labels), "plain": labels}
        row = {"n_start": n_start, "memory": memory, "seed": seed, **chosen}
        rows.append(row | {of: scores(true, given) for of, given in found.items()})
    return rows


def measure(batches: list[FloatArray], true: list[IntArray]) -> list[Row]:
    """Return the rows of a stream, for every start that is not all of it."""
    return [
        row
        for n_start in STARTS
        if n_start < len(batches)
        for memory in (OPEN, STATED)
        for row in rows_of(batches, true, n_start, memory)
    ]


def main() -> None:
    """Measure the streams that are not there yet, print and write."""
    warnings.simplefilter("ignore")
    path = RESULTS / f"{NAME}.json"
    results: dict[str, Any] = {"machine": machine(), "streams": {}}
    if path.exists():
        results = json.loads(path.read_text())
    for name, read in streams_at_hand().items():
        if name in results["streams"]:
            continue
        batches, true = read()
        rows = measure(batches, true)
        results["streams"][name] = {"n_batches": len(batches), "commit": commit(), "rows": rows}
        for row in rows:
            told = f"start {row['n_start']}, {row['memory']}, seed {row['seed']}"
            of_families, plain = (row[of]["accuracy"] for of in ("families", "plain"))
            print(f"{name}, {told}: families {of_families:.3f}, plain {plain:.3f}", flush=True)
        write_results(NAME, results)


if __name__ == "__main__":
    main()
