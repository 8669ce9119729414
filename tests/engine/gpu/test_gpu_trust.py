"""On a GPU where trust is lost first: threads, streams, odd values, the limits of a card."""

import gc
import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gpu_streams import GPU, NATIVE, blobs, check_stream, predict_labels

from dynmeans import DynamicMeans
from dynmeans.engine.batch import Batch, prepare_batch
from dynmeans.engine.execution import Execution
from dynmeans.engine.step import step_batch
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

pytestmark = pytest.mark.gpu
PENALTIES = Penalties(400.0, max_gap=5, reach=1.2)
ROWS = VisitingOrders(1)


def _model(**options):
    return DynamicMeans(new_penalty=400.0, max_gap=5, reach=1.2, random_state=0, **options)


def _large(seed, n):
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 100, (n, 2)) if n < 10**7 else 100 * rng.random((n, 2))


def test_three_threads_with_320_mb_each_get_their_own_labels():
    batches = [_large(seed, 20_000_000) for seed in range(3)]
    model = _model().partial_fit(batches[0][:100_000])
    state, penalties = model.state_, PENALTIES
    alone = [predict_labels(rows, state, penalties, GPU) for rows in batches]
    expected = predict_labels(batches[1], state, penalties, NATIVE)
    np.testing.assert_array_equal(alone[1][0], expected[0])
    start = ClusterState.empty(2)
    fitted = [step_batch(Batch(rows), start, penalties, ROWS, 1.0, GPU) for rows in batches]

    def both(rows):
        found = predict_labels(rows, state, penalties, GPU)
        return found, step_batch(Batch(rows), start, penalties, ROWS, 1.0, GPU)

    with ThreadPoolExecutor(3) as pool:
        for _ in range(3):
            for k, (found, stepped) in enumerate(pool.map(both, batches)):
                np.testing.assert_array_equal(found[0], alone[k][0])
                np.testing.assert_array_equal(found[1], alone[k][1])
                np.testing.assert_array_equal(stepped[1].labels, fitted[k][1].labels)
                assert stepped[0] == fitted[k][0]


_SLOW = r"""
extern "C" __global__ void slow(double* junk, long long n) {
    const long long start = clock64();
    while (clock64() - start < 200000000) {}
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        junk[i] = 1e9;
}
"""


def _leave_pending(shape, n=1):
    """Free memory of the pool that a slow kernel has still to write to."""
    cp = pytest.importorskip("cupy")
    kernel = cp.RawKernel(_SLOW, "slow")
    for _ in range(n):
        junk = cp.zeros(shape)
        kernel((64,), (256,), (junk, np.int64(junk.size)))
        del junk


def test_rows_wait_for_what_still_writes_to_their_memory():
    rows = _large(7, 4_000_000)
    model = _model(max_clusters=1000, backend="gpu").partial_fit(rows)
    labels, fitted = model.predict(rows), model.labels_
    for _ in range(5):
        _leave_pending(rows.shape)
        np.testing.assert_array_equal(model.predict(rows), labels)
        _leave_pending(rows.shape)
        again = _model(max_clusters=1000, backend="gpu").partial_fit(rows)
        np.testing.assert_array_equal(again.labels_, fitted)


def test_large_rows_in_memory_cross_once_and_are_checked_on_the_card(monkeypatch):
    transfer = pytest.importorskip("dynmeans.engine.gpu.transfer")
    crossed, real = [], transfer.to_device
    monkeypatch.setattr(
        transfer, "to_device", lambda rows: (crossed.append(rows.shape), real(rows))[1]
    )
    rows = _large(9, 4_000_000)
    model = _model(backend="gpu").partial_fit(rows)
    assert crossed == [rows.shape]
    before, rows[1_234_567, 1] = model.memory_, np.nan
    with pytest.raises(ValueError, match=r"X must be finite .* got NaN"):
        model.partial_fit(rows)
    assert model.memory_ is before


