"""Workers die and schedulers go away: the same bits, or a clear error and nothing changed."""

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

import dask
import dask.array as da
import numpy as np
import pytest
from dask_streams import before_rounds, crowd, kill_a_worker
from distributed import Client

from dynmeans import ClusterState, DynamicMeans, Penalties, VisitingOrders, step
from dynmeans.engine.dask import cluster, prepare_batch
from dynmeans.engine.dask.piece import Piece
from dynmeans.engine.dask.piece_run import PieceRun
from dynmeans.engine.dask.step import step_with_rounds

PENALTIES = Penalties(0.02, revival_penalty=0.001, drift=0.5, revival="exact")


def lazy_batch():
    """Rows that a worker can make again, from functions it can import."""
    return da.from_array(crowd(0), chunks=((9_000, 0, 11_000, 7_000, 13_000), (2,)))


def run_on_one(client, workers, function):
    """Run a function on a worker that is alive: the first of these, if it is."""
    while True:
        client.wait_for_workers(1, timeout=60)  # A nanny gives up on one that dies while it starts.
        alive = client.nthreads()
        chosen = [worker for worker in [*workers, *alive] if worker in alive][:1]
        for pid in client.run(function, workers=chosen, on_error="ignore").values():
            return pid


def let_one_die_at_work(client, workers):
    """The next request kills the first of them in the middle of its work."""

    def arm():
        def die(run):
            os.kill(os.getpid(), signal.SIGKILL)

        PieceRun._arrays = die
        return os.getpid()

    return run_on_one(client, workers, arm)


def kill_the_last(client, workers):
    """One of them dies while the request is on its way."""
    pid = run_on_one(client, workers[::-1], os.getpid)
    threading.Timer(0.01, os.kill, (pid, signal.SIGKILL)).start()
    return pid


def run_and_kill(monkeypatch, happenings):
    rounds = before_rounds(monkeypatch, happenings)
    batch = prepare_batch(lazy_batch(), None, 2)
    state, clustering, _ = step_with_rounds(
        batch, ClusterState.empty(2), PENALTIES, VisitingOrders(4, 2), 1.0
    )
    labels = clustering.labels.compute()
    assert next(rounds) > max(happenings)
    return state, clustering, labels


def assert_as_on_one_machine(found):
    state, clustering, labels = found
    expected, here = step(crowd(0), ClusterState.empty(2), PENALTIES, orders=VisitingOrders(4, 2))
    np.testing.assert_array_equal(labels, here.labels)
    np.testing.assert_array_equal(clustering.cost_trace, here.cost_trace)
    assert state == expected


@pytest.mark.slow
def test_worker_killed_in_mid_pass_ten_times_changes_no_bit(cluster_to_break, monkeypatch):
    killed = set()

    def kill(way):
        def happen(client, workers):
            # One that was to die at work may have got none since.
            while (pid := way(client, workers)) in killed:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            killed.add(pid)

        return happen

    deaths = map(kill, [let_one_die_at_work, kill_the_last] * 5)
    found = run_and_kill(monkeypatch, dict(zip(range(1, 21, 2), deaths, strict=True)))
    assert len(killed) == 10
    assert_as_on_one_machine(found)


@pytest.mark.slow
def test_pieces_that_move_to_another_worker_change_no_bit(cluster_to_break, monkeypatch):
    def retire_one(client, workers):
        client.retire_workers(workers[:1])

    # Some rows in doubt at a time: in most rounds the client has decided about rows since the last.
    monkeypatch.setattr(cluster, "_MAX_BYTES", 100_000)
    monkeypatch.setattr(cluster, "_PAYS", 0)
    monkeypatch.setattr(cluster, "_MOVERS", 0)
    assert_as_on_one_machine(run_and_kill(monkeypatch, {12: retire_one}))


