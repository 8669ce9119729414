"""A real cluster on this machine: workers in processes of their own, started once."""

import dask
import pytest
from distributed import Client, LocalCluster


def start_cluster(n_workers):
    # Every death counts against the tasks that were running; tests kill many workers.
    dask.config.set({"distributed.scheduler.allowed-failures": 20})
    dask.config.set({"dynmeans.no-worker-timeout": "60s"})  # A busy machine starts them slowly.
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        memory_limit=0,
        silence_logs=50,
    )


@pytest.fixture(scope="session")
def two_workers():
    with start_cluster(2) as cluster:
        yield cluster


@pytest.fixture
def client(two_workers):
    with Client(two_workers) as client:
        yield client


@pytest.fixture(scope="module", params=[1, 2, 4], ids="{}_workers".format)
def client_of_many(request):
    with start_cluster(request.param) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def cluster_to_break():
    """A cluster of one test, which may do what it likes with it."""
    with start_cluster(2) as cluster, Client(cluster) as client:
        yield client
