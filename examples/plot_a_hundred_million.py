"""
A hundred million points a frame
================================

**Question**: 150 swarms wander over a field, and every frame has a hundred million points. Who is who, and
how long does that take?

An NVIDIA H200 clustered the frames, with the labels, centers and costs of a CPU to the last bit
(:doc:`On a GPU <../gpu>`). No browser shows so many points: ``benchmarks/gpu/film.py`` summed each frame up
where it lay, into points by cell and a few numbers for each cluster, and that is what is read here.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from scipy.spatial.distance import cdist

film = np.load("hundred_million.npz")
n_frames, n_cells, _ = film["cells"].shape
print(
    f"{n_frames} frames of {int(film['n_points']):,} points on one {film['card']}: "
    f"{film['seconds'][0]:.1f} s for the first, with the compilation of the kernels, and "
    f"{np.median(film['seconds'][1:]):.1f} s for a later one"
)

# %%
# Who is who: nearly all identities live from the first frame to the last. There are more of them than
# swarms: some swarms are cut in two, as in k-means a poor start can stay.
names, n_seen = np.unique(film["ids"], return_counts=True)
print(f"{len(names)} identities, {np.sum(n_seen == n_frames)} of them in every frame")

# %%
# The film: the more points a cell has, the stronger its color, which is the identity of the nearest cluster.
side = float(film["side"])
middles = (np.arange(n_cells) + 0.5) * side / n_cells
places = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)
palette = np.vstack([plt.get_cmap(name).colors for name in ("tab10", "Dark2", "Set1")])


def picture(step):
    """Return the colors of all cells in one frame."""
    ids, centers = film["ids"][film["steps"] == step], film["centers"][film["steps"] == step]
    owners = ids[cdist(places, centers).argmin(axis=1)].reshape(n_cells, n_cells)
    share = (film["cells"][step] / film["cells"].max())[..., None] ** 2
    return np.swapaxes(1 - share * (1 - palette[owners % len(palette)]), 0, 1)


figure, ax = plt.subplots(figsize=(5.2, 5.2), dpi=72, layout="constrained")
image = ax.imshow(picture(0), interpolation="nearest", origin="lower", extent=(0, side, 0, side))
title = ax.set_title("")
ax.set(xticks=[], yticks=[])


def draw(step):
    """Show one frame."""
    image.set_data(picture(step))
    title.set_text(f"frame {step}: {int(film['n_points']):,} points")


animation = FuncAnimation(figure, draw, frames=n_frames, interval=150)
plt.show()
