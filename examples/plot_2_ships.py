"""
Ships in a harbor that leave and return
========================================

**Question**: ferries shuttle between the piers of a harbor and the far shore. A receiver near the piers
loses them when they are out and hears them again when they come back. Is it the same ferry?

The positions are simulated: each batch holds what the receiver heard in five minutes, without names.
"""

import matplotlib.pyplot as plt
import numpy as np

from dynmeans import DynamicMeans
from dynmeans.metrics import tracking_report
from dynmeans.plots import plot_timeline, plot_tracks

rng = np.random.default_rng(3)

# %%
# Five ferries, each with its pier and its own beat. A ferry out of the receiver's 6 km is not heard.
n_ferries, n_batches = 5, 192
piers = np.column_stack([np.linspace(-4, 4, n_ferries), np.zeros(n_ferries)])  # km
periods = np.array([52, 58, 64, 70, 76])  # batches of five minutes
batches, truth = [], []
for t in range(n_batches):
    distance = 9.0 * np.clip(np.sin(2 * np.pi * (t + 5 * np.arange(n_ferries)) / periods), 0, None)
    places = piers + np.column_stack([0.1 * distance * np.sign(piers[:, 0]), distance])
    heard = np.flatnonzero(np.hypot(*places.T) < 6.0)
    messages = np.repeat(heard, 12)
    batches.append(places[messages] + rng.normal(0, 0.08, size=(len(messages), 2)))
    truth.append(messages)

# %%
# Ferries may be silent for four hours, 48 batches: that is ``max_gap``. In the meantime they come
# back to about where they were lost, up to 1.5 km away, the root of ``new_penalty``.
model = DynamicMeans(new_penalty=1.5**2, max_gap=48, reach=1.5, random_state=0)
labels, history = model.fit_sequence(batches)
report = tracking_report(truth, labels)
print(f"identities kept: {100 * report['accuracy_global']:.0f} % of all messages")
print("returns:", sum(event.kind == "returned" for record in history for event in record.events))

# %%
# The same without memory (``max_gap`` just above 1) gives every ferry a new name at each return.
forgetful = DynamicMeans(new_penalty=1.5**2, max_gap=1.1, reach=1.5, random_state=0)
forgetful_labels, _ = forgetful.fit_sequence(batches)
report = tracking_report(truth, forgetful_labels)
print(f"without memory: {100 * report['accuracy_global']:.0f} %,", end=" ")
print(f"{len(np.unique(np.concatenate(forgetful_labels)))} names for {n_ferries} ferries")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
plot_tracks(history, batches[-1], tail=20, ax=left)
left.set(xlabel="km east of the pier", ylabel="km north", title="The last two hours")
plot_timeline(history, ax=right)
plt.show()
