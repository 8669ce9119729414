"""Compute the golden streams of this folder with the specification: python tests/golden/make.py.

Each .npz holds `points` stacked, `offsets` of the batches, `orders` (positions within the batch),
`elapsed`, `sample_weight`, the penalties and the revival rule; and what came out: `labels`
(identities), `costs`, `n_iter`, and the last state's `centers`.
"""

from pathlib import Path

import numpy as np

from dynmeans import ClusterState, Penalties, step
from dynmeans.datasets.moving_gaussians import moving_gaussians

STREAMS = {
    "paper_rule": {"n_clusters": 6, "n_features": 2, "vanish": 0.1, "revival": "paper"},
    "exact_rule": {"n_clusters": 4, "n_features": 3, "vanish": 0.2, "revival": "exact"},
    "weighted": {"n_clusters": 3, "n_features": 9, "vanish": 0.1, "revival": "paper"},
}


def make(name: str, settings: dict) -> None:
    """Write one stream."""
    rng = np.random.default_rng(len(name))
    revival = settings.pop("revival")
    stream = moving_gaussians(n_steps=12, rng=rng, points_per_cluster=8, **settings)
    penalties = Penalties(0.04 * settings["n_features"], max_gap=4.5, reach=1.3)
    state, found = ClusterState.empty(settings["n_features"]), []
    orders, weights = [], []
    elapsed = rng.choice([0.5, 1.0, 2.0], size=len(stream), p=[0.1, 0.8, 0.1])
    for points, gap in zip(stream.batches, elapsed, strict=True):
        orders.append(np.array([rng.permutation(len(points)) for _ in range(3)]))
        weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=len(points))
        weights.append(weight if name == "weighted" else np.ones(len(points)))
        state, clustering = step(
            points,
            state,
            penalties.with_revival(revival),
            orders=orders[-1],
            elapsed=gap,
            sample_weight=weights[-1],
            backend="reference",
        )
        found.append(clustering)
    np.savez_compressed(
        Path(__file__).parent / f"{name}.npz",
        points=np.vstack(stream.batches),
        offsets=np.cumsum([0, *map(len, stream.batches)]),
        orders=np.hstack(orders).astype(np.int32),
        elapsed=elapsed,
        sample_weight=np.concatenate(weights),
        penalties=[penalties.new_penalty, penalties.revival_penalty, penalties.drift],
        revival=revival,
        labels=np.concatenate([c.labels for c in found]).astype(np.int32),
        costs=[c.cost for c in found],
        n_iter=[c.n_iter for c in found],
        centers=state.centers,
    )


if __name__ == "__main__":
    for stream_name, stream_settings in STREAMS.items():
        make(stream_name, dict(stream_settings))
