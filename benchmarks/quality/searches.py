"""Algorithm 2 and what may follow it: identities over lambda and n_init, and what a step costs.

Run as ``python -m benchmarks.quality.searches``, with the parts to measure if not all:

- ``identities``: streams of thirteen kinds (`suggest_streams`, seeds that nothing was developed on)
  are clustered at eight lambdas with each search and 1, 3, 10 or 20 visiting orders, the memory
  fixed; then with ten times the points in every cluster, one seed and up to 3 orders.
- ``label-free``: real streams, everything chosen without labels, with families.
- ``neighbor``: five steady groups beside which a sixth appears, fifteen radii from one of them.
- ``steps``: whole steps of the measured cases and of small batches, all in turns in one process, so
  that the ratios hold on a busy machine too.

Writes benchmarks/results/quality/searches.json; parts that were not measured stay as they are.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engine.cases import CASES, Case
from benchmarks.machine import machine, write_results
from benchmarks.quality.real_streams import SHARED, read_npz
from benchmarks.quality.suggest_streams import FAMILIES, TestStream, make_stream
from dynmeans import ClusterState, DynamicMeans, Penalties, VisitingOrders, step
from dynmeans.engine.batch import Batch
from dynmeans.engine.sequence import step_sequence
from dynmeans.metrics import accuracy_global
from dynmeans.records.orders import SEARCHES

MULTIPLES = (1, 2, 4, 8, 16, 32, 64, 128)  # lambda over the variance of a move
AROUND = (-1, 0, 1, 2, 3)  # octaves from the best lambda of a stream
FIRST_SEED, N_STEPS = 3000, 30
ORDERS = (1, 3, 10, 20)
PAPER = "paper", 3  # what the others are held against
RESULTS = Path(__file__).parents[1] / "results" / "quality" / "searches.json"


def keep_identities(
    streams: list[TestStream], search: str, n_init: int
) -> tuple[list[list[float]], float]:
    """Return accuracy by stream and lambda, and the time of all runs."""
    scores, seconds = [], 0.0
    for stream in streams:
        batches, row = [Batch(points) for points in stream.batches], []
        for multiple in MULTIPLES:
            penalties = Penalties(stream.unit * multiple, max_gap=6.8, reach=1.2)
            orders, gaps = VisitingOrders(7, n_init, search=search), [1.0] * len(batches)
            began = time.process_time()
            found = [c.labels for _, c in step_sequence(batches, penalties, orders, gaps)]
            seconds += time.process_time() - began
            row.append(accuracy_global(stream.labels, found))
        scores.append(row)
    return scores, seconds


def around_the_best(scores: list[list[float]]) -> list[float]:
    """Return the mean accuracy at lambda x 1/2, 1, 2, 4 and 8 of each stream's own best."""
    found, last = np.array(scores), len(MULTIPLES) - 1
    best = found.argmax(axis=1)
    rows = np.arange(len(found))
    return [float(found[rows, np.clip(best + o, 0, last)].mean()) for o in AROUND]


def measure_identities(n_seeds: int, times: int) -> list[dict[str, Any]]:
    """Return a row for each search and number of orders."""
    streams = [
        make_stream(family, FIRST_SEED + seed, N_STEPS, times)
        for family in FAMILIES
        for seed in range(n_seeds)
    ]
    rows = []
    for search in SEARCHES:
        for n_init in ORDERS if times == 1 else ORDERS[:2]:
            scores, seconds = keep_identities(streams, search, n_init)
            around = around_the_best(scores)
            row = {
                "search": search,
                "n_init": n_init,
                "times": times,
                "n_streams": len(streams),
                "by_lambda": np.mean(scores, axis=0).round(3).tolist(),
                "around_the_best": np.round(around, 3).tolist(),
                "mean": round(float(np.mean(around)), 3),
                "seconds": round(seconds, 2),
            }
            print(search, n_init, row["by_lambda"], row["around_the_best"], row["mean"], seconds)
            rows.append(row)
    return rows


def measure_label_free(n_seeds: int) -> list[dict[str, Any]]:
    """Return a row for each real stream and way: accuracy of the families by seed, and lambda."""
    rows = []
    for path in sorted((SHARED / "real_streams").glob("*.npz")):
        batches, true = read_npz(path)
        for search, n_init in (PAPER, ("split", 3), ("deep", 1), ("deep", 3)):
            accuracies = []
            for seed in range(n_seeds):
                model = DynamicMeans(
                    "auto", families=True, random_state=seed, search=search, n_init=n_init
                )
                labels, _ = model.fit_sequence(batches)
                accuracies.append(
                    round(accuracy_global(true, model.families_.map_labels(labels)), 4)
                )
            row = {"stream": path.stem, "search": search, "n_init": n_init}
            row |= {"new_penalty": model.penalties_.new_penalty, "accuracy": accuracies}
            print(row, flush=True)
            rows.append(row)
    return rows


