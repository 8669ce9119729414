"""Leaving out comparisons, filtering, threads: not one bit may change."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from dynmeans import ClusterState, Penalties, step
from dynmeans.engine import blas, native
from dynmeans.engine.batch import Batch
from dynmeans.engine.execution import Execution, choose_n_threads

N_STREAMS, N_STREAMS_SLOW = 60, 1200
# One batch in which due dates once gave other labels than the plain way.
DIFFERED = Path(__file__).parents[3] / "shared" / "prototype" / "gpu" / "deep_differs.npz"


def random_penalties(rng, scale):
    new_penalty = float(scale * rng.choice([0.01, 0.05, 0.3, 1, 3, 10]))
    if rng.random() < 0.5:
        reach = float(rng.choice([1, 1.01, 1.5, 3]))
        return Penalties(new_penalty, max_gap=float(rng.uniform(1.1, 8)), reach=reach)
    # Cheap revival: clusters are revived by one point and empty again within the pass.
    share, drift = float(rng.choice([0, 0.02, 0.1, 0.5, 1.2])), float(rng.choice([0, 0.5, 2]))
    return Penalties(new_penalty, revival_penalty=share * new_penalty, drift=drift)


def random_stream(rng):
    """Blobs that move, on a grid or not, far off or not, float32 or not, weighted or not."""
    d = int(rng.choice([1, 2, 2, 3, 4, 5, 8, 16, 20, 64, 130, 400]))
    n = int(rng.choice([5, 75, 256, 600] if d > 100 else [5, 20, 75, 200, 256, 300, 700, 2000]))
    scale = float(rng.choice([1, 1e-3, 50]))
    penalties = random_penalties(rng, d * scale**2)
    centers = rng.normal(size=(int(rng.integers(1, 200)), d)) * rng.choice([1, 3])
    is_gridded, is_single = rng.random() < 0.3, rng.random() < 0.2
    far_off, is_weighted = rng.choice([0, 0, 1e6]), rng.random() < 0.3
    batches = []
    for _ in range(int(rng.integers(1, 4))):
        centers = centers + 0.3 * rng.normal(size=centers.shape) * rng.choice([0.1, 1, 3])
        spread = rng.choice([0.05, 0.3, 1])
        X = centers[rng.integers(len(centers), size=n)] + spread * rng.normal(size=(n, d))
        X = far_off + scale * (np.round(2 * X) if is_gridded else X)
        weights = rng.choice([0, 0.5, 1, 2.0], size=n) if is_weighted else None
        orders = np.array([rng.permutation(n) for _ in range(int(rng.integers(1, 3)))])
        batches.append((X.astype(np.float32) if is_single else X, weights, orders))
    return penalties, batches


def run(penalties, batches, revival, **way):
    state, results = ClusterState.empty(batches[0][0].shape[1]), []
    for X, weights, orders in batches:
        batch, execution = Batch(X, weights), Execution(**way)
        ruled = penalties.with_revival(revival)
        state, found = native.step(batch, state, ruled, orders, 1.0, execution)
        results.append((state, found))
    return results


def assert_same_bits(found, expected):
    for (state, clustering), (state_0, clustering_0) in zip(found, expected, strict=True):
        assert state == state_0
        for name in ("labels", "ids", "counts", "centers", "cost_trace"):
            np.testing.assert_array_equal(getattr(clustering, name), getattr(clustering_0, name))


def check_stream(seed):
    rng = np.random.default_rng(seed)
    penalties, batches = random_stream(rng)
    revival, n_threads = str(rng.choice(["paper", "exact"])), int(rng.choice([1, 2, 5]))
    widened = [(X.astype(np.float64), weights, orders) for X, weights, orders in batches]
    plain = run(penalties, widened, revival, acceleration="none", n_threads=1)
    assert_same_bits(run(penalties, batches, revival, n_threads=n_threads), plain)


@pytest.fixture(params=["own costs", "due dates", "due dates after two passes"])
def later_passes(request):
    """Late passes of any batch by own costs, or of small ones with few features by due dates."""
    has_dates = request.param != "own costs"
    n_passes = 1 if request.param == "due dates" else 2
    before = native.compiled.date_from(0 if has_dates else 2**40, n_passes)
    native.compiled.leave_out(["small_table"] if has_dates else [])
    yield request.param
    native.compiled.leave_out([])
    native.compiled.date_from(*before)


@pytest.mark.parametrize("seed", range(N_STREAMS))
def test_accelerated_equals_plain_to_the_bit(seed, later_passes):
    check_stream(seed)


@pytest.mark.parametrize("elapsed", [0.0, 1.5])
@pytest.mark.parametrize("seed", range(20))
def test_prediction_by_the_search_of_a_pass_equals_plain(seed, elapsed):
    rng = np.random.default_rng(seed)
    penalties, batches = random_stream(rng)
    state = run(penalties, batches, "paper")[-1][0]
    X = np.concatenate([X for X, _, _ in batches])
    X = np.concatenate([X, X + X.std() * rng.normal(size=X.shape).astype(X.dtype)])
    X = X[rng.integers(len(X), size=1500)]
    rule = (X, state, penalties, elapsed)
    found = native.predict_labels(*rule, Execution(n_threads=2))
    plain = native.predict_labels(*rule, Execution(acceleration="none"))
    np.testing.assert_array_equal(found[0], plain[0])
    np.testing.assert_array_equal(found[1], plain[1])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(N_STREAMS, N_STREAMS_SLOW))
def test_accelerated_equals_plain_to_the_bit_on_many_streams(seed, later_passes):
    check_stream(seed)


@pytest.mark.parametrize("acceleration", native.compiled.acceleration_names())
def test_any_acceleration_left_out_changes_no_bit(acceleration):
    streams = [random_stream(np.random.default_rng(seed)) for seed in range(12)]
    expected = [run(*stream, "paper", n_threads=2) for stream in streams]
    native.compiled.leave_out([acceleration])
    try:
        for stream, before in zip(streams, expected, strict=True):
            assert_same_bits(run(*stream, "paper", n_threads=2), before)
    finally:
        native.compiled.leave_out([])


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_first_pass_that_goes_on_in_the_order_of_memory_equals_plain(d):
    """At its own size; outliers open clusters until the end, in both steps."""
    rng = np.random.default_rng(d)
    centers, n = 5 * rng.normal(size=(12, d)), 45_000
    penalties = Penalties(0.5, max_gap=4.0, reach=1.2)
    batches = []
    for _ in range(2):
        X = centers[rng.integers(12, size=n)] + 0.1 * rng.normal(size=(n, d))
        X[rng.integers(n, size=40)] += 2 * rng.normal(size=(40, d))
        weights = rng.choice([0, 1, 2.0], size=n) if d == 3 else None
        batches.append((X, weights, rng.permutation(n)[None, :]))
    plain = run(penalties, batches, "paper", acceleration="none")
    assert_same_bits(run(penalties, batches, "paper", n_threads=2), plain)


# In late passes heavy points throw some centers far, while others hardly move.
@pytest.mark.parametrize("seed", range(12))
def test_weights_of_very_different_size_with_heavy_tails_equal_plain(seed, later_passes):
    rng = np.random.default_rng(seed)
    d, n = int(rng.choice([1, 2, 3, 5])), 3000
    centers, batches = 5.0 * rng.normal(size=(20, d)), []
    for _ in range(2):
        X = centers[rng.integers(20, size=n)] + rng.standard_t(2.0, size=(n, d))
        spread = 10.0 ** rng.uniform(-6.0, 6.0, n)
        weights = spread if seed % 3 == 0 else np.where(rng.random(n) < 0.1, 1e4, 1.0)
        batches.append((X, weights, rng.permutation(n)[None, :]))
    penalties = Penalties(float(rng.choice([12, 50, 200])), max_gap=3, reach=1.5)
    plain = run(penalties, batches, "paper", acceleration="none")
    assert_same_bits(run(penalties, batches, "paper", n_threads=2), plain)


@pytest.mark.parametrize("heavy", [1e3, 1e6])
def test_late_passes_at_their_own_size_equal_plain_whatever_the_weights(heavy):
    rng, n = np.random.default_rng(0), 60_000
    X = 10.0 * rng.random((60, 3))[rng.integers(60, size=n)] + rng.normal(size=(n, 3))
    batches = [(X, np.where(rng.random(n) < 0.5, heavy, 1.0), rng.permutation(n)[None, :])]
    penalties = Penalties(12.0, max_gap=3, reach=1.5)
    plain = run(penalties, batches, "paper", acceleration="none")
    assert_same_bits(run(penalties, batches, "paper", n_threads=2), plain)


@pytest.mark.parametrize("n_points", [40, 320], ids=["small", "medium"])
@pytest.mark.parametrize("seed", range(100))
def test_crowds_in_which_clusters_empty_and_revive_within_a_pass_equal_plain(
    seed, n_points, later_passes
):
    """Uniform points and cheap revival: most passes open, revive or empty some cluster."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 4)), int(rng.integers(n_points - 30, n_points + 30))
    new_penalty = float(rng.choice([0.001, 0.01, 0.03, 0.1, 0.3]))
    cheap = new_penalty * float(rng.choice([0, 0.001, 0.01, 0.05, 0.3]))
    penalties = Penalties(new_penalty, revival_penalty=cheap, drift=float(rng.choice([0, 0.5, 2])))
    batches = []
    for _ in range(6):
        X = rng.random((n, d)) * rng.choice([0.5, 1, 2])
        X = np.round(X, 1) if rng.random() < 0.3 else X
        batches.append((X, None, rng.permutation(n)[None, :]))
    plain = run(penalties, batches, "exact", acceleration="none")
    assert_same_bits(run(penalties, batches, "exact"), plain)


