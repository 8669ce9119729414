"""Random streams on a Dask cluster: the bits of memory, whatever the chunks, workers and rows."""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from attack.targets import Case, Skipped
from attack.wild_streams import compare_steps, wild_stream
from dynmeans import ClusterState, DynamicMeans, step
from dynmeans.engine.compiled import compiled


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Clusters of one, two and four workers in this process, started once."""
    try:
        import dask.array  # noqa: F401, PLC0415
        from distributed import Client, LocalCluster  # noqa: PLC0415
    except ImportError as error:
        raise Skipped("dask is not installed") from error
    options = {"threads_per_worker": 1, "processes": False}
    options |= {"dashboard_address": None, "silence_logs": 50}
    attack = _attack_points if name == "dask" else _attack_borders
    with ExitStack() as stack:
        clusters = [stack.enter_context(LocalCluster(n_workers=n, **options)) for n in (1, 2, 4)]
        clients = [stack.enter_context(Client(cluster)) for cluster in clusters]

        def attack_on_any(rng: random.Random) -> int | None:
            with rng.choice(clients).as_current():
                return attack(rng)

        yield attack_on_any


def _attack_points(rng: random.Random) -> None:
    """Ties, few rows and any chunks, in any order."""
    import dask.array as da  # noqa: PLC0415

    numbers = np.random.default_rng(rng.getrandbits(64))
    d, scale = rng.choice([1, 2, 3, 20]), rng.choice([0.1, 1.0])
    parameters = {
        "new_penalty": rng.uniform(0.05, 8),
        "random_state": rng.randrange(2**32),
    }
    if rng.random() < 0.5:  # else default settings
        parameters |= {
            "n_init": rng.randint(1, 2),
            "revival": rng.choice(["paper", "exact"]),
        }
    if is_sphere := rng.random() < 0.25:
        parameters |= {"space": "cosine", "new_penalty": parameters["new_penalty"] / 10}
    here, there = DynamicMeans(**parameters), DynamicMeans(**parameters)
    for number in range(rng.randint(1, 3)):
        n = rng.randint(1, 120)
        points = numbers.normal(size=(4, d))[numbers.integers(4, size=n)]
        points = scale * np.round(points + 0.3 * numbers.normal(size=(n, d)), 1)
        if is_sphere:
            points[~points.any(axis=1)] = 1.0
        weights = numbers.choice([0.5, 1.0, 2.0], size=n) if rng.random() < 0.3 else None
        rows = numbers.permutation(n) if rng.random() < 0.5 else np.arange(n)
        spread = da.from_array(points[rows], chunks=(rng.randint(1, n), d))
        chunked = None if weights is None else da.from_array(weights[rows], chunks=spread.chunks[0])
        here.partial_fit(points, sample_weight=weights)
        there.partial_fit(spread, sample_weight=chunked)
        if here.memory_.clusters != there.memory_.clusters:
            raise AssertionError(f"states differ after batch {number} of {n} rows")
        labels = np.empty(n, dtype=np.int64)
        labels[rows] = there.labels_.compute()
        if not np.array_equal(
            as_sets(points, weights, here.labels_), as_sets(points, weights, labels)
        ):
            raise AssertionError(f"labels differ in batch {number} of {n} rows")


def _attack_borders(rng: random.Random) -> int:
    """Rows in doubt are gathered whenever they may be, few or many; weights of any size."""
    import dask.array as da  # noqa: PLC0415

    stream = wild_stream(rng, (50, 4_000), [1, 2, 3, 3, 5, 20], most_clusters=40)
    orders, state = stream.orders, ClusterState.empty(stream.n_features)
    with _early_gatherings(rng.choice([1_000, 20_000, 10**6])):
        for number, (batch, elapsed) in enumerate(stream.batches):
            n, options = batch.n_points, {"orders": orders, "elapsed": elapsed}
            rows = da.from_array(batch.points, chunks=(rng.randint(max(1, n // 5), n), -1))
            weights = batch.weights
            spread = None if weights is None else da.from_array(weights, chunks=rows.chunks[0])
            found, clustering = step(rows, state, stream.penalties, sample_weight=spread, **options)
            expected = step(batch.points, state, stream.penalties, sample_weight=weights, **options)
            clustering = replace(clustering, labels=clustering.labels.compute())
            compare_steps((found, clustering), expected, f"from one machine: batch {number}")
            state = expected[0]
    return len(stream.batches)


@contextmanager
def _early_gatherings(n_bytes: int) -> Iterator[None]:
    from dynmeans.engine.dask import cluster  # noqa: PLC0415

    forced: dict[str, Any] = {"_MAX_BYTES": n_bytes, "_MOVERS": 0, "_PAYS": 0}
    usual, dates = {name: getattr(cluster, name) for name in forced}, compiled.date_from(1, 1)
    for name, value in forced.items():
        setattr(cluster, name, value)
    try:
        yield
    finally:
        compiled.date_from(*dates)
        for name, value in usual.items():
            setattr(cluster, name, value)


def as_sets(points: np.ndarray, weights: np.ndarray | None, labels: np.ndarray) -> np.ndarray:
    """Labels beside what the rows hold: equal rows may change places."""
    columns = [*points.T, np.ones(len(points)) if weights is None else weights, labels]
    return np.array(columns)[:, np.lexsort(columns)]
