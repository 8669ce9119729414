"""What may happen to a cluster in the middle of a step."""

import os
import signal

import numpy as np

from dynmeans.engine.dask.workers import Workers


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
