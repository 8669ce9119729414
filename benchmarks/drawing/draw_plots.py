"""Time of every figure, saved as a PNG: 10,000 points and 200 clusters in a batch, 100 batches.

Run with ``python -m benchmarks.drawing.draw_plots``; ends with an error above the limit.
"""

import argparse
import io
import time
from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dynmeans import DynamicMeans, History
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.plots import plot_cluster_numbers, plot_timeline, plot_tracks
from dynmeans.records.arrays import FloatArray

N_STEPS = 100
N_CLUSTERS = 200
POINTS_PER_CLUSTER = 50
LIMIT_S = 2.0


def make_history(rng: np.random.Generator) -> tuple[list[FloatArray], History]:
    """Cluster a stream whose clusters are far apart, so that about 200 are found."""
    batches = moving_gaussians(
        N_STEPS,
        N_CLUSTERS,
        rng=rng,
        points_per_cluster=POINTS_PER_CLUSTER,
        spread=0.004,
        motion=0.004,
        death=0.01,
    ).batches
    model = DynamicMeans(new_penalty=0.0005, n_init=1, random_state=0)
    return batches, model.fit_sequence(batches)[1]


def time_drawing(draw: Callable[[Axes], Axes]) -> float:
    """Return the seconds from an empty figure to a PNG."""
    start = time.perf_counter()
    figure = Figure(figsize=(8, 8), layout="constrained")
    draw(figure.subplots())
    figure.savefig(io.BytesIO(), format="png")
    return time.perf_counter() - start


def main() -> None:
    """Time the figures, and fail above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="runs, of which the slowest counts")
    repeats = parser.parse_args().repeats
    batches, history = make_history(np.random.default_rng(0))
    last = history[-1]
    print(f"{len(last.labels):,} points and {len(last.ids)} clusters in the last batch")
    print(f"{len(history.cluster_ids):,} clusters over {len(history)} batches")
    figures: dict[str, Callable[[Axes], Axes]] = {
        "tracks": lambda ax: plot_tracks(history, batches[-1], ax=ax),
        "tracks, all tails": lambda ax: plot_tracks(history, batches[-1], tail=N_STEPS, ax=ax),
        "timeline": lambda ax: plot_timeline(history, ax),
        "timeline, 200 rows": lambda ax: plot_timeline(history, ax, max_clusters=200),
        "cluster numbers": lambda ax: plot_cluster_numbers(history, ax),
    }
    slowest = {name: max(time_drawing(f) for _ in range(repeats)) for name, f in figures.items()}
    for name, seconds in slowest.items():
        print(f"{name:<19} {seconds:.2f} s")
    if slow := [name for name, seconds in slowest.items() if seconds > LIMIT_S]:
        raise SystemExit(f"too slow: {', '.join(slow)}; the limit is {LIMIT_S:.0f} s.")


if __name__ == "__main__":
    main()