@pytest.mark.parametrize("d", [2, 3, 4, 8, 15])
@pytest.mark.parametrize("spread", [0.02, 0.4], ids=["clear", "vague"])
def test_hundreds_of_clusters_in_a_grid_or_a_tree_equal_plain(d, spread):
    rng = np.random.default_rng(d)
    centers, batches = rng.random((400, d)), []
    for _ in range(3):
        centers = centers + 0.01 * rng.normal(size=centers.shape)
        centers[:20] = rng.random((20, d))
        X = centers[rng.integers(400, size=4000)] + spread * rng.normal(size=(4000, d))
        batches.append((X, None, rng.permutation(4000)[None, :]))
    penalties = Penalties(float(0.003 * d), max_gap=2.5, reach=1.2)
    plain = run(penalties, batches, "paper", acceleration="none", n_threads=1)
    assert len(plain[-1][0].ids) > 120
    assert_same_bits(run(penalties, batches, "paper", n_threads=2), plain)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("seed", range(4))
def test_larger_batches_on_a_lattice_equal_plain(seed, d, later_passes):
    """Whole coordinates: points tie between clusters, and boxes cost what their centers cost."""
    rng = np.random.default_rng(seed)
    width = {1: 300, 2: 20, 3: 8, 4: 5, 6: 3}[d]
    cheap = float(rng.choice([0, 0.25, 0.5]))
    penalties = Penalties(1.0, revival_penalty=cheap, drift=float(rng.choice([0, 1])))
    batches = []
    for _ in range(3):
        X = rng.integers(0, width, size=(600, d)).astype(float)
        batches.append((X, None, np.array([rng.permutation(600) for _ in range(2)])))
    plain = run(penalties, batches, "exact", acceleration="none")
    assert_same_bits(run(penalties, batches, "exact"), plain)


