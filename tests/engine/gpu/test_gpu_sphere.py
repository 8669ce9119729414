"""On the unit sphere a GPU gives the bits of compiled code."""

import numpy as np
import pytest
from gpu_streams import GPU, NATIVE, REFERENCE, check_stream, predict_labels

from dynmeans import step
from dynmeans.engine.batch import Batch
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState
from dynmeans.spaces.cosine import unit_rows

pytestmark = pytest.mark.gpu


def topics(rng, n, d, n_topics, spread=0.5, dtype=np.float64):
    centers = np.random.default_rng(0).normal(size=(n_topics, d))
    rows = centers[rng.integers(n_topics, size=n)] + spread * rng.normal(size=(n, d))
    return unit_rows(rows.astype(dtype))


@pytest.mark.parametrize("seed", range(60))
def test_small_streams_on_the_sphere_agree_with_the_specification(seed):
    rng = np.random.default_rng(seed)
    d, dtype = int(rng.integers(1, 20)), rng.choice([np.float64, np.float32])
    batches = []
    for _ in range(4):
        points = topics(rng, int(rng.integers(4, 60)), d, 6, float(rng.choice([0.1, 1.0])))
        points[3] = -points[2]
        weights = rng.choice([0.0, 0.25, 1.0, 3.0], len(points)) if rng.random() < 0.4 else None
        batches.append(Batch(points.astype(dtype), weights))
    penalties = Penalties(
        2.0 * (1.0 - rng.uniform(-0.2, 0.95)),
        max_gap=float(rng.choice([1.5, 4.0, 6.8])),
        reach=float(rng.choice([1.0, 1.05, 1.5])),
        revival=str(rng.choice(["paper", "exact"])),
    ).with_centers("sphere")

    def orders_of(batch):
        if seed % 3 == 0:
            return np.array([rng.permutation(batch.n_points) for _ in range(2)])
        return VisitingOrders(seed, 2)

    check_stream(batches, penalties, orders_of, REFERENCE)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(30_000, 2), (20_000, 8), (20_000, 64), (6_000, 384)], ids=str)
def test_every_shape_on_the_sphere_agrees_with_compiled_code(shape, dtype):
    (n, d), rng = shape, np.random.default_rng(1)
    batches = [Batch(topics(rng, n, d, 60, dtype=dtype)) for _ in range(3)]
    batches[1] = Batch(batches[1].points, rng.choice([0.0, 0.5, 1.0, 2.5], n))
    penalties = Penalties(0.9, max_gap=5, reach=1.05).with_centers("sphere")
    state = check_stream(batches, penalties, lambda batch: VisitingOrders(5, 2))
    found = predict_labels(batches[0], state, penalties, GPU)
    expected = predict_labels(batches[0], state, penalties, NATIVE)
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_rows_on_a_card_give_the_bits_of_rows_in_memory_on_the_sphere():
    cp = pytest.importorskip("cupy")
    rows = topics(np.random.default_rng(2), 5_000, 12, 9)
    penalties = Penalties(0.9, max_gap=5, reach=1.05).with_centers("sphere")
    nothing, orders = ClusterState.empty(12), VisitingOrders(0)
    expected, clustering = step(rows, nothing, penalties, orders=orders)
    state, found = step(cp.asarray(rows), nothing, penalties, orders=orders)
    np.testing.assert_array_equal(cp.asnumpy(found.labels), clustering.labels)
    assert state == expected
