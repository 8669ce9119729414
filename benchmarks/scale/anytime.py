"""Any-time clustering of 5e7 points from a memory map, beside full-batch DP-Means.

Run as ``python -m benchmarks.scale.anytime`` (needs 1 GB of disk and 6 GB of memory). Both use the
same lambda and are judged on the same held-out rows: the mean over them of the squared distance to
the nearest center, at most lambda, and lambda for each cluster, shared by all rows. Times are
processor time of all threads, so that a busy machine does not matter. Writes
benchmarks/results/scale/anytime.json and docs/images/anytime.png; ``--figure`` only draws again.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.machine import RESULTS, machine
from benchmarks.machine import write_results as write
from dynmeans import ClusterState, Penalties, step
from dynmeans.anytime import AnytimeResult, iter_anytime
from dynmeans.engine import native
from dynmeans.engine.compiled import compiled

N_FEATURES, N_CLUSTERS, SPREAD = 4, 400, 0.06
LAYOUTS = {"apart": (10 * SPREAD) ** 2, "overlapping": 0.152}  # lambda
COST_TO_REACH, SHARE_TO_REACH, SECONDS_TO_REACH = 1.05, 0.1, 30.0
PATH = RESULTS / "scale" / "anytime.json"
IMAGE = Path(__file__).parents[2] / "docs" / "images" / "anytime.png"


def write_points(path: Path, n_rows: int, layout: str, seed: int = 0) -> None:
    """Write blobs of uneven size: on a lattice, or anywhere in a box."""
    rng = np.random.default_rng(seed)
    if layout == "apart":
        cells = rng.permutation(5**N_FEATURES)[:N_CLUSTERS]
        centers = np.stack(np.unravel_index(cells, (5,) * N_FEATURES), axis=1)
        centers = 1.5 * centers + rng.uniform(-0.1, 0.1, size=centers.shape)
    else:
        centers = rng.uniform(0, 4, size=(N_CLUSTERS, N_FEATURES))
    centers = centers.astype(np.float32)
    shares = rng.dirichlet(np.full(N_CLUSTERS, 2.0))
    shape = (n_rows, N_FEATURES)
    points = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    for first in range(0, n_rows, 1_000_000):
        part = points[first : first + 1_000_000]
        owners = rng.choice(N_CLUSTERS, p=shares, size=len(part))
        part[:] = centers[owners] + np.float32(SPREAD) * rng.standard_normal(
            part.shape, dtype=np.float32
        )
    points.flush()


def judge(points: Any, rows: Any, state: ClusterState, penalties: Penalties) -> float:
    """Cost of a row, estimated on rows that no one else looks at."""
    costs = native.predict_labels(np.ascontiguousarray(points[rows]), state, penalties)[1]
    return float(costs.mean()) + penalties.new_penalty * state.n_clusters / len(points)


def run_anytime(
    points: Any, new_penalty: float, batch_size: int, seconds: float
) -> list[tuple[float, AnytimeResult]]:
    """Take batches for so many seconds of processor time; note the time at each result."""
    began, found = time.process_time(), []
    options: dict[str, Any] = {"new_penalty": new_penalty, "batch_size": batch_size}
    for result in iter_anytime(points, **options, patience=None, random_state=0):
        found.append((time.process_time() - began, result))
        if found[-1][0] >= seconds:
            return found
    return found


def run_full(points: Any, penalties: Penalties) -> tuple[float, ClusterState, int]:
    """Run DP-Means on all rows at once, one visiting order, all cores."""
    began = time.process_time()
    orders = compiled.visiting_orders(points, 0, 0, 1)
    state, clustering = step(points, ClusterState.empty(N_FEATURES), penalties, orders=orders)
    return time.process_time() - began, state, clustering.n_iter


def measure(
    folder: Path, n_rows: int, layout: str, batch_size: int, limit: float
) -> dict[str, Any]:
    """Run both on one data set."""
    path = folder / f"{layout}.npy"
    write_points(path, n_rows, layout)
    penalties = Penalties(LAYOUTS[layout], revival_penalty=0.0, drift=0.0)
    points = np.load(path, mmap_mode="r")
    rows = np.sort(np.random.default_rng(1).choice(n_rows, 20_000, replace=False))
    results = run_anytime(points, penalties.new_penalty, batch_size, limit)
    print(f"{layout}: {len(results)} batches in {results[-1][0]:.1f} s", flush=True)
    seconds, state, n_passes = run_full(points, penalties)
    path.unlink()
    full = judge(points, rows, state, penalties)
    trace = [
        {
            "seconds": when,
            "cost": judge(points, rows, result.memory.clusters, penalties),
            "own_estimate": result.cost,
            "n_clusters": result.n_clusters,
            "n_points": result.n_points,
        }
        for when, result in results
    ]
    return {
        "layout": layout,
        "n_rows": n_rows,
        "batch_size": batch_size,
        "new_penalty": penalties.new_penalty,
        "full": {
            "seconds": seconds,
            "cost": full,
            "n_clusters": state.n_clusters,
            "n_passes": n_passes,
        },
        "trace": trace,
        "reached_at": next(
            (point["seconds"] for point in trace if point["cost"] <= COST_TO_REACH * full), None
        ),
    }


def report(case: dict[str, Any]) -> bool:
    """Print one line; say whether the aim is reached."""
    full, reached = case["full"], case["reached_at"]
    is_reached = reached is not None and reached <= min(
        SECONDS_TO_REACH, SHARE_TO_REACH * full["seconds"]
    )
    when = "never"
    if reached is not None:
        when = f"after {reached:.2f} s, {100 * reached / full['seconds']:.1f} % of that"
    print(
        f"{case['layout']}: {case['n_rows']:.0e} rows; full batch {full['seconds']:.1f} s, "
        f"{full['n_passes']} passes, {full['n_clusters']} clusters, cost {full['cost']:.6f}; "
        f"any-time within 5 % {when}: "
        f"{'reached' if is_reached else 'NOT REACHED'}",
        flush=True,
    )
    return is_reached


def draw(results: dict[str, Any]) -> None:
    """Draw cost against time, as a multiple of the full batch's."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    for axes, case in zip(
        figure.subplots(1, len(results["cases"]), squeeze=False)[0], results["cases"], strict=True
    ):
        full, trace = case["full"], case["trace"]
        seconds = [point["seconds"] for point in trace]
        costs = [point["cost"] / full["cost"] for point in trace]
        axes.axhspan(1.0, COST_TO_REACH, color="0.93", label="within 5 %")
        axes.axhline(1.0, color="0.6", linewidth=0.8)
        axes.plot(
            seconds,
            costs,
            ".-",
            color="#0072b2",
            linewidth=1,
            markersize=4,
            label=f"any-time, batches of {case['batch_size']:,}",
        )
        axes.plot(
            full["seconds"],
            1.0,
            "D",
            color="#d55e00",
            label=f"full batch, {full['n_passes']} passes",
        )
        axes.set_xscale("log")
        axes.set_xlabel("processor seconds")
        axes.set_title(
            f"{case['layout']}: {case['n_rows'] / 1e6:g} million rows, "
            f"{full['n_clusters']} clusters",
            fontsize=10,
        )
        axes.legend(frameon=False, fontsize=8)
    figure.axes[0].set_ylabel("held-out cost / that of the full batch")
    figure.savefig(IMAGE, dpi=150)


def main() -> int:
    """Measure, write and draw; fail where the aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--batch-size", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=SECONDS_TO_REACH, help="for any-time")
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=list(LAYOUTS))
    parser.add_argument("--figure", action="store_true", help="only draw the last results")
    arguments = parser.parse_args()
    if arguments.figure:
        draw(json.loads(PATH.read_text()))
        return 0
    results: dict[str, Any] = {"machine": machine()}
    is_good = True
    for layout in arguments.layouts:
        with tempfile.TemporaryDirectory(prefix="anytime-") as folder:
            case = measure(
                Path(folder), arguments.rows, layout, arguments.batch_size, arguments.seconds
            )
        is_good &= report(case)
        kept = json.loads(PATH.read_text())["cases"] if PATH.exists() else []
        kept = [other for other in kept if other["layout"] != layout] + [case]
        write("scale/anytime", results | {"cases": sorted(kept, key=lambda case: case["layout"])})
    draw(json.loads(PATH.read_text()))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
