"""A film of a hundred million points a frame, made on a GPU: what the gallery shows of it.

python -m benchmarks.gpu.film [--results examples/hundred_million.npz]

Every batch is clustered on the card and then summed up there: points by cell, and the clusters.
"""

import argparse
import time
from typing import Any

import cupy as cp
import numpy as np

from dynmeans import ClusterState, Penalties, VisitingOrders, step

N_SWARMS, N_BATCHES, N_CELLS, NOISE, SIDE = 150, 36, 128, 0.16, 20.0
AWAY = {3: (8, 14), 40: (10, 19), 77: (14, 22), 110: (5, 12)}  # swarms that leave, from and until


def places(rng: np.random.Generator) -> np.ndarray:
    """Where each swarm is in each batch: it wanders, and turns back at the borders."""
    grid = np.stack(np.meshgrid(*[np.linspace(1, SIDE - 1, 13)] * 2), axis=-1).reshape(-1, 2)
    found = np.empty((N_BATCHES, N_SWARMS, 2))
    found[0] = rng.permutation(grid)[:N_SWARMS] + rng.normal(0, 0.1, (N_SWARMS, 2))
    speed = rng.normal(0, 0.06, (N_SWARMS, 2))
    for t in range(1, N_BATCHES):
        speed = 0.9 * speed + rng.normal(0, 0.025, speed.shape)
        speed[(found[t - 1] + speed < 0.5) | (found[t - 1] + speed > SIDE - 0.5)] *= -1
        found[t] = found[t - 1] + speed
    return found


def draw(random: Any, centers: np.ndarray, n: int) -> Any:
    """Points of the swarms that are there, on the card."""
    where = cp.asarray(centers)
    points = where[random.randint(0, len(centers), n)]
    points += NOISE * random.standard_normal((n, 2))
    return points


def main() -> None:
    """Make the batches, cluster them, and write what is left of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", default="examples/hundred_million.npz")
    parser.add_argument("--points", type=int, default=10**8)
    options = parser.parse_args()
    rng, random = np.random.default_rng(5), cp.random.RandomState(5)
    where, penalties = places(rng), Penalties(1.1**2, max_gap=12, reach=1.5)
    state, orders = ClusterState.empty(2), VisitingOrders(0)
    found: dict[str, list[Any]] = {"cells": [], "ids": [], "centers": [], "seconds": []}
    edges = cp.linspace(0, SIDE, N_CELLS + 1)
    for t in range(N_BATCHES):
        away = [k for k, (begin, end) in AWAY.items() if begin <= t < end]
        points = draw(random, np.delete(where[t], away, axis=0), options.points)
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        state, clustering = step(points, state, penalties, orders=orders)
        cp.cuda.Device().synchronize()
        found["seconds"].append(time.perf_counter() - start)
        cells = sum(
            cp.histogram2d(*points[s : s + 2**24].T, bins=[edges, edges])[0]
            for s in range(0, len(points), 2**24)
        )
        found["cells"].append(np.round(12 * np.log2(1 + cells.get())).astype(np.uint8))
        found["ids"].append(clustering.ids)
        found["centers"].append(clustering.centers)
        print(
            t, len(clustering.ids), clustering.n_iter, f"{found['seconds'][-1]:.3f} s", flush=True
        )
    np.savez_compressed(
        options.results,
        n_points=options.points,
        card=cp.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        side=SIDE,
        cells=np.array(found["cells"]),
        seconds=np.array(found["seconds"]),
        steps=np.repeat(np.arange(N_BATCHES), [len(ids) for ids in found["ids"]]),
        ids=np.concatenate(found["ids"]).astype(np.int32),
        centers=np.concatenate(found["centers"]).astype(np.float32),
    )


if __name__ == "__main__":
    main()
