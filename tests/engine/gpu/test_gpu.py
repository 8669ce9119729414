"""On a GPU: the bits of compiled code, on data made to be awkward."""

import numpy as np
import pytest
from gpu_streams import GPU, NATIVE, REFERENCE, blobs, check_stream, predict_labels

from dynmeans.engine.batch import Batch, prepare_batch
from dynmeans.engine.execution import Execution
from dynmeans.engine.step import step_batch
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("seed", range(60))
def test_small_streams_of_ties_and_duplicates_agree_with_the_specification(seed):
    rng = np.random.default_rng(seed)
    d, grain = int(rng.integers(1, 12)), float(rng.choice([1.0, 0.5, 1e-3]))
    far, wide = float(rng.choice([0.0, 1e6])), int(rng.choice([2, 4, 8]))
    batches = []
    for _ in range(4):
        n = int(rng.integers(1, 60))
        points = rng.integers(-wide, wide + 1, (n, d)) * grain + far
        if rng.random() < 0.3:
            points = points + rng.normal(0, 0.3 * grain, (n, d))
        if rng.random() < 0.3:
            points = points.astype(np.float32)
        weights = rng.choice([0.0, 0.25, 1.0, 3.0], n) if rng.random() < 0.4 else None
        batches.append(Batch(points, weights))
    penalty = float(rng.choice([1.0, 4.0, 9.0])) * grain**2
    penalties = Penalties(
        penalty,
        revival_penalty=float(rng.choice([0.0, 0.1, 0.2])) * penalty,
        drift=float(rng.choice([0.0, 0.5, 2.0])),
        revival=str(rng.choice(["paper", "exact"])),
    )

    def orders_of(batch):
        if seed % 3 == 0:
            return np.array([rng.permutation(batch.n_points) for _ in range(2)])
        return VisitingOrders(seed, 2)

    check_stream(batches, penalties, orders_of, REFERENCE)


