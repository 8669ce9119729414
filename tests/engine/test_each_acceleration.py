"""Every acceleration alone, and every one left out, begun at once: the bits of "none"."""

import random

import numpy as np
import pytest
from attack.targets.accelerations import compare_ways, forced, steps_of
from attack.wild_streams import WildStream, wild_stream

from dynmeans.algorithm import assign_labels, cluster
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import compiled
from dynmeans.engine.execution import Execution
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties

NAMES = compiled.acceleration_names()
BASE = "bounds"  # without it no later pass is accelerated
SEEDS = range(8)
# Streams in which the queue of due dates once lost points (T15).
SEEDS_OF_TAILS = (0, 3, 6, 12, 16, 22, 27, 28)


def weights_over_twelve_decades(rng, n):
    return 10.0 ** rng.uniform(-6.0, 6.0, n)


def crowd(seed):
    """Uniform points with heavy tails and cheap revival: late passes open and empty clusters."""
    rng = np.random.default_rng(seed)
    d, n = [2, 1, 2, 3, 2, 3, 5, 16][seed], [300, 300, 1500, 400, 700, 1500, 300, 300][seed]
    new_penalty = d * [0.003, 0.001, 0.001, 0.01, 0.01, 0.01, 0.05, 0.2][seed]
    penalties = Penalties(
        new_penalty, revival_penalty=0.01 * new_penalty, drift=0.5, revival="exact"
    )
    batches = []
    for _ in range(4):
        X = rng.random((n, d)) + 0.01 * rng.standard_t(1.5, size=(n, d))
        batches.append((Batch(X, weights_over_twelve_decades(rng, n)), 1.0))
    return WildStream(penalties, VisitingOrders(seed), batches)


def tails(seed):
    """Blobs with heavy tails in few features: passes in which most centers hardly move."""
    rng = np.random.default_rng(seed)
    d, n = 1 + seed % 3, 3000
    centers, batches = 5.0 * rng.normal(size=(20, d)), []
    for _ in range(2):
        X = centers[rng.integers(20, size=n)] + rng.standard_t(2.0, size=(n, d))
        heavy = np.where(rng.random(n) < 0.1, 1e6, 1.0)
        weights = weights_over_twelve_decades(rng, n) if seed % 2 else heavy
        batches.append((Batch(X, weights), 1.0))
    penalties = Penalties(float(rng.choice([12, 50, 200])), max_gap=3, reach=1.5)
    return WildStream(penalties, VisitingOrders(seed), batches)


def blobs(seed):
    return wild_stream(random.Random(seed), (200, 2000), [1, 2, 3, 4, 8, 20, 70], most_clusters=60)


@pytest.fixture(scope="module")
def streams():
    plain = Execution(acceleration="none")
    made = [crowd(seed) for seed in SEEDS] + [blobs(seed) for seed in SEEDS]
    made += [tails(seed) for seed in SEEDS_OF_TAILS]
    return [(stream, steps_of(stream, plain)) for stream in made]


def compare(streams, left_out):
    for seed, (stream, expected) in enumerate(streams):
        with forced(random.Random(seed), left_out):
            found = steps_of(stream, Execution(n_threads=1 + seed % 2))
        compare_ways(found, expected, f"in stream {seed} without {', '.join(left_out)}")


def test_clusters_are_opened_revived_and_emptied_in_late_passes(monkeypatch):
    events, n_passes = set(), [0]
    table, visit = assign_labels._ClusterTable, assign_labels.assign_labels

    def note(name):
        change = getattr(table, name)

        def changed(board, *arguments):
            events.add((n_passes[0], name))
            return change(board, *arguments)

        monkeypatch.setattr(table, name, changed)

    def counted(points, labels, *arguments):
        n_passes[0] = 0 if (labels < 0).all() else n_passes[0] + 1
        return visit(points, labels, *arguments)

    note("open_new")
    note("revive")
    monkeypatch.setattr(cluster, "assign_labels", counted)
    found = steps_of(crowd(3), Execution("reference"))
    compare_ways(found, steps_of(crowd(3), Execution(acceleration="none")), "of the specification")
    # The passes at which due dates may begin; a cluster is revived if it was emptied before.
    assert {(p, name) for p in (2, 3, 4, 5) for name in ("open_new", "revive")} <= events


@pytest.mark.parametrize("name", NAMES)
def test_each_acceleration_alone_gives_the_bits_of_none(name, streams):
    compare(streams, [other for other in NAMES if other not in (name, BASE)])


@pytest.mark.parametrize("name", NAMES)
def test_all_but_one_acceleration_give_the_bits_of_none(name, streams):
    compare(streams, [name])
