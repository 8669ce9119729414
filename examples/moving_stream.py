"""Follow clusters that move, are born, vanish and return, batch by batch in Python.

Makes a stream, clusters it batch by batch with a progress bar, prints what became of every
cluster, and writes a picture of it.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from dynmeans import DynamicMeans, History
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.metrics import accuracy_global, accuracy_per_step
from dynmeans.plots import plot_timeline, plot_tracks


def life_table(history: History) -> Table:
    """One row for each cluster: when it was born, how it lived, how it is now."""
    table = Table("id", "born at", "seen in", "points", "vanished", "returned", "now")
    frame, events = history.to_frame("clusters"), history.to_frame("events")
    for cluster_id in history.cluster_ids:
        life = frame[frame["cluster_id"] == cluster_id]
        kinds = events[events["cluster_id"] == cluster_id]["kind"].value_counts()
        if kinds.get("forgotten"):
            now = "forgotten"
        else:
            now = "alive" if life["time"].max() == history[-1].time else "out of sight"
        table.add_row(
            str(cluster_id),
            f"{life['time'].min():g}",
            f"{len(life)} batches",
            f"{life['count'].sum():g}",
            f"{kinds.get('vanished', 0)} x",
            f"{kinds.get('returned', 0)} x",
            now,
        )
    return table


def draw(history: History, last_batch: np.ndarray, path: Path) -> None:
    """Draw the last batch with the tracks, and the timeline of lives."""
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_tracks(history, last_batch, ax=left)
    plot_timeline(history, ax=right)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Run the demo on embedded defaults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60, help="number of batches")
    parser.add_argument("--out", type=Path, default=Path("example-output"), help="folder")
    options = parser.parse_args()
    console = Console()

    stream = moving_gaussians(
        n_steps=options.steps,
        n_clusters=6,
        spread=0.03,
        motion=0.02,
        death=0.03,
        vanish=0.05,
        rng=np.random.default_rng(3),
    )
    model = DynamicMeans(new_penalty=0.04, max_gap=7, reach=1.5, keep_history=True, random_state=0)
    columns = (
        TextColumn("clustering"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("batches, {task.fields[rate]:.0f} per second"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("clustering", total=len(stream), rate=0.0)
        for batch in stream.batches:
            model.partial_fit(batch)
            progress.update(task, advance=1, rate=progress.tasks[task].speed or 0.0)

    history = model.history_
    console.print(life_table(history))
    found = history.labels
    console.print(
        f"{sum(map(len, stream.batches))} points in {len(stream)} batches: "
        f"{100 * accuracy_per_step(stream.labels, found):.0f} % of the points are with their own "
        f"kind in their batch, {100 * accuracy_global(stream.labels, found):.0f} % also keep "
        "their identity over all batches."
    )
    options.out.mkdir(parents=True, exist_ok=True)
    picture = options.out / "tracked_clusters.png"
    draw(history, stream.batches[-1], picture)
    console.print(f"A picture of it: {picture}")


if __name__ == "__main__":
    main()
