"""
Choosing parameters without labels
==================================

**Question**: nobody has labeled my stream. How large should ``new_penalty`` be, how long may a cluster be gone,
how far may it move?

``suggest_penalties`` tries some twenty choices on the first batches and keeps the one that describes the stream most
briefly.
"""

import matplotlib.pyplot as plt
import numpy as np

from dynmeans import DynamicMeans
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.metrics import accuracy_global
from dynmeans.parameters.selection import suggest

stream = moving_gaussians(
    n_steps=60, n_clusters=8, spread=0.03, motion=0.02, vanish=0.04, rng=np.random.default_rng(12)
)

# %%
# Thirty batches are enough.
suggestion = suggest(stream.batches[:30])
print(suggestion.explanation)

# %%
# Here the true identities are known, so we can see what was lost by not looking at them: the same stream with
# ``new_penalty`` from far too small to far too large.
chosen = suggestion.penalties
factors = 2.0 ** np.arange(-6, 7)


def accuracy(new_penalty):
    """Cluster the whole stream and compare with the truth."""
    model = DynamicMeans(new_penalty, max_gap=chosen.max_gap, reach=chosen.reach, random_state=0)
    return accuracy_global(stream.labels, model.fit_sequence(stream.batches)[0])


scores = [accuracy(chosen.new_penalty * factor) for factor in factors]

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
tried = suggestion.candidates
left.scatter(
    [candidate.penalties.new_penalty for candidate in tried],
    [candidate.description_bits for candidate in tried],
    c=np.log2([candidate.n_clusters_per_batch for candidate in tried]),
)
left.axvline(chosen.new_penalty, color="black", ls=":")
left.set(xscale="log", xlabel="new_penalty", ylabel="bits per point", title="What was tried")
right.plot(chosen.new_penalty * factors, scores, "o-")
right.axvline(chosen.new_penalty, color="black", ls=":")
right.set(xscale="log", ylim=(0, 1), xlabel="new_penalty", ylabel="identities kept")
right.set_title("What the labels, unseen till now, say")
plt.show()
