"""How near the parameters chosen without labels come to those chosen with them.

Run as ``python -m benchmarks.quality.suggest``. Parameters are chosen on the first 30 batches of
streams that were not used while developing (seeds from 1,000 on), and scored on all 50 by global
tracking accuracy, as a share of the best of 330 choices that see the labels of all 50. That search
with labels takes most of the time and is kept in benchmarks/results/quality/suggest_labels.json;
``--fresh`` does it again. Also reported on ships where ../shared/data/ais_noaa is there. Writes
benchmarks/results/quality/suggest.json.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import RESULTS, commit, machine, write_results
from benchmarks.quality.ships import SHIPS, read_ships
from benchmarks.quality.suggest_streams import FAMILIES, FIRST_TEST_SEED, make_stream
from dynmeans import Penalties, VisitingOrders, find_families
from dynmeans.engine.batch import Batch
from dynmeans.engine.execution import Execution
from dynmeans.engine.sequence import step_sequence
from dynmeans.metrics import accuracy_global
from dynmeans.parameters.selection import suggest
from dynmeans.records.arrays import FloatArray, IntArray

N_CHOSEN_ON = 30
N_SEEDS = 6
MULTIPLES = tuple(1.5 * 2 ** (i / 2) for i in range(11))  # lambda over the variance of a move
WIDE_MULTIPLES = tuple(2.0**-i for i in range(22))  # lambda over the variance of all points
MAX_GAPS = (1.5, 2.5, 4.0, 6.8, 12.0, 25.0)
REACHES = (1.01, 1.2, 1.5, 2.0, 3.0)
WIDE_MAX_GAPS, WIDE_REACHES = (2.5, 6.8, 12.0, 25.0, 50.0), (1.01, 1.2, 2.0)
TO_REACH = {"mean": 0.92, "tenth": 0.75, "worst": 0.60, "runs": 60.0}
LABELS_FILE = RESULTS / "quality" / "suggest_labels.json"


@dataclass(frozen=True)
class Task:
    """One stream: a family and a seed, or a file of ships."""

    family: str
    seed: int

    @property
    def name(self) -> str:
        """Name in the files of results."""
        return f"{self.family} {self.seed}"

    def load(self) -> tuple[list[FloatArray], list[IntArray]]:
        """Return the batches and their true labels."""
        if self.family in SHIPS:
            return read_ships(self.family)
        stream = make_stream(self.family, self.seed)
        return stream.batches, stream.labels

    def grid(self) -> list[tuple[float, float, float]]:
        """330 choices of lambda, max_gap and reach."""
        if self.family in SHIPS:
            points = np.vstack(self.load()[0][:N_CHOSEN_ON])
            variance = float(points.var(axis=0).sum())
            return [
                (variance * m, *rest)
                for m, *rest in product(WIDE_MULTIPLES, WIDE_MAX_GAPS, WIDE_REACHES)
            ]
        unit = make_stream(self.family, self.seed, 1).unit
        return [(unit * m, *rest) for m, *rest in product(MULTIPLES, MAX_GAPS, REACHES)]


def run_labels(
    batches: Sequence[FloatArray], penalties: Penalties, seed: int = 7
) -> list[IntArray]:
    """Cluster all batches with three restarts."""
    results = step_sequence(
        [Batch(points) for points in batches],
        penalties,
        VisitingOrders(seed, n_init=3),
        [1.0] * len(batches),
        Execution(n_threads=1),
    )
    return [clustering.labels for _, clustering in results]


def tune_with_labels(task: Task) -> dict[str, Any]:
    """Find the best of 330 choices, and what labels of the first 30 batches alone would give."""
    batches, truth = task.load()
    grid = task.grid()
    whole, first = [], []
    for new_penalty, max_gap, reach in grid:
        found = run_labels(batches, Penalties(new_penalty, max_gap=max_gap, reach=reach))
        whole.append(accuracy_global(truth, found))
        first.append(accuracy_global(truth[:N_CHOSEN_ON], found[:N_CHOSEN_ON]))
    best = int(np.argmax(whole))
    fixed = [
        a for a, (_, gap, reach) in zip(whole, grid, strict=True) if (gap, reach) == (6.8, 1.2)
    ]
    return {
        "best": whole[best],
        "new_penalty": grid[best][0],
        "max_gap": grid[best][1],
        "reach": grid[best][2],
        "first_batches": whole[int(np.argmax(first))],
        "lambda_only": max(fixed),
    }


def measure(task: Task, tuned: dict[str, Any]) -> dict[str, Any]:
    """Choose without labels, time it, and score the choice."""
    batches, truth = task.load()
    given = batches[:N_CHOSEN_ON]
    found = suggest(given)
    penalties = found.penalties
    # Taken in turns, since other work on the machine slows both: the middle of three.
    shares = []
    for _ in range(3):
        seconds = _cpu(lambda: suggest(given))
        shares.append(seconds / _cpu(lambda: [run_labels(given, penalties) for _ in range(10)]))
    labels = run_labels(batches, penalties)
    accuracy = accuracy_global(truth, labels)
    finer = Penalties(penalties.new_penalty / 4, max_gap=penalties.max_gap, reach=penalties.reach)
    fine_labels = run_labels(
        batches, finer.with_motion(penalties.motion, penalties.moving_features)
    )
    return {
        **asdict(task),
        "accuracy": accuracy,
        "with_labels": tuned["best"],
        "ratio": accuracy / tuned["best"],
        "families_ratio": _of_families(batches, labels, truth) / tuned["best"],
        "finer_ratio": accuracy_global(truth, fine_labels) / tuned["best"],
        "finer_families_ratio": _of_families(batches, fine_labels, truth) / tuned["best"],
        "ratio_to_first_batches": accuracy / tuned["first_batches"],
        "lambda_only_ratio": tuned["lambda_only"] / tuned["best"],
        "runs": 10 * float(np.median(shares)),
        "n_candidates": len(found.candidates),
        "new_penalty": penalties.new_penalty,
        "max_gap": penalties.max_gap,
        "reach": penalties.reach,
        "new_penalty_with_labels": tuned["new_penalty"],
        "max_gap_with_labels": tuned["max_gap"],
        "reach_with_labels": tuned["reach"],
        "n_true": int(np.mean([len(set(y[y >= 0].tolist())) for y in truth])),
        "n_found": found.chosen.n_clusters_per_batch,
        "doubts": [str(doubt).split(":")[0] for doubt in found.warnings],
    }


def _of_families(batches: list[FloatArray], labels: list[IntArray], truth: list[IntArray]) -> float:
    return accuracy_global(truth, find_families(batches, labels).map_labels(labels))


def print_wide_seconds() -> None:
    """Time the suggestion on 8 batches of 800 points with 128 features, clusters or noise."""
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 3.0, (6, 128))
    clustered = [centers[rng.integers(6, size=800)] + rng.normal(size=(800, 128)) for _ in range(8)]
    noise = [rng.normal(size=(800, 128)) for _ in range(8)]
    for name, batches in (("clustered", clustered), ("noise", noise)):
        begin = time.perf_counter()
        suggest(batches)
        seconds = time.perf_counter() - begin
        print(f"8 x 800 points, 128 features, {name}: {seconds:.2f} s (to reach 3)")


def _cpu(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def tuned_with_labels(tasks: list[Task], n_processes: int, is_fresh: bool) -> dict[str, Any]:
    """Read what was found before, and find the rest."""
    kept: dict[str, Any] = {"commit": commit(), "streams": {}}
    if LABELS_FILE.exists() and not is_fresh:
        kept = json.loads(LABELS_FILE.read_text())
    known = kept["streams"]
    missing = [task for task in tasks if task.name not in known]
    with ProcessPoolExecutor(n_processes) as pool:
        for task, tuned in zip(missing, pool.map(tune_with_labels, missing), strict=True):
            known[task.name] = {k: float(f"{v:.6g}") for k, v in tuned.items()}
            LABELS_FILE.write_text(json.dumps(kept, indent=0) + "\n")
            print(f"  with labels: {task.name}: {tuned['best']:.3f}", flush=True)
    return known


def _mean_and_worst(values: list[float]) -> tuple[tuple[str, float], tuple[str, float]]:
    return ("mean", float(np.mean(values))), ("worst", min(values))


def summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Mean, tenth percentile and worst share, and the time in runs."""
    ratios, runs = ([row[key] for row in rows] for key in ("ratio", "runs"))
    return {
        "n": len(rows),
        "mean": float(np.mean(ratios)),
        "tenth": float(np.quantile(ratios, 0.1)),
        "worst": min(ratios),
        **{
            f"{name}_{word}": value
            for name in ("families", "finer", "finer_families")
            for word, value in _mean_and_worst([row[f"{name}_ratio"] for row in rows])
        },
        "to_first_batches": float(np.mean([row["ratio_to_first_batches"] for row in rows])),
        "lambda_only": float(np.mean([row["lambda_only_ratio"] for row in rows])),
        "runs": float(np.mean(runs)),
        "most_runs": max(runs),
    }


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print one line for each family, and one for all."""
    print(f"{'family':<18}{'n':>4}{'mean':>7}{'10th':>7}{'worst':>7}{'runs':>6}{'most':>6}")
    for family in dict.fromkeys(row["family"] for row in rows):
        _print_line(family, summary([row for row in rows if row["family"] == family]))
    _print_line("all", summary(rows))


def _print_line(name: str, s: dict[str, float]) -> None:
    print(
        f"{name:<18}{s['n']:>4}{s['mean']:>7.3f}{s['tenth']:>7.3f}{s['worst']:>7.3f}"
        f"{s['runs']:>6.0f}{s['most_runs']:>6.0f}"
    )


def main() -> None:
    """Choose, score and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=N_SEEDS, help="test streams of each family")
    parser.add_argument("--first-seed", type=int, default=FIRST_TEST_SEED)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--fresh", action="store_true", help="search with labels again")
    parser.add_argument("--wide", action="store_true", help="only time 128 features")
    parser.add_argument("--labels-only", action="store_true", help="only search with labels")
    options = parser.parse_args()
    if options.wide:
        print_wide_seconds()
        return
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    tasks = [Task(family, seed) for seed in seeds for family in FAMILIES]
    ships = [Task(name, 0) for name, path in SHIPS.items() if Path(path).exists()]
    tuned = tuned_with_labels([*tasks, *ships], options.processes, options.fresh)
    if options.labels_only:
        return
    suggest([np.eye(2)])  # What is loaded on the first call is not part of the time.
    rows = [measure(task, tuned[task.name]) for task in tasks]
    rows.sort(key=lambda row: list(FAMILIES).index(row["family"]))
    print_table(rows)
    everything = summary(rows)
    print(
        f"to reach: mean {TO_REACH['mean']}, 10th percentile {TO_REACH['tenth']}, worst "
        f"{TO_REACH['worst']}, at most {TO_REACH['runs']:.0f} runs. Labels of the first "
        f"{N_CHOSEN_ON} batches alone: {everything['to_first_batches']:.3f} of those; labels "
        f"choosing lambda only: {everything['lambda_only']:.3f}."
    )
    ship_rows = [measure(task, tuned[task.name]) for task in ships]
    for row in ship_rows:
        print(
            f"{row['family']}: accuracy {row['accuracy']:.3f}, with labels {row['with_labels']:.3f}"
            f" (share {row['ratio']:.2f}), {row['n_found']:.1f} clusters a window where "
            f"{row['n_true']} ships are; {row['runs']:.0f} runs"
        )
    config = {"n_chosen_on": N_CHOSEN_ON, "seeds": [seeds.start, seeds.stop], "to_reach": TO_REACH}
    write_results(
        "quality/suggest",
        {
            "config": config,
            "machine": machine(),
            "all": everything,
            "streams": rows,
            "ships": ship_rows,
        },
    )


if __name__ == "__main__":
    main()