def test_blocks_wait_for_what_still_writes_to_their_room(monkeypatch):
    transfer = pytest.importorskip("dynmeans.engine.gpu.transfer")
    monkeypatch.setattr(transfer, "fits", lambda array: False)
    monkeypatch.setattr(transfer, "_BLOCK", 2**24)
    rows = _large(8, 4_000_000)
    expected = step_batch(Batch(rows), ClusterState.empty(2), PENALTIES, ROWS, 1.0, NATIVE)
    for _ in range(3):
        _leave_pending((2**20, 2), n=2)
        found = step_batch(Batch(rows), ClusterState.empty(2), PENALTIES, ROWS, 1.0, GPU)
        np.testing.assert_array_equal(found[1].labels, expected[1].labels)


def test_floats_below_the_normal_ones_are_not_taken_for_zero():
    points = np.array([[1e-39], [9e-39]], np.float32)
    penalties = Penalties(1e-80, max_gap=5, reach=1.2)
    check_stream([Batch(points)], penalties, lambda batch: np.array([[0, 1]]))


@pytest.mark.parametrize("scale", [1e-44, 1e-40, 1e-38, 1e-20, 1e-17, 1e18, 1e30])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 40, 200])
def test_floats_of_any_magnitude_agree(scale, d):
    rng = np.random.default_rng(d)
    points = (blobs(rng, 3_000, d, 40) * scale).astype(np.float32)
    weights = (rng.choice([0.0, 1e-42, 1.0], 3_000)).astype(np.float32).astype(float)
    penalties = Penalties(float(scale) ** 2 * d * 0.5, max_gap=5, reach=1.2)
    batches = [Batch(points), Batch(points[::-1].copy(), weights)]
    check_stream(batches, penalties, lambda batch: VisitingOrders(1, 1))


@pytest.mark.parametrize("d", [4, 9, 24, 70, 200])
@pytest.mark.parametrize("scale", [1e19, 1e25, 1e37, 1e42, 1e80, 1e98])
def test_coordinates_of_1e42_and_more_agree(d, scale):
    rng = np.random.default_rng(d)
    points = rng.normal(size=(6_000, d)) * np.where(rng.random(6_000) < 0.5, scale, 1.0)[:, None]
    batches = [Batch(points), Batch(points * 1.5), Batch(rng.permutation(points))]
    penalties = Penalties(1.1 * d * scale**2, max_gap=5, reach=1.2)
    check_stream(batches, penalties, lambda batch: VisitingOrders(1, 2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 6, 32])
def test_views_that_begin_anywhere_are_taken(d, dtype):
    cp = pytest.importorskip("cupy")
    rows = blobs(np.random.default_rng(d), 20_000, d, 30).astype(dtype)
    there = cp.empty(rows.size + 1, dtype)[1:].reshape(rows.shape)
    there[...] = cp.asarray(rows)
    weights = cp.ones(20_001, np.float32)[1:]
    penalties, start = Penalties(0.4 * d, max_gap=5, reach=1.2), ClusterState.empty(d)
    expected = step_batch(Batch(rows, np.ones(20_000)), start, penalties, ROWS, 1.0, NATIVE)
    found = step_batch(prepare_batch(there, weights), start, penalties, ROWS, 1.0, GPU)
    np.testing.assert_array_equal(cp.asnumpy(found[1].labels), expected[1].labels)
    assert found[0] == expected[0]


@pytest.mark.parametrize("d", [7_264, 7_300, 30_001])
def test_any_number_of_features_agrees(d):
    rng = np.random.default_rng(3)
    points = rng.normal(size=(3, d))[rng.integers(0, 3, 200)] + 0.01 * rng.normal(size=(200, d))
    penalties = Penalties(0.3 * d, max_gap=5, reach=1.2)
    state = check_stream([Batch(points)] * 2, penalties, lambda batch: ROWS)
    found, expected = (predict_labels(points, state, penalties, way) for way in (GPU, NATIVE))
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.fixture
def in_blocks(monkeypatch):
    transfer = pytest.importorskip("dynmeans.engine.gpu.transfer")
    monkeypatch.setattr(transfer, "fits", lambda array: False)
    monkeypatch.setattr(transfer, "_BLOCK", 2**20)
    return transfer


