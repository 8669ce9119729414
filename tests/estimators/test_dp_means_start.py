"""DP-Means as Kulis and Jordan wrote it, beside ours: another start, the same cost."""

import numpy as np

from dynmeans import DPMeans


def kulis_jordan(points, new_penalty, order):
    """Their Algorithm 1: all points start in one cluster at the mean."""
    centers, labels, last = [points.mean(axis=0)], np.zeros(len(points), dtype=int), np.inf
    while True:
        for i in order:
            costs = ((points[i] - np.array(centers)) ** 2).sum(axis=1)
            labels[i] = costs.argmin() if costs.min() <= new_penalty else len(centers)
            if labels[i] == len(centers):
                centers.append(points[i])
        names, labels = np.unique(labels, return_inverse=True)
        centers = [points[labels == k].mean(axis=0) for k in range(len(names))]
        cost = ((points - np.array(centers)[labels]) ** 2).sum() + new_penalty * len(names)
        if cost >= last * (1 - 1e-12):
            return cost
        last = cost


def both_costs(seed):
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 10, size=(rng.integers(3, 12), 2))
    points = places[rng.integers(len(places), size=200)] + 0.7 * rng.normal(size=(200, 2))
    new_penalty = float(rng.choice([4.0, 9.0, 16.0]))
    theirs = kulis_jordan(points, new_penalty, rng.permutation(len(points)))
    return DPMeans(new_penalty, n_init=1, random_state=seed).fit(points).cost_, theirs


def test_start_of_kulis_and_jordan_ends_at_the_same_cost_on_average():
    ours, theirs = np.array([both_costs(seed) for seed in range(25)]).T
    assert 0.9 < (ours / theirs).mean() < 1.1
    assert (ours < theirs).any()
    assert (ours > theirs).any()
