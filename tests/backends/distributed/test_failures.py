"""Workers die and schedulers go away: the same bits, or a clear error and nothing changed."""

import os
import signal
import socket
import subprocess
import sys

import dask.array as da
import numpy as np
import pytest
from distributed import Client

from dynmeans import ClusterState, DynamicMeans, HashOrders, Penalties, step
from dynmeans.backends.distributed import crew, take_batch
from dynmeans.backends.distributed.spread_step import step_with_rounds

PENALTIES = Penalties(0.02, revival_penalty=0.001, drift=0.5)


def crowd(seed):
    return np.random.default_rng(seed).random((40_000, 2)).round(2)


def make_chunk(block_info=None):
    """Rows that a worker can make again."""
    (first, stop), _ = block_info[None]["array-location"]
    return crowd(0)[first:stop]


def lazy_batch():
    sizes = (9_000, 0, 11_000, 7_000, 13_000)
    return da.map_blocks(make_chunk, chunks=(sizes, (2,)), dtype=np.float64)


def kill_a_worker(client, number):
    pids = sorted(client.run(os.getpid).values())
    os.kill(pids[number % len(pids)], signal.SIGKILL)


def run_and_kill(client, monkeypatch, kills):
    """Kill a worker just after the requests of these rounds went out."""
    rounds, original = iter(range(10**6)), crew.Crew._submit

    def submit(self, task, sent, group, extra):
        future = original(self, task, sent, group, extra)
        number = next(rounds)
        if number in kills:
            kill_a_worker(client, number)
        return future

    monkeypatch.setattr(crew.Crew, "_submit", submit)
    batch = take_batch(lazy_batch(), None, 2)
    state, clustering, _ = step_with_rounds(
        batch, ClusterState.empty(2), PENALTIES, HashOrders(4, 2), 1.0, "exact"
    )
    labels = clustering.labels.compute()
    assert next(rounds) > max(kills)
    return state, clustering, labels


def assert_as_on_one_machine(found):
    state, clustering, labels = found
    expected, here = step(
        crowd(0), ClusterState.empty(2), PENALTIES, orders=HashOrders(4, 2), revival="exact"
    )
    np.testing.assert_array_equal(labels, here.labels)
    np.testing.assert_array_equal(clustering.cost_trace, here.cost_trace)
    assert state == expected


@pytest.mark.slow
def test_worker_killed_in_mid_pass_ten_times_changes_no_bit(cluster_to_break, monkeypatch):
    kills = {2, 7, 11, 16, 20, 25, 29, 34, 38, 43}
    assert_as_on_one_machine(run_and_kill(cluster_to_break, monkeypatch, kills))


@pytest.mark.slow
def test_labels_are_made_again_when_their_worker_dies_later(cluster_to_break):
    _, clustering = step(
        lazy_batch(), ClusterState.empty(2), PENALTIES, orders=HashOrders(4), revival="exact"
    )
    before = clustering.labels.compute()
    kill_a_worker(cluster_to_break, 0)
    np.testing.assert_array_equal(clustering.labels.compute(), before)


def start(command, *options):
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{command}", "--no-dashboard", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture
def own_scheduler():
    """A scheduler and a worker in processes of their own, and the way to replace the former."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, processes = f"tcp://127.0.0.1:{port}", {}

    def replace_scheduler():
        if "scheduler" in processes:
            processes["scheduler"].kill()
            processes["scheduler"].wait()
        processes["scheduler"] = start("scheduler", "--host", "127.0.0.1", "--port", str(port))
        processes[f"worker {len(processes)}"] = start(
            "worker", address, "--nthreads", "1", "--no-nanny", "--memory-limit", "0"
        )

    replace_scheduler()
    with Client(address, timeout=60) as client:
        yield client, replace_scheduler
    for process in processes.values():
        process.kill()
        process.wait()


@pytest.mark.slow
def test_restarted_scheduler_is_a_clear_error_and_changes_nothing(own_scheduler, monkeypatch):
    client, replace_scheduler = own_scheduler
    client.wait_for_workers(1, timeout=60)
    model = DynamicMeans(0.02, order="hash", random_state=0).partial_fit(crowd(1))
    before, original, rounds = dict(model.__dict__), crew.Crew._submit, iter(range(10**6))

    def submit(self, *arguments):
        future = original(self, *arguments)
        if next(rounds) == 5:
            replace_scheduler()
        return future

    monkeypatch.setattr(crew.Crew, "_submit", submit)
    with pytest.raises(ConnectionError, match=r"Dask cluster was lost .* Nothing was changed"):
        model.partial_fit(lazy_batch())
    assert model.__dict__ == before

    monkeypatch.setattr(crew.Crew, "_submit", original)
    client.wait_for_workers(1, timeout=60)
    unbroken = DynamicMeans(0.02, order="hash", random_state=0).partial_fit(crowd(1))
    model.partial_fit(lazy_batch())
    assert model.state_ == unbroken.partial_fit(crowd(0)).state_


@pytest.mark.slow
def test_rows_that_cannot_be_made_again_are_a_clear_error(cluster_to_break, monkeypatch):
    """Scattered rows are gone with their worker."""
    batch = cluster_to_break.scatter(np.array_split(crowd(0), 4))
    original, rounds = crew.Crew._submit, iter(range(10**6))

    def submit(self, *arguments):
        future = original(self, *arguments)
        if next(rounds) == 1:
            kill_a_worker(cluster_to_break, 0)
        return future

    monkeypatch.setattr(crew.Crew, "_submit", submit)
    with pytest.raises(ConnectionError, match="Dask cluster was lost"):
        step(batch, ClusterState.empty(2), PENALTIES, orders=HashOrders(0))