SHAPES = [
    (30_000, 1, 60),
    (30_000, 2, 60),
    (30_000, 3, 60),
    (20_000, 5, 60),
    (20_000, 8, 100),
    (20_000, 16, 60),
    (20_000, 33, 60),
    (20_000, 64, 80),
    (9_000, 130, 50),
    (5_000, 400, 40),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("is_given", [False, True])
def test_every_shape_agrees_with_compiled_code(shape, dtype, is_given):
    (n, d, n_blobs), rng = shape, np.random.default_rng(int(is_given))
    noise = 0.15 if d < 16 else 0.05
    whole = blobs(rng, 3 * n, d, n_blobs, noise=noise).astype(dtype)
    weights = rng.choice([0.0, 0.5, 1.0, 2.5], n)
    batches = [Batch(whole[:n]), Batch(whole[n : 2 * n], weights), Batch(whole[2 * n :])]
    penalties = Penalties(0.9 * (noise / 0.15) ** 2 * d, max_gap=5, reach=1.3)

    def orders_of(batch):
        if is_given:
            return np.array([rng.permutation(batch.n_points)])
        return VisitingOrders(5, 2)

    state = check_stream(batches, penalties, orders_of)
    found = predict_labels(batches[0], state, penalties, GPU)
    expected = predict_labels(batches[0], state, penalties, NATIVE)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


CROWDS = [(40_000, 2, 0.15), (40_000, 2, 0.4), (40_000, 2, 1.0), (20_000, 3, 1.0)]
CROWDS += [(8_000, 64, 90.0), (8_000, 64, 110.0), (8_000, 64, 130.0), (8_000, 12, 12.0)]


@pytest.mark.parametrize("crowd", CROWDS, ids=str)
def test_crowds_without_structure_agree(crowd):
    (n, d, penalty), rng = crowd, np.random.default_rng(11)
    batches = [Batch(rng.normal(size=(n, d))) for _ in range(3)]
    penalties = Penalties(penalty, max_gap=3, reach=1.1)
    check_stream(batches, penalties, lambda batch: VisitingOrders(9, 1))


@pytest.mark.parametrize("d", [2, 32, 200])
def test_rows_halfway_between_centers_and_beside_lambda_agree(d):
    rng = np.random.default_rng(d)
    centers = rng.integers(-40, 41, (64, d)).astype(float)
    a, b = centers[rng.integers(0, 64, 20_000)], centers[rng.integers(0, 64, 20_000)]
    tiny = rng.choice([0.0, 1e-15, -1e-15, 1e-9, -1e-9, 1e-4, -1e-4], (20_000, 1))
    halfway = (a + b) / 2 + tiny * (b - a)
    batches = [Batch(np.vstack([np.repeat(centers, 20, axis=0), halfway]))]
    penalties = Penalties(float(((a - b) ** 2).sum(axis=1).mean() / 4), max_gap=5, reach=1.1)
    check_stream(batches * 2, penalties, lambda batch: VisitingOrders(1, 1))


@pytest.mark.parametrize("scale", [1e-320, 1e-160, 1e-30, 1e30, 1e90])
@pytest.mark.parametrize("d", [1, 2, 3, 6, 40])
def test_tiny_and_huge_coordinates_agree(scale, d):
    rng = np.random.default_rng(3)
    points = blobs(rng, 3_000, d, 40) * scale
    penalty = max(float(scale) ** 2 * d * 0.5, 5e-324)
    penalties = Penalties(penalty, revival_penalty=0.0, drift=0.5)
    batches = [Batch(points), Batch(points[::-1].copy())]
    check_stream(batches, penalties, lambda batch: VisitingOrders(1, 1))


def test_far_off_data_agree():
    rng = np.random.default_rng(4)
    for d, far in ((2, 1e9), (3, 1e12), (24, 1e7)):
        batches = [Batch(blobs(rng, 9_000, d, 50) + far)]
        penalties = Penalties(0.4 * d, max_gap=5, reach=1.1)
        check_stream(batches * 2, penalties, lambda batch: VisitingOrders(1, 1))


@pytest.mark.filterwarnings("ignore::dynmeans.engine.guard.ClusterGrowthWarning")
def test_one_place_alone_and_every_row_alone_agree():
    rng = np.random.default_rng(5)
    penalties = Penalties(1e-6, max_gap=5, reach=1.1)
    same, apart = np.full((20_000, 2), 0.1), rng.uniform(size=(20_000, 2))
    for points in (same, apart):
        check_stream([Batch(points)], penalties, lambda batch: VisitingOrders(1, 1))


def test_an_empty_batch_and_one_without_weight_let_time_pass():
    penalties = Penalties(1.0, max_gap=5, reach=1.1)
    full = Batch(np.array([[0.0], [3.0]]))
    batches = [full, Batch(np.empty((0, 1))), Batch(np.array([[0.1]]), np.zeros(1)), full]
    check_stream(batches, penalties, lambda batch: VisitingOrders(1, 1))


def test_arrays_of_cupy_torch_and_jax_are_clustered_where_they_lie():
    cp = pytest.importorskip("cupy")
    rng = np.random.default_rng(6)
    points, penalties = blobs(rng, 20_000, 4, 30), Penalties(0.8, max_gap=5, reach=1.1)
    start, orders = ClusterState.empty(4), VisitingOrders(2)
    _, expected = step_batch(Batch(points), start, penalties, orders, 1.0, NATIVE)
    there = cp.asarray(points)
    arrays = [there]
    torch = pytest.importorskip("torch")
    arrays.append(torch.as_tensor(there, device="cuda"))
    for array in arrays:
        batch = prepare_batch(array)
        assert batch.points.data.ptr == there.data.ptr
        _, found = step_batch(batch, start, penalties, orders, 1.0, NATIVE)
        assert type(found.labels) is type(array)
        np.testing.assert_array_equal(cp.asnumpy(cp.asarray(found.labels)), expected.labels)


def test_arrays_of_jax_give_labels_of_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(7)
    points, penalties = blobs(rng, 9_000, 2, 30), Penalties(0.8, max_gap=5, reach=1.1)
    start, orders = ClusterState.empty(2), VisitingOrders(2)
    _, expected = step_batch(Batch(points), start, penalties, orders, 1.0, NATIVE)
    batch = prepare_batch(jax.numpy.asarray(points))
    _, found = step_batch(batch, start, penalties, orders, 1.0, NATIVE)
    assert isinstance(found.labels, jax.Array)
    np.testing.assert_array_equal(np.asarray(found.labels), expected.labels)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bad_rows_on_a_device_are_refused(bad, dtype):
    cp = pytest.importorskip("cupy")
    points = cp.zeros((4, 2), dtype)
    points[2, 1] = bad
    with pytest.raises(ValueError, match="points must be finite"):
        prepare_batch(points)


@pytest.mark.parametrize("d", [2, 9, 24, 200])
def test_rows_that_do_not_fit_on_the_card_cross_in_blocks(d, monkeypatch):
    transfer = pytest.importorskip("dynmeans.engine.gpu.transfer")
    monkeypatch.setattr(transfer, "fits", lambda array: False)
    monkeypatch.setattr(transfer, "_BLOCK", 7_777 * 8 * d)
    rng = np.random.default_rng(9)
    batches = [Batch(blobs(rng, 30_000, d, 40)) for _ in range(2)]
    batches.append(Batch(batches[0].points, rng.choice([0.0, 0.5, 2.0], 30_000)))
    penalties = Penalties(0.4 * d, max_gap=5, reach=1.1)
    check_stream(batches, penalties, lambda batch: VisitingOrders(3, 1))


@pytest.mark.parametrize("d", [2, 9, 20])
def test_clusters_in_steady_motion_agree(d):
    rng = np.random.default_rng(10)
    start, speed = rng.uniform(-9, 9, (40, d)), rng.normal(0, 0.3, (40, d))
    which = rng.integers(0, 40, (5, 8_000))
    batches = [
        Batch((start + t * speed)[which[t]] + 0.1 * rng.normal(size=(8_000, d))) for t in range(5)
    ]
    penalties = Penalties(0.5 * d, max_gap=4, reach=1.5, motion="constant_velocity")
    check_stream(batches, penalties, lambda batch: VisitingOrders(3, 1))


@pytest.mark.parametrize(("n", "chosen"), [(1_000, "native"), (500_000, "gpu")])
def test_auto_takes_the_gpu_for_large_batches_and_says_so(n, chosen):
    batch = Batch(np.random.default_rng(2).normal(size=(n, 2)))
    penalties, orders = Penalties(4.0, max_gap=5, reach=1.1), VisitingOrders(1)
    start = ClusterState.empty(2)
    _, found = step_batch(batch, start, penalties, orders, 1.0, Execution("auto"))
    assert found.execution == chosen


def test_a_large_batch_agrees():
    rng = np.random.default_rng(8)
    for n, d, n_blobs, penalty in ((3_000_000, 2, 500, 0.5), (400_000, 64, 300, 4.0)):
        batch = Batch(blobs(rng, n, d, n_blobs, noise=0.15))
        penalties = Penalties(penalty, max_gap=5, reach=1.1)
        check_stream([batch, batch], penalties, lambda batch: VisitingOrders(3, 1))


DEEP = [(30_000, 1, 60, 9.0), (30_000, 2, 60, 4.0), (20_000, 5, 60, 4.0), (9_000, 40, 30, 6.0)]


@pytest.mark.parametrize("search", ["split", "deep"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", DEEP, ids=str)
def test_the_deeper_search_agrees_with_compiled_code(shape, dtype, search):
    """lambda is too large for these clouds: Algorithm 2 leaves several under one center."""
    (n, d, n_blobs, factor), rng = shape, np.random.default_rng(shape[1])
    whole = blobs(rng, 3 * n, d, n_blobs).astype(dtype)
    weights = rng.choice([0.0, 0.5, 1.0, 2.5], n)
    batches = [Batch(whole[:n]), Batch(whole[n : 2 * n], weights), Batch(whole[2 * n :])]
    for motion in ("random_walk", "constant_velocity"):
        penalties = Penalties(factor * 0.9 * d, max_gap=5, reach=1.3, motion=motion)
        check_stream(batches, penalties, lambda batch: VisitingOrders(5, 2, search=search))


def test_the_deeper_search_of_a_large_batch_agrees():
    rng = np.random.default_rng(8)
    batch = Batch(blobs(rng, 3_000_000, 2, 500))
    penalties = Penalties(4.0, max_gap=5, reach=1.1)
    orders = VisitingOrders(3, 1, search="deep")
    check_stream([batch, batch], penalties, lambda batch: orders)
