"""Time per pass of the engine, beside one call of scikit-learn's nearest-center search.

Run as ``python -m benchmarks.engine.passes`` (``make bench``). Each figure is a ratio of times
taken in turns in the same run; absolute times depend on the machine. One thread is measured in
processor time, more threads by the clock. Writes benchmarks/results/engine/engine.json, unless
``--leave-out`` names accelerations to do without; benchmarks/engine/ablation.py leaves out each in
turn.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.engine.cases import (
    CASES,
    N_CORES,
    QUIET,
    Case,
    Timing,
    run_steps,
    time_nearest,
    timed,
)
from benchmarks.machine import machine
from benchmarks.machine import write_results as write
from dynmeans import ClusterState, DynamicMeans, Penalties, step
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.engine import native
from dynmeans.engine.compiled import INSTRUCTION_SETS, usable_instruction_sets

# Time per pass over one call of scikit-learn, one thread.
TO_REACH = {"A": 0.08, "B": 0.06, "C": 0.015, "D": 0.25, "E": 0.20}
# The authors' C++: constants, recorded once on other data of the same kind and size.
AUTHORS = {"A": 0.61, "B": 1.08, "C": 0.72, "D": 2.2, "E": 1.77}
SPEEDUP_TO_REACH = 1.7
AVX2_TO_REACH = 2.2  # times AVX-512
TINY_TO_REACH = {"inside": 6.0, "step": 9.0, "partial_fit": 11.0}  # microseconds
# Plain passes cost the same early and late: where hundreds are needed, "apart" tells as much.
NO_PLAIN = ("B", "C")
OLDER_BLAS = {"OPENBLAS_CORETYPE": "Haswell"}
Pair = tuple[Timing, Timing]  # one thread, all threads


def time_case(case: Case, repeats: int) -> dict[str, Any]:
    """Medians over repeats in which our steps and scikit-learn's calls take turns."""
    batches = case.batches()
    run = run_steps(case, batches, n_threads=1)
    time_nearest(batches[-1][0], run.centers)
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(timed(lambda: run_steps(case, batches, n_threads=1), 0.05)[1].cpu)
        theirs.append(time_nearest(batches[-1][0], run.centers).cpu)
    ratios = np.array(ours) / np.array(theirs)
    result = {
        "name": case.name,
        "n_points": case.n_points,
        "n_features": case.n_features,
        "n_found": run.n_found,
        "n_passes": run.n_passes,
        "ms_per_pass": np.median(ours) * 1e3 / run.n_passes,
        "sklearn_ms": np.median(theirs) * 1e3,
        "ratio": np.median(ratios) / run.n_passes,
        "spread": float(np.ptp(ratios)) / run.n_passes,
        "calls_per_step": np.median(ratios) / len(batches),
        "to_reach": TO_REACH.get(case.name),
    }
    if case.name not in NO_PLAIN:
        plain = timed(lambda: run_steps(case, batches, n_threads=1, acceleration="none"))[1].cpu
        result["plain_ratio"] = plain / run.n_passes / np.median(theirs)
    return result


def print_case(r: dict[str, Any]) -> None:
    """Print one line of the first table."""
    plain = f"{r['plain_ratio']:7.3f}" if "plain_ratio" in r else "      -"
    print(
        f"{r['name']:<8} N={r['n_points']:<8} K={r['n_found']:<5} d={r['n_features']:<4} "
        f"{r['n_passes']:>4} passes {r['ms_per_pass']:8.2f} ms  sklearn {r['sklearn_ms']:8.2f} ms  "
        f"ratio {r['ratio']:.4f}  plain {plain}  a step is {r['calls_per_step']:5.2f} calls"
        f"{_verdict(r['ratio'], r['to_reach'])}",
        flush=True,
    )


def _verdict(value: float, limit: float | None, is_at_least: bool = False) -> str:
    if limit is None:
        return ""
    is_reached = value >= limit if is_at_least else value <= limit
    return f"  {'reached' if is_reached else 'NOT REACHED'} ({limit:g})"


