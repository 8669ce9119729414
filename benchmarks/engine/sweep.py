"""How the time of a pass grows with the number of clusters and of points, one and all threads.

Run as ``python -m benchmarks.engine.sweep`` (``make bench``). Each time stands beside one call of
scikit-learn's nearest-center search on the same points and the centers found; calls of more than
two thousand million pairs are taken on a share of the points and scaled, and marked. Writes
benchmarks/results/engine/sweep.json.
"""

import argparse
from collections.abc import Iterator
from typing import Any

from benchmarks.engine.cases import MAX_PAIRS, N_CORES, Case, run_steps, time_nearest, timed
from benchmarks.machine import machine, write_results

N_CLUSTERS = (100, 300, 1000, 3000, 10_000)
N_POINTS = (1000, 10_000, 100_000, 1_000_000)
SERIES = ((2, "uniform"), (2, "apart"), (3, "uniform"), (8, "uniform"))  # features, layout
LONGEST = 1_000_000
GROWTH_TO_REACH = 1.5  # of a pass from 1,000 to 10,000 clusters at d = 2


def sweep_clusters(n_points: int) -> Iterator[Case]:
    """K from 100 to 10,000."""
    for d, layout in SERIES:
        for k in N_CLUSTERS:
            yield Case("K", n_points, k, d, layout)


def sweep_points(longest: int) -> Iterator[Case]:
    """N from 1,000 up, about 100 clusters."""
    for d, layout in SERIES:
        for n in N_POINTS:
            if n <= longest:
                yield Case("N", n, 100, d, layout)


def measure(case: Case) -> dict[str, Any]:
    """Time one point of the sweep: milliseconds per pass, with one thread and with all."""
    batches = case.batches()
    points = batches[-1][0]
    run, one = timed(lambda: run_steps(case, batches, n_threads=1), at_least=0.3)
    _, all_ = timed(lambda: run_steps(case, batches, n_threads=N_CORES), at_least=0.3)
    theirs = [time_nearest(points, run.centers, n) for n in (1, N_CORES)]
    return {
        "sweep": case.name,
        "n_points": case.n_points,
        "n_clusters": case.n_clusters,
        "n_found": run.n_found,
        "n_features": case.n_features,
        "layout": case.layout,
        "n_passes": run.n_passes,
        "ms_per_pass": one.cpu * 1e3 / run.n_passes,
        "ms_per_step": one.cpu * 1e3 / len(batches),
        "ms_per_pass_all_threads": all_.wall * 1e3 / run.n_passes,
        "speedup": one.wall / all_.wall,
        "sklearn_ms": theirs[0].cpu * 1e3,
        "sklearn_ms_all_threads": theirs[1].wall * 1e3,
        "is_sklearn_scaled": case.n_points * run.n_found > MAX_PAIRS,
        "ratio": one.cpu / run.n_passes / theirs[0].cpu,
        "others": max(t.others for t in (one, all_, *theirs)),
    }


def print_point(r: dict[str, Any]) -> None:
    """Print one line of the table."""
    mark = "*" if r["is_sklearn_scaled"] else " "
    print(
        f"d={r['n_features']} {r['layout']:<8} N={r['n_points']:<8} K={r['n_found']:<6}"
        f"{r['n_passes']:>4} passes {r['ms_per_pass']:9.3f} ms/pass "
        f"{r['ms_per_step']:9.1f} ms/step sklearn {r['sklearn_ms']:9.2f}{mark} ms "
        f"ratio {r['ratio']:.4f}  {N_CORES} threads: "
        f"{r['ms_per_pass_all_threads']:9.3f} ms/pass, {r['speedup']:.2f} times faster, "
        f"sklearn {r['sklearn_ms_all_threads']:9.2f}{mark} ms (others {r['others']:.0%})",
        flush=True,
    )


def growths(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Growth of a pass, and of a step, from 1,000 to 10,000 clusters in each series."""
    found = []
    for d, layout in SERIES:
        series = {
            r["n_clusters"]: r
            for r in points
            if (r["sweep"], r["n_features"], r["layout"]) == ("K", d, layout)
        }
        if not {1000, 10_000} <= set(series):
            continue
        few, many = series[1000], series[10_000]
        ratios = {f"of_a_{x}": many[f"ms_per_{x}"] / few[f"ms_per_{x}"] for x in ("pass", "step")}
        sklearn = many["sklearn_ms"] / few["sklearn_ms"]
        found.append({"n_features": d, "layout": layout, **ratios, "of_sklearn": sklearn})
    return found


def main() -> None:
    """Run both sweeps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20,000 points; writes nothing")
    parser.add_argument("--growth", action="store_true", help="only 1,000 and 10,000 clusters")
    options = parser.parse_args()
    is_quick = options.quick
    longest = 20_000 if is_quick else LONGEST
    config = {"n_points": longest, "most_pairs": MAX_PAIRS, "n_threads": [1, N_CORES]}
    results: dict[str, Any] = {"config": config, "machine": machine(), "points": []}
    print("* taken on a share of the points and scaled")
    cases = (*sweep_clusters(longest), *sweep_points(longest))
    if options.growth:
        cases = tuple(case for case in cases if case.n_clusters in (1000, 10_000))
    for case in cases:
        results["points"].append(measure(case))
        print_point(results["points"][-1])
    results["growth"] = growths(results["points"])
    for g in results["growth"]:
        print(
            f"d={g['n_features']} {g['layout']}: from 1,000 to 10,000 clusters a pass grows "
            f"{g['of_a_pass']:.2f} times, a step {g['of_a_step']:.2f}, "
            f"scikit-learn's call {g['of_sklearn']:.1f} (to reach at d = 2: {GROWTH_TO_REACH})"
        )
    if not is_quick:
        write_results("engine/growth" if options.growth else "engine/sweep", results)


if __name__ == "__main__":
    main()
