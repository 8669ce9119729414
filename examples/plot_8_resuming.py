"""
Resuming after a crash
======================

**Question**: the job dies in the middle of the night. Is a row lost, is one counted twice, do the clusters still have
their names?

The rows are in a table; the run is a folder. We let the first attempt fail half way and start again.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dynmeans import Run
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.follow.model_config import ModelConfig
from dynmeans.plots import plot_timeline
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows

folder = Path(tempfile.mkdtemp())

# %%
# A table with a time column.
stream = moving_gaussians(
    n_steps=80, n_clusters=6, spread=0.03, motion=0.02, vanish=0.05, rng=np.random.default_rng(4)
)
minutes = np.repeat(np.arange(80.0), [len(batch) for batch in stream.batches])
places = np.vstack(stream.batches)
table = pa.table({"minute": minutes, "x": places[:, 0], "y": places[:, 1]})
pq.write_table(table, folder / "rows.parquet")

# %%
# Cluster it minute by minute; something goes wrong in minute 40.
options = WindowOptions(features=("x", "y"), time="minute", every="1")
config = RunConfig(("x", "y"), ModelConfig(new_penalty=0.04, max_gap=7, reach=1.5, random_state=0))


def fail_at(minute):
    """Return a callback that fails when a minute has been taken in."""

    def check(record, batch):
        if record.step == minute:
            raise RuntimeError("the power went out")

    return check


def go_on(name, on_window=None):
    """Start, or go on with, the run of that name: the same few lines in both cases."""
    path = folder / name
    run = Run.open(path) if path.exists() else Run.create(path, config)
    with run, Source(folder / "rows.parquet") as source:
        windows = Windows(source, options, run.position)
        run.process_all(windows, on_window=on_window, commit_seconds=0)


try:
    go_on("broken", fail_at(40))
except RuntimeError as error:
    print("stopped:", error)
with Run.open(folder / "broken") as run:
    print("windows that are safe:", run.status().n_windows)

# %%
# Start it again, and beside it a run that nothing disturbed.
go_on("broken")
go_on("undisturbed")

with Run.open(folder / "broken") as broken, Run.open(folder / "undisturbed") as undisturbed:
    print("labels equal:", broken.labels().equals(undisturbed.labels()))
    print("events equal:", broken.events().equals(undisturbed.events()))
    history = broken.history()

# %%
figure, ax = plt.subplots(figsize=(9, 3.8), layout="constrained")
plot_timeline(history, ax=ax)
ax.axvline(41, color="black", ls=":")
ax.set(xlabel="minute", title="Nobody can see where it stopped (dotted)")
plt.show()
