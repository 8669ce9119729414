"""
Clustering a data set that never fits
=====================================

**Question**: the file is larger than memory. Must I wait for a pass over all of it to see clusters?

``iter_anytime`` takes random subsets one after the other; after each there is a usable result with an estimate of
its cost, and one stops when it no longer pays.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from dynmeans.anytime import iter_anytime

rng = np.random.default_rng(2)
folder = Path(tempfile.mkdtemp())

# %%
# Two million rows stand for the file that does not fit; it is read as a memory map.
centers = rng.uniform(0, 12, size=(60, 2))
rows = rng.normal(centers[rng.integers(60, size=2_000_000)], 0.15).astype(np.float32)
np.save(folder / "rows.npy", rows)
rows = np.load(folder / "rows.npy", mmap_mode="r")

# %%
# Subsets of 20,000 rows. Every result can be used at once; we keep them to draw the curve.
results = list(
    iter_anytime(rows, new_penalty=1.0, batch_size=20_000, max_batches=15, random_state=0)
)
last = results[-1]
print(f"{last.n_clusters} clusters after {last.n_points:,} of 2,000,000 rows, {last.seconds:.2f} s")

# %%
# When the centers are good enough, label all rows, piece by piece.
labels = np.concatenate([last.predict(part) for part in np.array_split(rows, 20)])
print(labels[:10])

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
cost = np.array([result.cost for result in results])
error = np.array([result.cost_stderr for result in results])
points = [result.n_points for result in results]
left.fill_between(points, cost - error, cost + error, alpha=0.3)
left.plot(points, cost, "o-")
left.set(xlabel="rows taken in", ylabel="cost of a row, held out", title="Better, until it is not")
sample = rows[:4000]
right.scatter(*sample.T, s=1, color="silver")
right.plot(*last.centers.T, "kx", ms=5)
right.set(title=f"{last.n_clusters} centers found, 60 were made", aspect="equal")
plt.show()