def test_given_orders_are_sent_to_the_rows(client):
    rng = np.random.default_rng(1)
    orders = np.array([rng.permutation(40_000), rng.permutation(40_000)])
    weights = rng.choice([0.5, 1.0, 2.0], size=40_000)
    chunks = lazy_batch().chunks[0]
    results = [
        step(points, ClusterState.empty(2), PENALTIES, orders=orders, sample_weight=given)
        for points, given in (
            (lazy_batch(), da.from_array(weights, chunks=(chunks,))),
            (crowd(0), weights),
        )
    ]
    assert results[0][0] == results[1][0]


@pytest.mark.slow
def test_labels_are_made_again_when_their_worker_dies_later(cluster_to_break):
    _, clustering = step(lazy_batch(), ClusterState.empty(2), PENALTIES, orders=VisitingOrders(4))
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
    model = DynamicMeans(0.02, random_state=0).partial_fit(crowd(1))
    before = dict(model.__dict__)
    before_rounds(monkeypatch, {5: lambda client, workers: replace_scheduler()})
    with pytest.raises(ConnectionError, match=r"Dask cluster was lost .* Nothing was changed"):
        model.partial_fit(lazy_batch())
    assert model.__dict__ == before

    monkeypatch.undo()
    client.wait_for_workers(1, timeout=60)
    unbroken = DynamicMeans(0.02, random_state=0).partial_fit(crowd(1))
    model.partial_fit(lazy_batch())
    assert model.state_ == unbroken.partial_fit(crowd(0)).state_


@pytest.mark.slow
def test_rows_that_cannot_be_made_again_are_a_clear_error(cluster_to_break, monkeypatch):
    """Scattered rows are gone with their worker."""
    batch = cluster_to_break.scatter(np.array_split(crowd(0), 4))
    before_rounds(monkeypatch, {1: let_one_die_at_work})
    with pytest.raises(ConnectionError, match="Dask cluster was lost"):
        step(batch, ClusterState.empty(2), PENALTIES, orders=VisitingOrders(0))


def scale_to_nothing(client, workers):
    client.cluster.scale(0)
    while client.nthreads():
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 3])
def test_cluster_without_workers_is_said_within_the_chosen_time(
    cluster_to_break, monkeypatch, number
):
    """Before the step begins, and in the middle of it."""
    happenings = {number: scale_to_nothing} if number else {}
    before_rounds(monkeypatch, happenings)
    if not number:
        scale_to_nothing(cluster_to_break, None)
    began = time.monotonic()
    with (
        dask.config.set({"dynmeans.no-worker-timeout": "2s"}),
        pytest.raises(
            ConnectionError, match=r"has no workers, and got none in 2 s.*To wait longer"
        ),
    ):
        step(lazy_batch(), ClusterState.empty(2), PENALTIES, orders=VisitingOrders(0))
    assert time.monotonic() - began < 20


UNFINISHED_STEP = """
import sys, time
import dask
import dask.array as da
import numpy as np
from distributed import Client
from dynmeans import ClusterState, Penalties, VisitingOrders, step
from dynmeans.engine.dask.workers import Workers

answered = Workers._call

def answer_and_hang(workers, request):
    found = answered(workers, request)
    print("under way", flush=True)
    time.sleep(600)

Workers._call = answer_and_hang
with Client(sys.argv[1]):
    rows = da.from_array(np.random.default_rng(0).random((9_000, 2)), chunks=(3_000, 2))
    step(rows, ClusterState.empty(2), Penalties(0.1, max_gap=3, reach=1), orders=VisitingOrders(0))
"""


def count_pieces():
    return sum(isinstance(found, Piece) for found in gc.get_objects())


@pytest.mark.slow
def test_workers_keep_nothing_of_a_client_that_was_killed(cluster_to_break):
    address = cluster_to_break.scheduler.address
    killed = subprocess.Popen(
        [sys.executable, "-c", UNFINISHED_STEP, address], stdout=subprocess.PIPE, text=True
    )
    assert killed.stdout.readline() == "under way\n"
    assert sum(cluster_to_break.run(count_pieces).values()) > 0
    killed.kill()
    killed.communicate()
    deadline = time.monotonic() + 30
    while sum(cluster_to_break.run(count_pieces).values()) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert sum(cluster_to_break.run(count_pieces).values()) == 0