def _mapped(rows, folder):
    np.save(folder / "rows.npy", rows)
    return np.load(folder / "rows.npy", mmap_mode="r")


def _pinned(rows, folder):
    cp = pytest.importorskip("cupy")
    memory = cp.cuda.alloc_pinned_memory(rows.nbytes)
    there = np.frombuffer(memory, rows.dtype, rows.size).reshape(rows.shape)
    there[...] = rows
    return there


def _shifted(rows, folder):
    there = np.empty(rows.size + 1)[1:].reshape(rows.shape)
    there[...] = rows
    return there


@pytest.mark.parametrize("place", [_mapped, _pinned, _shifted], ids=lambda way: way.__name__[1:])
@pytest.mark.parametrize("d", [2, 24])
def test_rows_that_are_mapped_or_pinned_already_cross_in_blocks(in_blocks, tmp_path, place, d):
    rows = blobs(np.random.default_rng(5), 30_000, d, 40)
    penalties = Penalties(0.4 * d, max_gap=5, reach=1.1)
    batch = Batch(place(rows, tmp_path))
    check_stream([batch, batch], penalties, lambda batch: ROWS)


def test_rows_are_released_when_the_card_runs_out_of_memory(in_blocks, monkeypatch):
    rows = blobs(np.random.default_rng(5), 30_000, 2, 40)
    start, blocks = ClusterState.empty(2), in_blocks.Blocks

    def full(*arguments):
        raise MemoryError("full")

    monkeypatch.setattr(in_blocks, "Blocks", full)
    with pytest.raises(MemoryError):
        step_batch(Batch(rows), start, PENALTIES, ROWS, 1.0, GPU)
    monkeypatch.setattr(in_blocks, "Blocks", blocks)
    cp = pytest.importorskip("cupy")
    cp.cuda.runtime.hostRegister(rows.ctypes.data, rows.nbytes, 0)  # refused if it still were
    cp.cuda.runtime.hostUnregister(rows.ctypes.data)


