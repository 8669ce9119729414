"""
Crowds that split and meet
==========================

**Question**: two crowds walk over a square. One splits in two, and later two crowds meet. Which crowd is
which, before and after?

Every batch holds the positions of all walkers in one second. Nobody tells us how many crowds there are.
"""

import matplotlib.pyplot as plt
import numpy as np

from dynmeans import DynamicMeans
from dynmeans.plots import plot_timeline, plot_tracks

rng = np.random.default_rng(7)


def walkers(place, n):
    """Return the positions of n walkers around a place, in meters."""
    return rng.normal(place, 0.8, size=(n, 2))


# %%
# The first crowd walks along a line of trees and splits at second 12. The second one comes towards
# its upper half and meets it at second 32.
seconds = np.arange(48)
batches = []
for t in seconds:
    gap = 0.45 * max(0, t - 12)  # meters between the halves of the first crowd
    upper = (0.5 * t, min(gap, 9.0))
    lower = (0.5 * t, -min(gap, 9.0))
    other = (0.5 * min(t, 32) + 16.0 * max(0, 32 - t) / 32 + 0.5 * max(0, t - 32), 9.0)
    batches.append(np.vstack([walkers(upper, 20), walkers(lower, 20), walkers(other, 15)]))

# %%
# A walker more than 5 meters from every crowd is the first of a new one: ``new_penalty`` is that
# distance squared. A crowd that walks half a meter a second needs little reach.
model = DynamicMeans(new_penalty=5.0**2, max_gap=5, reach=1.2, random_state=0)
labels, history = model.fit_sequence(batches)

for record in history:
    for event in record.events:
        if event.kind == "split":
            print(f"second {record.step}: crowd {event.cluster_id} split off from {event.other_id}")
        if event.kind == "merged":
            print(f"second {record.step}: crowd {event.cluster_id} merged into {event.other_id}")

# %%
# Tracks on the ground, and the lives of the crowds.
figure, axes = plt.subplot_mosaic(
    [["split", "meeting"], ["lives", "lives"]], figsize=(11, 8), layout="constrained"
)
plot_tracks(history, batches[24], step=24, tail=24, ax=axes["split"])
plot_tracks(history, batches[-1], step=-1, tail=24, ax=axes["meeting"])
plot_timeline(history, ax=axes["lives"])
axes["split"].set(title="second 24: after the split", xlabel="meters", ylabel="meters")
axes["meeting"].set(title="second 47: after the meeting", xlabel="meters", ylabel="meters")
axes["lives"].set_xlabel("second")
plt.show()
