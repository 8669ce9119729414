"""
Sensor drift
============

**Question**: a gas sensor tells four substances apart by two readings, but it ages: all readings drift. Must
we calibrate it again and again, or can the clusters be followed?

Each batch is a day with 20 samples of each substance that is there that day.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from dynmeans import DynamicMeans
from dynmeans.metrics import accuracy_global
from dynmeans.plots import plot_tracks

rng = np.random.default_rng(1)
substances = np.array([[1.0, 1.0], [2.0, 1.2], [1.3, 2.1], [2.4, 2.3]])  # readings when new
batches, truth = [], []
for day in range(120):
    aged = substances * (1 + 0.008 * day) + 0.01 * day * np.array([1.0, -0.3])
    present = np.flatnonzero(rng.random(4) < 0.9)  # not every substance is there every day
    which = np.repeat(present, 20)
    batches.append(rng.normal(aged[which], 0.08))
    truth.append(which)

# %%
# A model learned on the first month and then left alone: after some weeks it confuses substances.
fixed = KMeans(4, n_init=10, random_state=0).fit(np.vstack(batches[:30]))
left_alone = [fixed.predict(batch) for batch in batches]

# %%
# Dynamic Means takes every day in and moves its clusters along.
model = DynamicMeans(new_penalty=0.2, max_gap=8, reach=1.2, random_state=0)
labels, history = model.fit_sequence(batches)

for name, found in [("k-means of the first month", left_alone), ("Dynamic Means", labels)]:
    weeks = [
        accuracy_global(truth[start : start + 30], found[start : start + 30])
        for start in range(0, 120, 30)
    ]
    print(f"{name}: {100 * accuracy_global(truth, found):.0f} % over all days; by month", end=" ")
    print(", ".join(f"{100 * share:.0f}" for share in weeks))

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for day, size in [(0, 12), (119, 12)]:
    left.scatter(*batches[day].T, s=size, label=f"day {day}")
left.legend(title="samples")
left.set(xlabel="reading 1", ylabel="reading 2", title="The same four substances")
plot_tracks(history, batches[-1], tail=120, ax=right)
right.set(xlabel="reading 1", ylabel="reading 2", title="Followed for 120 days")
plt.show()