@pytest.mark.parametrize("shape", [(3_000_000, 2, 400), (300_000, 64, 300), (200_000, 200, 100)])
@pytest.mark.parametrize("elapsed", [0.0, 1.0])
def test_predictions_of_many_rows_go_by_parts_and_agree(shape, elapsed, monkeypatch):
    predict = pytest.importorskip("dynmeans.engine.gpu.predict")
    monkeypatch.setattr(predict, "_PART", 2**26)
    (n, d, k), rng = shape, np.random.default_rng(2)
    rows, penalties = blobs(rng, n, d, k, noise=0.3), Penalties(0.2 * d, max_gap=5, reach=1.2)
    first, later = Batch(rows[: n // 20]), Batch(rows[: n // 40])
    state, _ = step_batch(first, ClusterState.empty(d), penalties, ROWS, 1.0, NATIVE)
    state, _ = step_batch(later, state, penalties, ROWS, 1.0, NATIVE)
    found = predict_labels(rows, state, penalties, GPU, elapsed=elapsed)
    expected = predict_labels(rows, state, penalties, NATIVE, elapsed=elapsed)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_rows_in_doubt_are_looked_at_in_portions(monkeypatch):
    search = pytest.importorskip("dynmeans.engine.gpu.search")
    monkeypatch.setattr(search, "_DOUBTFUL", 1_000)
    monkeypatch.setattr(search, "_PAIRS", 1)
    rng = np.random.default_rng(4)
    centers = rng.integers(-40, 41, (64, 32)).astype(float)
    a, b = centers[rng.integers(0, 64, 20_000)], centers[rng.integers(0, 64, 20_000)]
    batch = Batch(np.vstack([np.repeat(centers, 20, axis=0), (a + b) / 2]))
    penalties = Penalties(float(((a - b) ** 2).sum(axis=1).mean() / 4), max_gap=5, reach=1.1)
    check_stream([batch] * 2, penalties, lambda batch: ROWS)


@pytest.fixture
def small_pool():
    """Let CuPy take no more than what is in use and some bytes."""
    cp = pytest.importorskip("cupy")
    pool = cp.get_default_memory_pool()

    def limit(n_bytes):
        pool.free_all_blocks()
        pool.set_limit(size=pool.used_bytes() + n_bytes)

    yield limit
    pool.set_limit(size=0)


def test_the_check_of_rows_copies_none(small_pool):
    cp = pytest.importorskip("cupy")
    rows = cp.ones((20_000_000, 2))
    small_pool(2**20)
    assert prepare_batch(rows).n_points == 20_000_000


def test_auto_goes_back_to_compiled_code_on_a_full_card(small_pool):
    rows = _large(3, 2_000_000)
    start, auto = ClusterState.empty(2), Execution("auto")
    state, found = step_batch(Batch(rows), start, PENALTIES, ROWS, 1.0, auto)
    assert found.execution == "gpu"
    small_pool(2**20)
    again, found_again = step_batch(Batch(rows), start, PENALTIES, ROWS, 1.0, auto)
    assert found_again.execution == "native"
    assert again == state
    labels = predict_labels(rows, state, PENALTIES, auto)[0]
    small_pool(2**34)
    np.testing.assert_array_equal(predict_labels(rows, state, PENALTIES, auto)[0], labels)


def _in_child(rows, results):
    start = ClusterState.empty(2)
    auto = step_batch(Batch(rows), start, PENALTIES, ROWS, 1.0, Execution("auto", n_threads=1))
    try:
        step_batch(Batch(rows), start, PENALTIES, ROWS, 1.0, GPU)
    except RuntimeError as error:
        results.put((auto[1].execution, str(error)))


@pytest.mark.filterwarnings("ignore:.*fork.*")  # also where other tests imported JAX
def test_a_forked_process_goes_back_to_compiled_code_and_says_why_it_cannot_use_the_card():
    rows = _large(3, 600_000)
    step_batch(Batch(rows), ClusterState.empty(2), PENALTIES, ROWS, 1.0, Execution("auto"))
    step_batch(Batch(rows), ClusterState.empty(2), PENALTIES, ROWS, 1.0, GPU)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_in_child, args=(rows, results))
    child.start()
    execution, told = results.get(timeout=100)
    child.join()
    assert execution == "native"
    assert "cannot be used in a process forked" in told


def test_a_step_leaves_no_memory_behind_without_the_collector():
    cp = pytest.importorskip("cupy")
    pool = cp.get_default_memory_pool()
    batch = Batch(blobs(np.random.default_rng(1), 200_000, 8, 40))
    arguments = (ClusterState.empty(8), Penalties(2.0, max_gap=5, reach=1.2), ROWS, 1.0, GPU)
    step_batch(batch, *arguments)
    gc.collect()
    gc.disable()
    try:
        before = pool.used_bytes()
        step_batch(batch, *arguments)
        assert pool.used_bytes() == before
    finally:
        gc.enable()


def test_complex_weights_and_rows_are_refused():
    cp = pytest.importorskip("cupy")
    with pytest.raises(TypeError, match="sample_weight must be real numbers, got complex"):
        prepare_batch(cp.zeros((4, 2)), cp.ones(4, complex))
    with pytest.raises(TypeError, match="points must be real numbers, got complex"):
        prepare_batch(cp.zeros((4, 2), complex))


def test_labels_on_a_card_have_families_and_are_confirmed():
    cp = pytest.importorskip("cupy")
    rows = blobs(np.random.default_rng(1), 5_000, 2, 10)
    options = {"new_penalty": 0.8, "max_gap": 5, "reach": 1.2, "random_state": 0, "families": True}
    there, here = DynamicMeans(**options), DynamicMeans(**options)
    for _ in range(2):
        there.partial_fit(cp.asarray(rows))
        here.partial_fit(rows)
    assert isinstance(there.labels_, cp.ndarray)
    np.testing.assert_array_equal(there.family_labels_, here.family_labels_)
    np.testing.assert_array_equal(there.confirmed_labels_, here.confirmed_labels_)
    np.testing.assert_allclose(cp.asnumpy(there.transform(cp.asarray(rows))), here.transform(rows))