# In these streams a cluster that was just revived or emptied ties with a point's own.
@pytest.mark.parametrize("seed", [264, 282, 284])
def test_tie_with_a_cluster_that_changed_within_a_pass_equals_plain(seed, later_passes):
    rng, batches = np.random.default_rng(seed), []
    for _ in range(4):
        X = rng.integers(0, 20, size=(300, 2)).astype(float)
        batches.append((X, None, np.array([rng.permutation(300) for _ in range(2)])))
    penalties = Penalties(2.0, revival_penalty=1.0, drift=1.0)
    plain = run(penalties, batches, "exact", acceleration="none")
    assert_same_bits(run(penalties, batches, "exact"), plain)


@pytest.mark.parametrize("n_groups", [60, 400], ids=["few", "too many"])
def test_second_pass_in_which_many_clusters_are_opened_equals_plain(n_groups, later_passes):
    """In each group the center moves away from one point, which then opens a cluster.

    Visited last, those points follow each other; beyond 48 events and one for eight clusters the
    rest of the pass is visited point by point.
    """
    rng = np.random.default_rng(n_groups)
    group = np.array([0.0, 0.9, 0.9, 0.9, 0.9, 0.9, -0.9])
    X = 10.0 * np.arange(n_groups)[:, None] + group + 0.01 * rng.random((n_groups, 7))
    first, middle, last = np.split(np.arange(X.size).reshape(n_groups, 7), [1, 6], axis=1)
    order = np.concatenate([rng.permutation(part.ravel()) for part in (first, middle, last)])
    batches = [(X.reshape(-1, 1), None, order[None, :])]
    penalties = Penalties(1.0, max_gap=3, reach=1.2)
    plain = run(penalties, batches, "paper", acceleration="none")
    assert len(plain[0][1].ids) == 2 * n_groups
    assert_same_bits(run(penalties, batches, "paper"), plain)


