"""Random streams for a cluster: what makes passes eventful, in chunks of any size."""

import os
import signal

import dask.array as da
import numpy as np

from dynmeans import ClusterState, Penalties, VisitingOrders, step
from dynmeans.engine.dask.workers import Workers


class DaskStream:
    """Batches with their chunks, weights, gaps in time and orders, all from one seed."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.revival = str(rng.choice(["paper", "exact"]))
        self.is_crowd = rng.random() < 0.5
        self.d = int(rng.integers(1, 4)) if self.is_crowd else int(rng.choice([1, 2, 4, 8, 20]))
        self.is_large = rng.random() < 0.25
        self.penalties = self._penalties(rng)
        self.batches = [self._batch(rng) for _ in range(int(rng.integers(1, 5)))]
        if rng.random() < 0.5:
            self.penalties = self.penalties.with_motion("constant_velocity")

    def _penalties(self, rng):
        if self.is_crowd:
            # Cheap revival: clusters are revived by one point and empty again within the pass.
            reach = 0.02 if self.is_large else float(rng.choice([0.001, 0.01, 0.03, 0.1, 0.3]))
            share = float(rng.choice([0, 0.001, 0.01, 0.05, 0.3]))
            drift = float(rng.choice([0, 0.5, 2]))
            return Penalties(reach, revival_penalty=share * reach, drift=drift)
        scale = float(self.d * rng.choice([1, 3] if self.is_large else [0.1, 0.3, 1, 3]))
        return Penalties(scale, max_gap=float(rng.uniform(1.1, 6)), reach=float(rng.choice([1, 2])))

    def _batch(self, rng):
        n = int(rng.integers(17_000, 50_000)) if self.is_large else int(rng.integers(0, 400))
        if self.is_crowd:
            points = rng.random((n, self.d)) * rng.choice([0.5, 1])
        else:
            centers = np.random.default_rng(self.d).normal(size=(12, self.d)) * 2
            centers = centers + 0.3 * rng.normal(size=centers.shape)
            points = centers[rng.integers(12, size=n)] + 0.4 * rng.normal(size=(n, self.d))
        # Ties; and many points off the grid would go on for hundreds of passes.
        if rng.random() < 0.3 or self.is_large:
            points = np.round(points, 1)
        if rng.random() < 0.2:
            points = points.astype(np.float32)
        weights = rng.choice([0, 0.5, 1, 2.0], size=n) if rng.random() < 0.3 else None
        n_init = 1 if self.is_large else int(rng.integers(1, 3))
        orders = VisitingOrders(int(rng.integers(2**63)), n_init)
        if rng.random() < 0.2:
            orders = np.array([rng.permutation(n) for _ in range(n_init)]).reshape(n_init, n)
        return points, weights, orders, float(rng.choice([0.5, 1, 1, 2.5])), uneven_chunks(rng, n)

    def run(self, on_cluster, place=None):
        """Return every state, and its clustering with the labels at hand.

        `place` brings a chunk to where it is to lie.
        """
        state, results = ClusterState.empty(self.d), []
        for points, weights, orders, elapsed, chunks in self.batches:
            if on_cluster:
                points = da.from_array(points, chunks=(chunks, (self.d,)))
                weights = None if weights is None else da.from_array(weights, chunks=(chunks,))
            if place is not None:
                points = points.map_blocks(place)
                weights = None if weights is None else weights.map_blocks(place)
            state, clustering = step(
                points,
                state,
                self.penalties.with_revival(self.revival),
                orders=orders,
                elapsed=elapsed,
                sample_weight=weights,
            )
            assert not on_cluster or clustering.labels.chunks == (chunks,)
            results.append((state, clustering, np.asarray(clustering.labels)))
        return results


class SphereDaskStream(DaskStream):
    """The same on the unit sphere; a batch of few directions has many ties."""

    def __init__(self, seed):
        super().__init__(seed)
        rng = np.random.default_rng(seed)
        self.penalties = Penalties(
            2 * (1 - float(rng.uniform(-0.2, 0.95))),
            max_gap=float(rng.uniform(1.1, 6)),
            reach=float(rng.choice([1, 1.05, 2])),
        ).with_centers("sphere")

    def _batch(self, rng):
        points, *rest = super()._batch(rng)
        points = np.where((points == 0).all(axis=1)[:, None], 1.0, points).astype(points.dtype)
        return points / np.linalg.norm(points, axis=1, keepdims=True), *rest


def uneven_chunks(rng, n):
    """Sizes of up to seven chunks, empty ones among them."""
    cuts = np.sort(rng.integers(0, n + 1, size=int(rng.integers(0, 7))))
    return tuple(np.diff([0, *cuts, n]).tolist())


def assert_same_bits(found, expected):
    for (state, clustering, labels), (state_0, clustering_0, labels_0) in zip(
        found, expected, strict=True
    ):
        np.testing.assert_array_equal(clustering.cost_trace, clustering_0.cost_trace)
        np.testing.assert_array_equal(labels, labels_0)
        for name in ("ids", "counts", "centers"):
            np.testing.assert_array_equal(getattr(clustering, name), getattr(clustering_0, name))
        assert clustering.counts.dtype == clustering_0.counts.dtype
        assert (clustering.cost, clustering.n_iter) == (clustering_0.cost, clustering_0.n_iter)
        assert state == state_0


# What may happen to a cluster in the middle of a step.


def crowd(seed):
    return np.random.default_rng(seed).random((40_000, 2)).round(2)


def kill_a_worker(client, number):
    pids = sorted(client.run(os.getpid).values())
    os.kill(pids[number % len(pids)], signal.SIGKILL)


def before_rounds(monkeypatch, happenings):
    """Let something happen to the workers just before the requests of these rounds go out."""
    rounds, original = iter(range(10**6)), Workers._call

    def call(workers, request):
        happen = happenings.get(next(rounds), lambda client, addresses: None)
        happen(workers._client, sorted(workers._addresses))
        return original(workers, request)

    monkeypatch.setattr(Workers, "_call", call)
    return rounds
