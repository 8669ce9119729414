"""Any-time clustering: good after few batches, usable after each, stopped as asked."""

import time

import numpy as np
import pytest
from blobs import blobs

from dynmeans import ClusterState, DPMeans, Penalties, fit_anytime
from dynmeans.anytime import iter_anytime
from dynmeans.engine.batch import Batch
from dynmeans.follow.init_memory import begin, memory_from_clusters
from dynmeans.follow.model_config import ModelConfig

POINTS = blobs()
OPTIONS = {"new_penalty": 4.0, "batch_size": 2000, "random_state": 1}
OF_3 = memory_from_clusters(ModelConfig(1.0), ClusterState.empty(3))


def test_cost_comes_close_to_that_of_all_rows_at_once():
    full = DPMeans(new_penalty=4.0, n_init=1, random_state=0).fit(POINTS)
    result = fit_anytime(POINTS, **OPTIONS, max_batches=5)
    assert result.cost <= 1.05 * full.cost_ / len(POINTS)


def test_cost_is_the_mean_over_the_sample_and_a_share_of_lambda_for_each_cluster():
    # Four rows are too few to hold any out: the sample is all of them.
    points = np.array([[0.0], [1.0], [10.0], [11.0]])
    result = fit_anytime(points, new_penalty=4.0, max_batches=1, random_state=0)
    # Centers 0.5 and 10.5: (4 * 0.25 + 2 * 4) / 4
    assert result.n_clusters == 2
    assert result.cost == 2.25


def test_distances_beyond_lambda_count_as_lambda():
    state = ClusterState(ids=[0], centers=[[0.0]], weights=[1.0], ages=[1.0], next_id=1)
    points = np.array([[0.0], [0.0], [0.0], [100.0]])
    memory = memory_from_clusters(ModelConfig(4.0), state)
    result = fit_anytime(points, batch_size=1, max_batches=1, memory=memory, random_state=0)
    # The batch was a row at 0; (3 * 0 + 4 + one cluster's 4) / 4
    assert result.n_clusters == 1
    assert result.cost == 2.0


def test_held_out_rows_never_reach_a_batch():
    rows = np.arange(10_000, dtype=np.float64)[:, None]
    seen = []
    results = iter_anytime(
        rows, new_penalty=0.1, batch_size=1500, max_batches=6, holdout_size=1000, random_state=0
    )
    for result in results:
        seen.append(result)
    # Every row is its own cluster, at most lambda away from no other: centers are rows seen.
    assert seen[-1].n_clusters == 9_000
    assert seen[-1].cost == pytest.approx(0.1 + 0.1 * 9_000 / 10_000)


def test_every_row_comes_once_before_any_comes_again():
    rows = np.arange(1000, dtype=np.float64)[:, None]
    result = fit_anytime(rows, new_penalty=0.1, batch_size=90, max_batches=10, random_state=0)
    assert result.n_points == 900
    assert result.n_clusters == 900


def test_same_seed_gives_the_same_bits_for_any_number_of_threads():
    one = fit_anytime(POINTS, **OPTIONS, max_batches=4, n_threads=1)
    two = fit_anytime(POINTS, **OPTIONS, max_batches=4, n_threads=2)
    assert one.memory.clusters == two.memory.clusters
    assert one.cost == two.cost


def test_another_seed_gives_other_subsets():
    one = fit_anytime(POINTS, **OPTIONS, max_batches=2)
    other = fit_anytime(POINTS, **(OPTIONS | {"random_state": 2}), max_batches=2)
    assert one.cost != other.cost


def test_positions_come_from_the_last_batch_alone_by_default():
    points = np.array([[0.0], [1.0]])
    first, second = list(iter_anytime(iter([points, points + 0.5]), new_penalty=9.0, batch_size=2))
    assert first.centers.tolist() == [[0.5]]
    assert second.centers.tolist() == [[1.0]]
    assert second.memory.clusters.weights.tolist() == [2.0]


def test_infinite_memory_is_the_mean_of_all_batches():
    points = np.array([[0.0], [1.0]])
    *_, last = iter_anytime(
        iter([points, points + 0.5]), new_penalty=9.0, batch_size=2, span=np.inf
    )
    assert last.centers.tolist() == [[0.75]]
    assert last.memory.clusters.weights.tolist() == [4.0]


def test_a_cluster_unseen_keeps_its_position_and_weight():
    near, far = np.array([[0.0], [1.0]]), np.array([[50.0], [51.0]])
    *_, last = iter_anytime(iter([near, far]), new_penalty=9.0, batch_size=2)
    assert last.centers.tolist() == [[0.5], [50.5]]
    assert last.memory.clusters.weights.tolist() == [2.0, 2.0]