@pytest.mark.parametrize("new_penalty", [1e-323, 2.5e-323, 1e-321])
@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_coordinates_whose_squares_vanish_equal_plain(seed, d, new_penalty, later_passes):
    """Below 1e-280 squares have few digits left or none, and bounds made of them tell nothing."""
    rng, batches = np.random.default_rng(seed), []
    for _ in range(2):
        X = 6.6e-162 * rng.normal(size=(400, d))
        batches.append((X, None, rng.permutation(400)[None, :]))
    penalties = Penalties(new_penalty, revival_penalty=0.0, drift=1.0)
    plain = run(penalties, batches, "exact", acceleration="none")
    assert_same_bits(run(penalties, batches, "exact"), plain)


@pytest.mark.parametrize("d", [2, 16])
@pytest.mark.parametrize("seed", range(2))
def test_squares_near_underflow_are_those_of_the_specification(seed, d):
    """There a fused product rounds what the specification's halves do not."""
    rng, scale, n = np.random.default_rng(seed), 1e-156, 700
    centers, state = rng.normal(size=(5, d)), ClusterState.empty(d)
    X = scale * (centers[rng.integers(5, size=n)] + 0.1 * rng.normal(size=(n, d)))
    X[rng.random(X.shape) < 0.1] = 0.0
    new_penalty = 0.5 * d * scale**2
    penalties = Penalties(new_penalty, revival_penalty=0.1 * new_penalty, drift=0.5)
    orders = rng.permutation(n)[None, :]
    expected = step(X, state, penalties, orders=orders, backend="reference")
    assert_same_bits([step(X, state, penalties, orders=orders)], [expected])


def test_clusters_that_reach_too_far_for_a_grid_equal_plain():
    rng = np.random.default_rng(0)
    centers = 100 * rng.random((80, 3))
    X = np.repeat(centers, 5, axis=0) + 0.01 * rng.normal(size=(400, 3))
    batches = [(X + 3.0 * t, None, rng.permutation(400)[None, :]) for t in range(2)]
    penalties = Penalties(1.0, revival_penalty=0.0, drift=1000.0)
    plain = run(penalties, batches, "exact", acceleration="none")
    assert len(plain[1][0].ids) < 100  # found again, farther off than lambda
    assert_same_bits(run(penalties, batches, "exact"), plain)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_batches_of_many_blocks_equal_plain_for_any_number_of_threads(n_threads):
    rng = np.random.default_rng(0)
    centers = rng.random((60, 2)) * 5
    batches = [
        (centers[rng.integers(60, size=70_000)] + 0.06 * rng.normal(size=(70_000, 2)), None, o)
        for o in (rng.permutation(70_000)[None, :], rng.permutation(70_000)[None, :])
    ]
    penalties = Penalties(0.12, max_gap=6.8, reach=1.01)
    plain = run(penalties, batches, "paper", acceleration="none", n_threads=1)
    assert_same_bits(run(penalties, batches, "paper", n_threads=n_threads), plain)


@pytest.mark.parametrize("scale", [1e-30, 1e-18, 1e18, 1e30])
def test_filter_in_float32_is_not_used_beyond_its_range(scale):
    rng = np.random.default_rng(1)
    centers = rng.normal(size=(100, 20))
    X = scale * (centers[rng.integers(100, size=2000)] + 0.1 * rng.normal(size=(2000, 20)))
    penalties = Penalties(4.0 * scale**2, max_gap=3, reach=1.2)
    batches = [(X, None, rng.permutation(2000)[None, :])] * 2
    plain = run(penalties, batches, "paper", acceleration="none")
    assert blas.sgemm_for(X) is not None
    assert len(plain[0][1].ids) == 100
    assert_same_bits(run(penalties, batches, "paper"), plain)


