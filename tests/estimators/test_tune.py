import logging

import numpy as np
import pandas as pd
import pytest

import dynmeans
from dynmeans import DynamicMeans, tune
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.estimators.tuning import N_RUNS, ROUND
from dynmeans.metrics import accuracy_global, idf1


@pytest.fixture(scope="module")
def stream():
    return moving_gaussians(12, 3, noise="radial", rng=np.random.default_rng(1))


def score_of(stream, penalties, seed, measure=accuracy_global):
    model = DynamicMeans(
        penalties,
        random_state=int(seed),
    )
    return measure(stream.labels, model.fit_sequence(stream.batches)[0])


def test_best_is_the_highest_of_the_trials(stream):
    result = tune(stream.batches, stream.labels, n_trials=18)
    best = result.trials.loc[result.trials["score"].idxmax()]
    assert result.score == best["score"]
    assert result.penalties.new_penalty == best["new_penalty"]
    assert (result.penalties.max_gap, result.penalties.reach) == (best["max_gap"], best["reach"])
    assert result.trials["score"].nunique() > 1


def test_score_is_the_mean_over_visiting_orders(stream):
    result = tune(stream.batches, stream.labels, n_trials=2, random_state=5)
    seeds = np.random.SeedSequence(5).generate_state(N_RUNS)
    expected = np.mean([score_of(stream, result.penalties, seed) for seed in seeds])
    assert result.score == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("metric", ["idf1", idf1])
def test_metric_is_a_name_or_a_function(stream, metric):
    result = tune(stream.batches, stream.labels, metric=metric, n_trials=2)
    seeds = np.random.SeedSequence(0).generate_state(N_RUNS)
    expected = np.mean([score_of(stream, result.penalties, seed, idf1) for seed in seeds])
    assert result.score == pytest.approx(expected, rel=1e-12)
    assert result.metric == "idf1"


def test_same_seed_gives_the_same_trials(stream):
    first, second = (
        tune(stream.batches, stream.labels, n_trials=24, random_state=3) for _ in range(2)
    )
    pd.testing.assert_frame_equal(first.trials, second.trials)


def test_other_seed_gives_other_trials(stream):
    first, second = (
        tune(stream.batches, stream.labels, n_trials=3, random_state=seed) for seed in (3, 4)
    )
    assert not first.trials.equals(second.trials)


def crossing_stream():
    """Two clusters on straight ways that cross in the middle."""
    rng = np.random.default_rng(0)
    ways = [
        np.column_stack([np.linspace(-1, 1, 31), sign * np.linspace(-1, 1, 31)]) for sign in (1, -1)
    ]
    batches = [
        np.vstack([rng.normal(way[t], 0.05, size=(10, 2)) for way in ways]) for t in range(31)
    ]
    return batches, [np.repeat([0, 1], 10)] * 31


def test_a_course_scores_better_where_clusters_cross_on_it():
    batches, truth = crossing_stream()
    still, steady = (
        tune(batches, truth, n_trials=24, motion=m) for m in (None, "constant_velocity")
    )
    assert (still.penalties.motion, steady.penalties.motion) == ("random_walk", "constant_velocity")
    assert steady.score > still.score + 0.1


@pytest.mark.slow
def test_trials_do_not_depend_on_the_number_of_processes(stream):
    one, two = (
        tune(stream.batches, stream.labels, n_trials=4 * ROUND, n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    pd.testing.assert_frame_equal(one.trials, two.trials)


@pytest.mark.slow
def test_proposals_come_to_find_better_settings_than_chance():
    stream = moving_gaussians(40, 5, rng=np.random.default_rng(0))
    trials = tune(stream.batches, stream.labels, n_trials=64).trials
    assert trials["score"][32:].mean() > trials["score"][:16].mean() + 0.05


def test_settings_stay_in_the_ranges_given(stream):
    ranges = {"new_penalty": (0.02, 0.05), "max_gap": (2, 3), "reach": (1.0, 1.1)}
    trials = tune(stream.batches, stream.labels, ranges=ranges, n_trials=20).trials
    for name, (low, high) in ranges.items():
        assert trials[name].between(low, high).all()


def test_optimiser_writes_nothing_to_the_terminal(stream, capfd):
    tune(stream.batches, stream.labels, n_trials=2)
    assert capfd.readouterr() == ("", "")


def test_scores_are_logged(stream, caplog):
    with caplog.at_level(logging.INFO, logger="dynmeans.estimators.tuning"):
        tune(stream.batches, stream.labels, n_trials=2)
    assert len(caplog.records) == 2


def test_it_is_a_public_name():
    assert "tune" in dynmeans.__all__


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": "speed"}, "metric must be one of accuracy_global.* or a callable, got 'speed'"),
        ({"n_trials": 0}, "n_trials must be at least 1, got 0"),
        ({"random_state": -1}, "random_state must be None, an integer"),
        ({"truth": [[0]]}, "batches"),
    ],
)
def test_bad_input_is_refused_by_name(stream, changes, message):
    given = {"batches": stream.batches, "truth": stream.labels, "n_trials": 1}
    with pytest.raises(ValueError, match=message):
        tune(**(given | changes))