def test_a_result_goes_on_from_an_earlier_one():
    first = fit_anytime(POINTS, **OPTIONS, max_batches=3)
    again = fit_anytime(
        POINTS, **(OPTIONS | {"random_state": 5}), max_batches=1, memory=first.memory
    )
    assert again.n_clusters >= first.n_clusters
    assert again.memory.clusters.n_steps == 4


def test_no_gain_ends_the_run():
    result = fit_anytime(POINTS, **OPTIONS, patience=3, tol=0.5)
    assert result.stop_reason == "no_gain"
    assert result.n_batches == 4


def test_a_gain_above_the_tolerance_goes_on():
    costs = [r.cost for r in iter_anytime(POINTS, **OPTIONS, max_batches=8, patience=None)]
    gain = 1 - min(costs[1:3]) / costs[0]
    assert gain > 0
    result = fit_anytime(POINTS, **OPTIONS, max_batches=3, patience=2, tol=gain * 0.99)
    assert result.stop_reason == "max_batches"
    result = fit_anytime(POINTS, **OPTIONS, max_batches=8, patience=2, tol=gain * 1.01)
    assert (result.stop_reason, result.n_batches) == ("no_gain", 3)


def test_time_limit_ends_the_run_after_the_batch_that_passes_it():
    result = fit_anytime(POINTS, **OPTIONS, time_limit=1e-9)
    assert (result.stop_reason, result.n_batches) == ("time_limit", 1)


def test_only_work_counts_as_time():
    seconds = []
    for result in iter_anytime(POINTS, **OPTIONS, max_batches=3):
        seconds.append(result.seconds)
        time.sleep(0.3)
    assert 0 < seconds[0] < seconds[1] < seconds[2]
    assert seconds[2] - seconds[0] < 0.6


def test_every_batch_is_reported_with_its_estimate():
    seen = list(iter_anytime(POINTS, **OPTIONS, max_batches=3))
    result = fit_anytime(POINTS, **OPTIONS, max_batches=3)
    assert [r.n_batches for r in seen] == [1, 2, 3]
    assert seen[-1].cost == result.cost
    assert all(0 < r.cost_stderr < r.cost for r in seen)


def test_predict_says_minus_one_beyond_lambda():
    result = fit_anytime(POINTS, **OPTIONS, max_batches=2)
    found = result.predict([result.centers[3], [1e6, 1e6]])
    assert found.tolist() == [result.memory.clusters.ids[3], -1]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"batch_size": 0}, ValueError, "batch_size must be at least 1, got 0"),
        ({"batch_size": 1.5}, TypeError, "batch_size must be an integer, got 1.5"),
        ({"time_limit": 0}, ValueError, "time_limit must be greater than 0, got 0"),
        ({"time_limit": -1.0}, ValueError, "time_limit must be greater than 0, got -1.0"),
        ({"max_batches": 0}, ValueError, "max_batches must be at least 1, got 0"),
        ({"patience": 0}, ValueError, "patience must be at least 1, got 0"),
        ({"patience": None}, ValueError, "without one of them, the run does not end"),
        ({"tol": -1.0}, ValueError, "tol must be at least 0"),
        ({"holdout_size": 0}, ValueError, "holdout_size must be at least 1, got 0"),
        ({"span": 0.5}, ValueError, "span must be at least 1, got 0.5"),
        ({"new_penalty": 0}, ValueError, "new_penalty must be greater than 0"),
        ({"memory": OF_3}, ValueError, "source has 2 features, but the memory was made with 3"),
        ({"memory": 3}, TypeError, "memory must be a Memory, got int"),
        ({"reach": 2.0}, ValueError, "reach is not available in fit_anytime, got 2.0"),
        ({"n_init": 2}, ValueError, "n_init is not available in fit_anytime, got 2"),
        ({"n_threads": 0}, ValueError, "n_threads must be from 1"),
    ],
)
def test_bad_arguments_are_refused_by_name(options, error, message):
    with pytest.raises(error, match=message):
        fit_anytime(POINTS, **(OPTIONS | options))


@pytest.mark.parametrize("penalties", ["auto", Penalties(4.0, max_gap=5, reach=1.5)], ids=str)
def test_penalties_are_chosen_or_given_as_one_value(penalties):
    rng = np.random.default_rng(0)
    points = rng.choice([0.0, 20.0, 60.0], size=(9000, 1)) + 0.1 * rng.normal(size=(9000, 1))
    result = fit_anytime(
        points, penalties=penalties, batch_size=1000, max_batches=3, random_state=0
    )
    assert np.sort(result.centers.ravel()).round().tolist() == [0.0, 20.0, 60.0]


def test_a_memory_of_another_method_is_refused_by_its_name():
    model_config = ModelConfig(1.0, method="dbscan(eps=0.3)")
    memory = begin(model_config, [Batch(POINTS[:100])])
    with pytest.raises(ValueError, match=r"memory.*method.*dynmeans.*dbscan"):
        fit_anytime(POINTS, memory=memory, **OPTIONS, max_batches=1)