def test_float32_batch_is_not_copied_to_float64():
    code = """
        import resource, sys
        import numpy as np
        from dynmeans import ClusterState, Penalties, step
        X = np.zeros((400_000, 50), dtype=np.float32)
        X[:200_000] = 9.0
        order = np.arange(len(X))[None, :]
        penalties = Penalties(5.0, max_gap=3, reach=1.2)
        step(X[:2000], ClusterState.empty(50), penalties, orders=order[:, :2000])  # load all
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        step(X, ClusterState.empty(50), penalties, orders=order, n_threads=1)
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / len(X))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    # A copy would take 400 bytes for each point; 32 are allowed, 5 MB are left to the allocator.
    assert float(done.stdout) < 32 + 5e6 / 400_000


def test_interrupt_stops_a_long_step_within_a_second_and_changes_nothing():
    code = """
        import sys, time
        import numpy as np
        from dynmeans import DynamicMeans
        X = np.random.default_rng(0).random((3_000_000, 2))
        model = DynamicMeans(0.002, n_init=5, random_state=0, n_threads=2).fit(X[:1000])
        before = model.state_
        print("go", flush=True)
        try:
            model.partial_fit(X)
        except KeyboardInterrupt:
            is_unchanged = model.state_ is before and len(model.labels_) == 1000
            print(is_unchanged, time.process_time(), flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().strip() == "go"
        time.sleep(1.5)
        used = _processor_time(process.pid)
        process.send_signal(signal.SIGINT)
        is_unchanged, used_in_all = process.stdout.readline().split()
    assert is_unchanged == "True"
    # Two threads for a second each; by the clock a busy machine would take longer.
    assert float(used_in_all) - used < 2.0
    assert process.returncode == 0


def _processor_time(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _labels_of_a_large_batch(seed):
    X = np.random.default_rng(seed).random((40_000, 3))
    order, penalties = np.arange(40_000)[None, :], Penalties(0.2, max_gap=3, reach=1)
    empty = ClusterState.empty(3)
    return native.step(Batch(X), empty, penalties, order, 1.0, Execution(n_threads=2))[1].labels


def test_threads_work_in_a_forked_process_too():
    expected = _labels_of_a_large_batch(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for labels in pool.map(_labels_of_a_large_batch, [0, 0]):
            np.testing.assert_array_equal(labels, expected)


def test_small_work_gets_one_thread_and_large_work_the_cores_that_may_be_used(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert choose_n_threads(1000) == 1
    assert choose_n_threads(10**8) >= 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert choose_n_threads(10**8) == 1


def test_blas_has_its_threads_back_afterwards():
    X = np.random.default_rng(0).normal(size=(2000, 64))
    penalties, order = Penalties(9.0, max_gap=3, reach=1), np.arange(2000)[None, :]
    native.step(Batch(X), ClusterState.empty(64), penalties, order, 1.0, Execution())
    before = [library["num_threads"] for library in blas._controller().info()]
    with blas.one_thread():
        inside = {
            library["num_threads"]
            for library in blas._controller().info()
            if library["user_api"] == "blas"
        }
    assert inside == {1}
    assert [library["num_threads"] for library in blas._controller().info()] == before


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_cost_that_is_rounded_to_lambda_is_found_however_far_the_center_is(d):
    # Q * 1.5 is lambda, and what a memory of weight 1e-40 costs beside it is rounded away.
    penalties = Penalties(1.5, revival_penalty=1.0, drift=0.1, revival="exact")
    centers = np.full((100, d), 1e6) + 1e3 * np.arange(100)[:, None]
    weights = np.ones(100)
    centers[7], weights[7] = 100.0, 1e-40
    ages, ids = np.full(100, 1.5), np.arange(100)
    state = ClusterState(ids=ids, centers=centers, weights=weights, ages=ages, next_id=100)
    for acceleration in ("auto", "none"):
        execution = Execution("native", acceleration=acceleration)
        arguments = (Batch(np.zeros((1, d))), state, penalties, np.array([[0]]), 1.0, execution)
        assert native.step(*arguments)[1].labels.tolist() == [7]


@pytest.mark.skipif(not DIFFERED.exists(), reason="the batch is not beside this checkout")
@pytest.mark.parametrize("search", ["paper", "split", "deep"])
def test_a_batch_with_weights_of_very_different_size_keeps_its_bits(search):
    found = np.load(DIFFERED)
    penalties = Penalties(934.2000033894998, max_gap=7.3833068326013995, reach=1.9751438103288208)
    start = ClusterState.empty(found["X"].shape[1])
    in_order = np.arange(len(found["X"]))[None]
    auto, none = (
        step(
            found["X"],
            start,
            penalties,
            orders=in_order,
            sample_weight=found["w"],
            search=search,
            acceleration=way,
        )
        for way in ("auto", "none")
    )
    assert_same_bits([auto], [none])
