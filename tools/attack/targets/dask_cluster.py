"""Random streams on a Dask cluster: the bits of one machine, whatever the chunks and workers."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from attack.targets import Case, Skipped
from dynmeans import DynamicMeans


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """A cluster in this process, started once."""
    try:
        import dask.array as da  # noqa: PLC0415
        from distributed import Client, LocalCluster  # noqa: PLC0415
    except ImportError as error:
        raise Skipped("dask is not installed") from error
    options = {"processes": False, "dashboard_address": None, "silence_logs": 50}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster),
    ):

        def attack(rng: random.Random) -> None:
            numbers = np.random.default_rng(rng.getrandbits(64))
            d, scale = rng.choice([1, 2, 3, 20]), rng.choice([0.1, 1.0])
            parameters = {
                "new_penalty": rng.uniform(0.05, 8),
                "n_init": rng.randint(1, 2),
                "order": "row",
                "revival": rng.choice(["paper", "exact"]),
                "random_state": rng.randrange(2**32),
            }
            here, there = DynamicMeans(**parameters), DynamicMeans(**parameters)
            for step in range(rng.randint(1, 3)):
                n = rng.randint(1, 120)
                points = numbers.normal(size=(4, d))[numbers.integers(4, size=n)]
                points = scale * np.round(points + 0.3 * numbers.normal(size=(n, d)), 1)
                weights = numbers.choice([0.5, 1.0, 2.0], size=n) if rng.random() < 0.3 else None
                spread = da.from_array(points, chunks=(rng.randint(1, n), d))
                chunked = (
                    None if weights is None else da.from_array(weights, chunks=spread.chunks[0])
                )
                here.partial_fit(points, sample_weight=weights)
                there.partial_fit(spread, sample_weight=chunked)
                if here.state_ != there.state_:
                    raise AssertionError(f"states differ after batch {step} of {n} rows")
                if not np.array_equal(here.labels_, there.labels_.compute()):
                    raise AssertionError(f"labels differ in batch {step} of {n} rows")

        yield attack
