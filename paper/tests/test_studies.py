"""The studies beside the two experiments: what they compute, by hand and on small data."""

import numpy as np
import pytest

from dynmeans.metrics import accuracy_global
from dynmeans.mixture.model import batch_prior
from dynmeans.records.mixture import MixtureParameters, MixtureState
from paper.label_mass import log_label_mass as log_label_mass_in_logarithms
from paper.studies import first_trials, step_by_step, times
from paper.studies.carried_cloud import follow, log_label_mass
from paper.studies.mixing import effective_size, split_r_hat
from paper.studies.robustness import wrong
from paper.synthetic.config import SAMPLERS

BLOBS = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])


def batches(n=4, seed=0):
    rng = np.random.default_rng(seed)
    return [np.concatenate([c + rng.normal(0, 0.1, (20, 2)) for c in BLOBS]) for _ in range(n)]


def test_a_wrong_parameter_stays_within_its_range():
    setting = {"new_penalty": 0.06, "max_gap": 2.0, "reach": 1.0}
    assert wrong(setting, "new_penalty", 4.0) == {**setting, "new_penalty": 0.24}
    assert wrong(setting, "max_gap", 0.25)["max_gap"] == 1.001
    assert wrong(setting, "reach", 0.5)["reach"] == 1.0
    assert wrong({"survival": 0.5}, "survival", 4.0) == {"survival": 0.999}


def test_chains_that_agree_have_r_hat_one_and_those_that_do_not_more():
    rng = np.random.default_rng(0)
    chains = rng.normal(size=(4, 1000))
    assert split_r_hat(chains) == pytest.approx(1.0, abs=0.01)
    assert split_r_hat(chains + np.arange(4)[:, None]) > 1.5
    assert split_r_hat(np.ones((4, 10))) == 1.0


def test_effective_size_is_all_of_independent_samples_and_few_of_slow_ones():
    rng = np.random.default_rng(0)
    independent = rng.normal(size=(4, 1000))
    assert effective_size(independent) == pytest.approx(4000, rel=0.15)
    # An autoregression of 0.9 has an autocorrelation time of (1 + 0.9) / (1 - 0.9) = 19.
    slow = np.zeros((4, 4000))
    for t in range(1, 4000):
        slow[:, t] = 0.9 * slow[:, t - 1] + rng.normal(size=4)
    assert effective_size(slow) == pytest.approx(16000 / 19, rel=0.3)


def test_label_mass_in_plain_numbers_is_that_in_logarithms():
    ids, ages = np.arange(2), np.array([1.0, 3.0])
    state = MixtureState(
        ids, [4.0, 15.0], [[0.0], [1.0]], [0.1, 0.1], ages, next_id=2, n_steps=3, time=3.0
    )
    prior = batch_prior(state, MixtureParameters(concentration=0.01, survival=0.3))
    assert log_label_mass(prior, 20) == pytest.approx(log_label_mass_in_logarithms(prior, 20))


def test_a_carried_cloud_keeps_identities_of_clusters_that_stay():
    parameters = MixtureParameters(
        concentration=0.1, survival=0.9, noise_variance=0.01, motion_variance=0.01, prior_variance=9
    )
    labels = follow(batches(), parameters, seed=0)
    assert all(np.array_equal(found, labels[0]) for found in labels)
    assert len(np.unique(labels[0])) == 3


@pytest.mark.parametrize("method", [name for name, *_ in step_by_step.methods(1.0)])
def test_clusters_of_single_steps_are_matched_with_those_before(method):
    runs = {name: run for name, _, run in step_by_step.methods(1.0)}
    stream = type("Stream", (), {"batches": batches()})
    labels = runs[method](stream, 0)
    assert all(np.array_equal(found, labels[0]) for found in labels)
    assert len(np.unique(labels[0])) == 3


def test_dynamic_means_is_timed_before_each_of_the_others(monkeypatch):
    called = []

    def run_trial(config, task):
        called.append((task["method"], task["effort"]))
        return {"cpu_s": {"dynamic_means": 0.5}.get(task["method"], 2.0)}

    monkeypatch.setattr(times, "run_trial", run_trial)
    row = times.in_turns({"noise": "radial", "origin": "paper", "n_clusters": 5, "trial": 0})
    assert [method for method, _ in called[::2]] == ["dynamic_means"] * 4
    assert called[1::2] == [
        ("gibbs", 5000),
        ("variational", 5000),
        ("particle", 100),
        ("gibbs", 50),
    ]
    assert row["dynamic_means"] == 0.5
    assert {row[name] for name in (*SAMPLERS, times.FEW)} == {2.0}


def test_accuracy_of_drawn_flights_is_that_of_the_table():
    rng = np.random.default_rng(0)
    true, found = rng.integers(0, 5, 300), rng.integers(3, 12, 300)
    weights = rng.random(300)
    expected = accuracy_global([true], [found], [weights])
    assert first_trials.accuracy(true, found, weights) == pytest.approx(expected)


def test_flights_are_drawn_with_replacement_and_alike_for_all_rows():
    drawn = first_trials.draws(500)
    assert drawn.shape == (first_trials.N_DRAWS, 500)
    assert (drawn.sum(axis=1) == 500).all()
    np.testing.assert_array_equal(drawn, first_trials.draws(500))
    # With a match that does not change, the error is that of a share.
    true = np.arange(500) % 2
    found = np.where(np.arange(500) % 10 < 3, 2, true)
    shares = [first_trials.accuracy(true, found, times) for times in drawn]
    assert np.std(shares) == pytest.approx(np.sqrt(0.7 * 0.3 / 500), rel=0.2)
