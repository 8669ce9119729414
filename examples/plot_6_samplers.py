"""
Dynamic Means beside DP-Means and the samplers
==============================================

**Question**: the paper derives Dynamic Means from a Bayesian mixture that is usually sampled. What do the
samplers give on the same stream, what do they cost, and what if time is ignored (DP-Means)?
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from dynmeans import DDPMixture, DPMeans, DynamicMeans
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.metrics import accuracy_global, accuracy_per_step

stream = moving_gaussians(n_steps=60, n_clusters=5, rng=np.random.default_rng(5))

# %%
# The mixture is told the true variances of noise and motion; Dynamic Means has three penalties that a
# search with labels found on other streams of this kind.
mixture = {"noise_variance": 0.05**2, "motion_variance": 0.05**2, "survival": 0.95}
methods = {
    "Dynamic Means": DynamicMeans(new_penalty=0.04, max_gap=2.5, reach=1.5, random_state=0),
    "Gibbs": DDPMixture("gibbs", n_samples=500, random_state=0, **mixture),
    "variational": DDPMixture("variational", random_state=0, **mixture),
    "particles": DDPMixture("particle", random_state=0, **mixture),
}


def labels_of(model):
    """Return the labels of all batches, taken in one by one."""
    return [model.partial_fit(batch).labels_.copy() for batch in stream.batches]


found, seconds = {}, {}
for name, model in methods.items():
    start = time.process_time()
    found[name] = labels_of(model)
    seconds[name] = time.process_time() - start

# %%
# DP-Means knows one batch: fitted to each, its numbers mean nothing from one batch to the next.
start = time.process_time()
found["DP-Means"] = [
    DPMeans(new_penalty=0.04, random_state=0).fit_predict(X) for X in stream.batches
]
seconds["DP-Means"] = time.process_time() - start

# %%
figure, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
for name, labels in found.items():
    whole = accuracy_global(stream.labels, labels)
    per_step = accuracy_per_step(stream.labels, labels)
    print(
        f"{name:14} {1e3 * seconds[name]:8.1f} ms, identities {whole:.2f}, per batch {per_step:.2f}"
    )
    (line,) = ax.plot([seconds[name]] * 2, [whole, per_step], "-", lw=1)
    ax.plot(seconds[name], whole, "o", color=line.get_color(), label=name)
    ax.plot(seconds[name], per_step, "^", color=line.get_color(), mfc="white")
ax.set(xscale="log", ylim=(0, 1), xlabel="processor time, seconds", ylabel="accuracy")
ax.set_title(
    "Dots: identities kept over all batches. Triangles: each batch by itself.", fontsize=10
)
ax.legend()
plt.show()
