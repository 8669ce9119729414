"""Where the machine ends: a step beside the least it must read and compute, at the machine's speed.

Run as ``python -m benchmarks.engine.roofline``. In the same run, one thread: how fast memory is
read (an inner product of 128 MB), how fast doubles and floats are multiplied (products of square
matrices), and whole steps. A step reads its rows at least three times, for the units of the sums,
the first pass and the sums, its order once, and writes its labels; with 16 features and more every
point is multiplied with every center once, in float32, with fewer it is compared with four. Also
measured is the product of the size of a first pass. Writes benchmarks/results/engine/roofline.json.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.engine.cases import CASES, Case, run_steps
from benchmarks.machine import machine, write_results

MANY = 16  # features from which on a first pass multiplies
GROWTH = tuple(Case(f"N {n:.0e}", n, 100, 2) for n in (100_000, 1_000_000, 10_000_000))
GROWTH_TO_REACH = 1.3  # of the time a point, from 1e5 to 1e7


def least_seconds(work: Callable[[], Any], rounds: int) -> float:
    """Processor time of the fastest round."""
    spent = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


def machine_speed(rounds: int) -> dict[str, float]:
    """Bytes read and operations done in a second by one thread."""
    long = np.ones(1 << 24)
    speeds = {"bytes": long.nbytes / least_seconds(lambda: long @ long, rounds)}
    for name, kind in (("doubles", np.float64), ("floats", np.float32)):
        square = np.ones((1024, 1024), dtype=kind)
        speeds[name] = 2 * 1024**3 / least_seconds(lambda square=square: square @ square, rounds)
    return speeds


def time_case(case: Case, speed: dict[str, float], rounds: int) -> dict[str, Any]:
    """One step of a case, and what the machine would need at least."""
    batches = case.batches()
    run = run_steps(case, batches, n_threads=1)
    n, d = case.n_points, case.n_features
    step = least_seconds(lambda: run_steps(case, batches, n_threads=1), rounds) / len(batches)
    n_bytes = 3 * 8 * n * d + 16 * n
    is_product = d >= MANY
    n_operations = 2 * n * run.n_found * d if is_product else 4 * 3 * n * d
    found = {
        "name": case.name,
        "n_points": n,
        "n_features": d,
        "n_found": run.n_found,
        "n_passes": run.n_passes,
        "step_ms": 1e3 * step,
        "ns_a_point": 1e9 * step / n,
        "reading_ms": 1e3 * n_bytes / speed["bytes"],
        "computing_ms": 1e3 * n_operations / speed["floats" if is_product else "doubles"],
    }
    if is_product:
        rows = batches[-1][0].astype(np.float32)
        centers = run.centers.astype(np.float32)
        found["product_ms"] = 1e3 * least_seconds(lambda: rows @ centers.T, rounds)
    return found


def print_case(row: dict[str, Any]) -> None:
    """Print one line of the table."""
    least = max(row["reading_ms"], row["computing_ms"])
    product = f", its product {row['product_ms']:.1f} ms" if "product_ms" in row else ""
    print(
        f"{row['name']:<9} a step {row['step_ms']:8.2f} ms ({row['ns_a_point']:.0f} ns a point), "
        f"reading {row['reading_ms']:.2f}, computing {row['computing_ms']:.2f}: "
        f"{row['step_ms'] / least:.1f} times the larger{product}",
        flush=True,
    )


def main() -> None:
    """Measure the machine and every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with threadpool_limits(1):
        speed = machine_speed(rounds)
        print(", ".join(f"{name} {per_second / 1e9:.1f}e9/s" for name, per_second in speed.items()))
        rows = []
        for case in (*CASES, *GROWTH):
            rows.append(time_case(case, speed, rounds if case.n_points < 10**7 else 1))
            print_case(rows[-1])
    growth = rows[-1]["ns_a_point"] / rows[-3]["ns_a_point"]
    print(f"time a point grows {growth:.2f} times from 1e5 to 1e7 (to reach: {GROWTH_TO_REACH})")
    results = {"machine": machine(), "speed": speed, "cases": rows, "growth": growth}
    write_results("engine/roofline", {"config": {"rounds": rounds}, **results})


if __name__ == "__main__":
    main()