def time_threads(case: Case, repeats: int, wait: float) -> dict[str, Any]:
    """Compare one thread with all, by the clock, ours and scikit-learn's."""
    batches = case.batches()
    points, centers = batches[-1][0], run_steps(case, batches, n_threads=N_CORES).centers
    ours = take_pairs(
        lambda n: timed(lambda: run_steps(case, batches, n_threads=n), at_least=0.5)[1],
        repeats,
        wait,
    )
    theirs = take_pairs(lambda n: time_nearest(points, centers, n, at_least=0.5), 1, wait)
    kept = quiet_or_all(ours)
    return {
        "name": case.name,
        "speedup": speedup(kept),
        "sklearn_speedup": speedup(quiet_or_all(theirs)),
        "others": np.median([max(t.others for t in pair) for pair in kept]),
        "n_quiet": sum(map(is_quiet, ours)),
        "n_taken": len(ours),
        "n_quiet_sklearn": sum(map(is_quiet, theirs)),
    }


def take_pairs(time_with: Callable[[int], Timing], repeats: int, wait: float) -> list[Pair]:
    """Time one thread and all in turns until `repeats` pairs had the cores to themselves.

    The processor time of other processes during each turn is read from the system; a pair with
    more of it than QUIET is taken again, for at most `wait` seconds.
    """
    pairs: list[Pair] = []
    deadline = time.perf_counter() + wait
    while sum(map(is_quiet, pairs)) < repeats:
        if len(pairs) >= repeats and time.perf_counter() > deadline:
            break
        pairs.append((time_with(1), time_with(N_CORES)))
    return pairs


def is_quiet(pair: Pair) -> bool:
    """Say whether the other cores were free during both turns."""
    return all(t.is_quiet for t in pair)


def quiet_or_all(pairs: list[Pair]) -> list[Pair]:
    """Keep the quiet pairs; all, where there is none."""
    return [pair for pair in pairs if is_quiet(pair)] or pairs


def speedup(pairs: list[Pair]) -> float:
    """Median of one thread's time over that of all."""
    return float(np.median([one.wall / all_.wall for one, all_ in pairs]))


def print_threads(t: dict[str, Any]) -> None:
    """Print one line on threads; without a quiet pair there is no verdict."""
    verdict = _verdict(t["speedup"], SPEEDUP_TO_REACH, is_at_least=True)
    print(
        f"{t['name']}  {N_CORES} threads {t['speedup']:.2f} times faster than one "
        f"(scikit-learn {t['sklearn_speedup']:.2f}); others used {t['others']:.0%} of a core, "
        f"{t['n_quiet']} of {t['n_taken']} pairs quiet"
        f"{verdict if t['n_quiet'] else '  no verdict: the cores were not free'}",
        flush=True,
    )


def time_instruction_sets(case: Case, repeats: int) -> dict[str, Any]:
    """Time the same steps with the compiled module of each instruction set, in turns."""
    batches = case.batches()
    spent: dict[str, list[float]] = {name: [] for name in usable_instruction_sets()}
    chosen = native.compiled
    try:
        for _ in range(repeats + 1):
            for name, times in spent.items():
                native.compiled = __import__(INSTRUCTION_SETS[name], fromlist=["step"])
                times.append(timed(lambda: run_steps(case, batches, n_threads=1), 0.2)[1].cpu)
    finally:
        native.compiled = chosen
    # The first turn warms up.
    return {"name": case.name, **{name: np.median(times[1:]) for name, times in spent.items()}}


def with_older_blas(name: str, repeats: int) -> dict[str, Any]:
    """Take the same figures in a process whose BLAS stays below AVX-512 too."""
    command = [sys.executable, "-m", "benchmarks.engine.passes", "--instruction-sets", name]
    command += ["--repeats", str(repeats)]
    answer = subprocess.check_output(command, env={**os.environ, **OLDER_BLAS})
    return json.loads(answer)


def compare_instruction_sets(case: Case, repeats: int) -> dict[str, Any]:
    """Relate AVX2 and the baseline to AVX-512; "avx2_with_older_blas" lacks it in BLAS too."""
    newest = time_instruction_sets(case, repeats)
    older = with_older_blas(case.name, repeats)
    best = usable_instruction_sets()[-1]
    times = {name: newest[name] / newest[best] for name in usable_instruction_sets()}
    return {"name": case.name, **times, "avx2_with_older_blas": older["avx2"] / newest[best]}