def neighbor_stream(seed: int, n_steps: int = 24) -> tuple[list[Any], list[Any]]:
    """Five steady groups; halfway a sixth appears fifteen radii (rms) from one of them."""
    rng = np.random.default_rng(seed)
    radius, angles = 0.1, 2.0 * np.pi * np.arange(5) / 5
    places = 5.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    turn = rng.uniform(0.0, 2.0 * np.pi)
    sixth = places[0] + 15.0 * radius * np.array([np.cos(turn), np.sin(turn)])
    batches, labels = [], []
    for t in range(n_steps):
        there = places if t < n_steps // 2 else np.vstack([places, sixth])
        true = np.repeat(np.arange(len(there)), 25)
        noise = radius / np.sqrt(2.0) * rng.normal(size=(len(true), 2))
        batches.append(there[true] + noise)
        labels.append(true)
    return batches, labels


def follow_neighbor(seed: int, **chosen: Any) -> tuple[int, int]:
    """Return windows in which two groups share a name, and groups that have several names."""
    batches, true = neighbor_stream(seed)
    found, _ = DynamicMeans(random_state=seed, **chosen).fit_sequence(batches)
    n_merged, names = 0, [set() for _ in range(6)]
    for labels, groups in zip(found, true, strict=True):
        of_groups = [set(labels[groups == k].tolist()) for k in np.unique(groups)]
        n_merged += sum(map(len, of_groups)) > len(set().union(*of_groups))
        for known, there in zip(names, of_groups, strict=False):
            known |= there
    return n_merged, sum(len(known) > 1 for known in names)


def measure_neighbor(n_seeds: int) -> list[dict[str, Any]]:
    """Return a row for each search: windows merged and identities lost over seeds, the defaults."""
    rows = []
    for search in SEARCHES:
        found = [follow_neighbor(seed, search=search) for seed in range(n_seeds)]
        merged, lost = (sum(column) for column in zip(*found, strict=True))
        rows.append({"search": search, "n_seeds": n_seeds, "merged": merged, "lost": lost})
        print(rows[-1], flush=True)
    return rows


def step_ratio(case: Case, n_turns: int, factor: float = 1.0) -> dict[str, Any]:
    """Time whole steps in turns; the middle of the ratios to Algorithm 2 with three orders."""
    batches, lam = case.batches(), case.penalties.new_penalty * factor
    penalties, rng = Penalties(lam, max_gap=6.8, reach=1.01), np.random.default_rng(1)
    orders = [np.stack([o, rng.permutation(len(o)), rng.permutation(len(o))]) for _, o in batches]
    ways = [("paper", 1), PAPER, ("split", 3), ("deep", 1), ("deep", 3)]
    took: dict[tuple[str, int], list[float]] = {way: [] for way in ways}
    clusters: dict[str, int] = {}
    for _ in range(n_turns):
        for search, n_init in ways:
            state = ClusterState.empty(case.n_features)
            began = time.process_time()
            for (points, _), listed in zip(batches, orders, strict=True):
                state, found = step(
                    points, state, penalties, orders=listed[:n_init], search=search, n_threads=1
                )
            took[search, n_init].append(time.process_time() - began)
            clusters[f"{search} {n_init}"] = len(found.ids)
    paper = np.array(took[PAPER])
    row: dict[str, Any] = {"case": case.name, "n_points": case.n_points, "factor": factor}
    row |= {"n_features": case.n_features, "clusters": clusters, "seconds": float(paper.min())}
    row["over_paper"] = {
        f"{search} {n_init}": round(float(np.median(np.array(seconds) / paper)), 3)
        for (search, n_init), seconds in took.items()
    }
    print(row, flush=True)
    return row


def measure_steps(n_turns: int) -> list[dict[str, Any]]:
    """Return a row for each case."""
    small = [step_ratio(Case("small", n, 5, 2), 200) for n in (75, 160)]
    return [*small, *(step_ratio(c, n_turns) for c in CASES), step_ratio(CASES[1], n_turns, 16.0)]


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser()
    parts = ("identities", "label-free", "neighbor", "steps")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(parts))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for part in asked.parts or parts:
        if part == "identities":
            found[part] = measure_identities(asked.seeds, 1) + measure_identities(1, 10)
        elif part == "label-free":
            found[part] = measure_label_free(asked.seeds)
        elif part == "neighbor":
            found[part] = measure_neighbor(20)
        else:
            found[part] = measure_steps(asked.turns)
        write_results("quality/searches", {**found, **machine()})


if __name__ == "__main__":
    main()
