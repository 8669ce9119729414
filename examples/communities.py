"""Communities of a network over time, beside Leiden with matching.

Who belongs together in each snapshot of a network, and who is who in the next one? A node is a
row: where a walk of five steps from it is likely to end, over this snapshot and, fading, those
before. In the space ``cosine`` nodes of one community point the same way, and Dynamic Means
keeps the names of communities that split, merge, fall silent and return.

Run as ``uv run examples/communities.py``; the network is simulated, so that the truth is known.
"""

# /// script
# requires-python = ">=3.11"
# dependencies = ["dynmeans", "python-igraph>=0.11", "scikit-learn"]
# ///

import random
from typing import NamedTuple

import igraph
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from dynmeans import DynamicMeans
from dynmeans.metrics import accuracy_global, idf1

FADING = 0.4  # how much of the last snapshot's edges is still there
STEPS = 5  # of a walk
NOBODY = -1


class Snapshot(NamedTuple):
    """Edges, the true community of each node, and which nodes are active."""

    edges: np.ndarray
    communities: np.ndarray
    is_active: np.ndarray


def simulate(seed: int, n_nodes: int = 240, n_snapshots: int = 30) -> list[Snapshot]:
    """A stochastic block model: two nodes move at each step; communities split, merge, are born."""
    rng = np.random.default_rng(seed)
    communities, n_born, snapshots = np.arange(n_nodes) % 6, 6, []
    for t in range(n_snapshots):
        if t:
            movers = rng.integers(n_nodes, size=2)
            communities[movers] = rng.choice(np.unique(communities), 2)
        if t in (6, 22):  # half of one goes its own way
            members = np.flatnonzero(communities == (0 if t == 6 else 2))
            communities[members[len(members) // 2 :]], n_born = n_born, n_born + 1
        if t in (10, 18):  # one is taken up by another
            communities[communities == (1 if t == 10 else 3)] = 2 if t == 10 else 4
        if t == 14:  # every second member of the largest founds a new one
            members = np.flatnonzero(communities == np.bincount(communities).argmax())
            communities[members[::2]], n_born = n_born, n_born + 1
        chance = np.where(communities[:, None] == communities, 0.18, 0.01)
        upper = np.triu(rng.random((n_nodes, n_nodes)) < chance, 1)
        is_active = ~((communities == 5) & (24 <= t < 27))  # silent, and back again
        edges = (upper | upper.T) & np.outer(is_active, is_active)
        snapshots.append(Snapshot(edges.astype(float), communities.copy(), is_active))
    return snapshots


def follow(snapshots: list[Snapshot]) -> list[np.ndarray]:
    """Communities that keep their names, by Dynamic Means on walks."""
    model = DynamicMeans(0.8, space="cosine", max_gap=8, random_state=0)
    labels, weights = [], np.zeros_like(snapshots[0].edges)
    for edges, _, is_active in snapshots:
        weights = FADING * weights + edges
        walk = weights + np.eye(len(weights))
        walk = np.linalg.matrix_power(walk / walk.sum(axis=1, keepdims=True), STEPS)
        rows = walk / np.sqrt(walk.sum(axis=0))  # what every walk visits says little
        model.partial_fit(rows[is_active])
        labels.append(np.full(len(rows), NOBODY))
        labels[-1][is_active] = model.labels_
    return labels


def match_leiden(snapshots: list[Snapshot]) -> list[np.ndarray]:
    """Communities of each snapshot by Leiden, matched to the last ones that share their nodes."""
    random.seed(0)
    labels, n_born = [], 0
    for edges, _, is_active in snapshots:
        graph = igraph.Graph.Adjacency((edges > 0).tolist(), mode="undirected")
        found = graph.community_leiden(objective_function="modularity", n_iterations=-1)
        here = np.where(is_active, found.membership, NOBODY)
        used = np.unique(here[is_active])
        names = {}
        if labels:
            before = np.unique(labels[-1][labels[-1] >= 0])
            shared = np.array(
                [[_overlap(here == a, labels[-1] == b) for b in before] for a in used]
            )
            for row, column in zip(*linear_sum_assignment(-shared), strict=True):
                if shared[row, column] > 0:
                    names[used[row]] = before[column]
        for community in used:
            if community not in names:
                names[community], n_born = n_born, n_born + 1
        labels.append(np.array([names.get(community, NOBODY) for community in here]))
    return labels


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    return np.count_nonzero(a & b) / np.count_nonzero(a | b)


def score(snapshots: list[Snapshot], labels: list[np.ndarray]) -> dict[str, float]:
    """How well each snapshot is divided, and how well names are kept over all."""
    true = [s.communities[s.is_active] for s in snapshots]
    found = [names[s.is_active] for s, names in zip(snapshots, labels, strict=True)]
    each = [adjusted_rand_score(a, b) for a, b in zip(true, found, strict=True)]
    return {
        "adjusted_rand": float(np.mean(each)),
        "accuracy": float(accuracy_global(true, found)),
        "idf1": float(idf1(true, found)),
    }


if __name__ == "__main__":
    for seed in range(10, 13):
        network = simulate(seed)
        for name, labels in (("ours", follow(network)), ("Leiden", match_leiden(network))):
            told = ", ".join(
                f"{what} {value:.3f}" for what, value in score(network, labels).items()
            )
            print(f"network {seed}, {name:6}: {told}")