def time_small_step(repeats: int) -> dict[str, float]:
    """Microseconds of one step of 75 points, 5 clusters, 3 orders: compiled call, step, fit."""
    rng = np.random.default_rng(0)
    batches = moving_gaussians(n_steps=100, n_clusters=5, rng=rng).batches
    penalties, state = Penalties(0.04, max_gap=6.8, reach=1.01), ClusterState.empty(2)
    steps, calls, chosen = [], [], native.compiled
    native.compiled = SimpleNamespace(
        step_if_small=lambda *a: (calls.append(a), chosen.step_if_small(*a))[1]
    )
    try:
        for points in batches:
            orders = np.array([rng.permutation(len(points)) for _ in range(3)])
            steps.append((points, state, orders))
            state, _ = step(points, state, penalties, orders=orders)
    finally:
        native.compiled = chosen
    model = DynamicMeans(0.04, max_gap=6.8, reach=1.01, random_state=0)
    works: dict[str, Callable[[], Any]] = {
        "inside": lambda: [chosen.step_if_small(*call) for call in calls],
        "step": lambda: [step(y, before, penalties, orders=o) for y, before, o in steps],
        "partial_fit": lambda: [model.partial_fit(points) for points in batches],
        "fit_sequence": lambda: model.fit_sequence(batches),
    }
    spent = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            spent[name].append(timed(work, 0.02)[1].cpu * 1e6 / len(batches))
    return {name: float(np.median(times)) for name, times in spent.items()}


def measure(names: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """Take and print all figures of the named cases."""
    cases = [case for case in CASES if case.name[0] in names]
    figures: dict[str, Any] = {"cases": [], "threads": [], "instruction_sets": []}
    with threadpool_limits(1):
        figures["tiny"] = tiny = time_small_step(5 if options.quick else 51)
        for name, spent in tiny.items():
            print(
                f"75 points, {name:<12} {spent:6.1f} us{_verdict(spent, TINY_TO_REACH.get(name))}"
            )
        for case in cases:
            figures["cases"].append(time_case(case, options.repeats))
            print_case(figures["cases"][-1])
        for case in (c for c in cases if c.name in "DE"):
            sets = compare_instruction_sets(case, options.repeats)
            figures["instruction_sets"].append(sets)
            print(
                ", ".join(f"{k} {v if k == 'name' else f'{v:.2f}'}" for k, v in sets.items()),
                end="",
            )
            print(_verdict(sets["avx2"], AVX2_TO_REACH), flush=True)
    for case in (c for c in cases if c.name in "BCDE"):
        t = time_threads(case, options.repeats, 0 if options.quick else options.wait)
        figures["threads"].append(t)
        print_threads(t)
    return figures


def main() -> None:
    """Run the cases named on the command line, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default="ABCDE")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one repeat; writes nothing")
    parser.add_argument("--wait", type=float, default=30, help="seconds per case for free cores")
    parser.add_argument(
        "--leave-out",
        default="",
        help=f"accelerations to do without, of {', '.join(native.compiled.acceleration_names())}",
    )
    parser.add_argument("--instruction-sets", help="only print those times of one case, as JSON")
    options = parser.parse_args()
    native.compiled.leave_out(options.leave_out.split(","))
    if options.instruction_sets:
        case = next(c for c in CASES if c.name == options.instruction_sets)
        with threadpool_limits(1):
            print(json.dumps(time_instruction_sets(case, options.repeats)))
        return
    options.repeats = 1 if options.quick else options.repeats
    config = {"cases": options.cases, "repeats": options.repeats, "quiet_below": QUIET}
    results = {"config": config, "machine": machine()}
    print(f"load average {results['machine']['load_average_at_start']:.2f}")
    results["to_reach"] = {"ratio": TO_REACH, "authors": AUTHORS, "tiny": TINY_TO_REACH}
    results["figures"] = measure(list(options.cases), options)
    if not options.quick and not options.leave_out:
        write("engine/engine", results)


if __name__ == "__main__":
    main()
