"""Gibbs sampling: exactly the posterior, and nothing else."""

import signal
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from labelings import (
    FIRST,
    SECOND,
    TINY,
    chi_square_p,
    empty,
    enumerate_posterior,
    second_posterior,
    second_prior,
)
from xoshiro import Xoshiro

from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.mixture.gibbs import gibbs
from dynmeans.mixture.model import batch_prior
from dynmeans.records.mixture import MixtureParameters, MixtureState
from paper.reference_gibbs import label_log_weights, plain_gibbs


def p_value(prior, n_samples=20_000):
    """Chi-square of the compiled sampler on the second step against the enumerated posterior."""
    found = gibbs(SECOND, prior, n_samples=n_samples, burn_in=100, thin=10, seed=3)
    return chi_square_p(found.labels, *second_posterior())


def test_first_step_draws_from_the_enumerated_posterior():
    prior = batch_prior(empty(), TINY)
    points = np.vstack([FIRST, SECOND[:2]])
    found = gibbs(points, prior, n_samples=20_000, burn_in=100, thin=10, seed=1)
    assert chi_square_p(found.labels, *enumerate_posterior(points, [], TINY, t=1)) > 1e-3


def test_second_step_draws_from_the_enumerated_posterior():
    assert p_value(second_prior()) > 1e-3


# Each is the compiled sampler with one factor of the label probabilities taken out.
MUTATIONS = {
    "no survival": lambda p: {"log_weights": np.log(p.past_counts)},
    "no past count on revival": lambda p: {"log_weights": p.log_weights - np.log(p.past_counts)},
    "no past count once seen": lambda p: {"past_counts": np.zeros(2)},
    "no past time in alpha_t": lambda p: {"log_new_weight": np.log(TINY.concentration)},
    "no motion": lambda p: {"variances": p.variances - TINY.motion_variance},
    "no variance when last seen": lambda p: {"variances": np.full(2, TINY.motion_variance)},
    "no prior mean": lambda p: {"new_mean": np.zeros(2)},
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_chi_square_sees_a_missing_factor(name):
    prior = second_prior()
    assert p_value(replace(prior, **MUTATIONS[name](prior))) < 1e-6


def without_counts(chain, i):
    """Eq. 3 with the points already in a cluster left out."""
    seen = chain.n > 0
    log_weights = label_log_weights(chain, i)
    log_weights[:-1][seen] -= np.log((chain.c + chain.n)[seen])
    return log_weights


@pytest.mark.slow
def test_plain_sampler_draws_from_the_enumerated_posterior():
    drawn = islice(plain_gibbs(SECOND, second_prior(), np.random.default_rng(0)), 0, 15_000, 2)
    expected = second_posterior()
    assert chi_square_p(np.array(list(drawn)), *expected) > 1e-3


@pytest.mark.slow
def test_chi_square_sees_another_label_rule():
    chain = plain_gibbs(SECOND, second_prior(), np.random.default_rng(0), without_counts)
    drawn = np.array(list(islice(chain, 0, 15_000, 2)))
    expected = second_posterior()
    assert chi_square_p(drawn, *expected) < 1e-6


@pytest.mark.slow
def test_equation_3_as_printed_does_not_draw_from_the_posterior():
    prior = second_prior()
    printed = replace(prior, first_variances=np.full(prior.n_old, TINY.motion_variance))
    drawn = islice(plain_gibbs(SECOND, printed, np.random.default_rng(0)), 0, 15_000, 2)
    assert chi_square_p(np.array(list(drawn)), *second_posterior()) < 1e-6


@pytest.mark.parametrize("revival", ["exact", "paper"])
@pytest.mark.parametrize("seed", range(5))
def test_same_random_numbers_give_the_labels_of_the_specification(seed, revival):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(25, 3)) * 1.5
    state = MixtureState(
        [0, 4], [6.0, 2.0], rng.normal(size=(2, 3)), [0.1, 0.3], [1.0, 3.0], 5, 4, 4.0
    )
    parameters = MixtureParameters(noise_variance=0.4, motion_variance=0.2, prior_variance=2.0)
    prior = batch_prior(state, parameters, revival=revival)
    expected = np.array(list(islice(plain_gibbs(points, prior, Xoshiro(seed)), 60)))
    found = gibbs(points, prior, n_samples=60, seed=seed)
    np.testing.assert_array_equal(found.labels, expected)


def test_leaving_far_slots_after_some_features_changes_no_label():
    rng = np.random.default_rng(5)
    n_old, n_features = 40, 45  # several blocks of slots, and looks before the last feature
    centers = rng.normal(size=(n_old, n_features)) * np.linspace(0.2, 1.2, n_features)
    ids = list(range(n_old))
    state = MixtureState(
        ids, np.full(n_old, 3.0), centers, np.full(n_old, 0.2), np.full(n_old, 2.0), n_old, 4, 4.0
    )
    points = centers[rng.integers(n_old, size=30)] + rng.normal(size=(30, n_features))
    parameters = MixtureParameters(noise_variance=1.5, motion_variance=0.1, prior_variance=2.0)
    prior = batch_prior(state, parameters)
    expected = np.array(list(islice(plain_gibbs(points, prior, Xoshiro(1)), 40)))
    found = gibbs(points, prior, n_samples=40, seed=1)
    assert len(np.unique(expected)) > 16
    np.testing.assert_array_equal(found.labels, expected)


def test_there_is_room_for_as_many_clusters_as_points():
    points = np.arange(80.0).reshape(40, 2) * 3
    parameters = MixtureParameters(noise_variance=0.5, prior_variance=4000.0)
    prior = batch_prior(empty(), parameters)
    expected = np.array(list(islice(plain_gibbs(points, prior, Xoshiro(0)), 5)))
    found = gibbs(points, prior, n_samples=5, seed=0)
    assert expected.max() > 32
    np.testing.assert_array_equal(found.labels, expected)


def test_posterior_of_a_sample_is_the_enumerated_one():
    found = gibbs(SECOND, second_prior(), n_samples=50, seed=0)
    labelings, logs = second_posterior()
    expected = [logs[labelings.index(tuple(z))] for z in found.labels.tolist()]
    np.testing.assert_allclose(found.log_posteriors, expected, rtol=1e-12)


def test_thinning_records_every_so_many_sweeps_after_the_burn_in():
    every = gibbs(SECOND, second_prior(), n_samples=30, seed=0)
    some = gibbs(SECOND, second_prior(), n_samples=5, burn_in=10, thin=4, seed=0)
    np.testing.assert_array_equal(some.labels, every.labels[13::4])
    np.testing.assert_array_equal(some.centers[-1], every.centers[-1])


def test_there_is_one_center_for_each_cluster_with_points():
    found = gibbs(SECOND, second_prior(), n_samples=50, seed=0)
    for labels, centers in zip(found.labels, found.centers, strict=True):
        assert centers.shape == (len(set(labels)), 2)


def test_seed_decides_everything():
    first, again, other = (gibbs(SECOND, second_prior(), n_samples=50, seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.labels, again.labels)
    assert np.any(first.labels != other.labels)


def test_points_a_million_deviations_away_open_clusters_of_their_own():
    points = np.array([[0.0], [0.1], [1e6], [1e6 + 0.1], [-1e6]])
    parameters = MixtureParameters(noise_variance=1.0, prior_variance=1.0)
    found = gibbs(points, batch_prior(MixtureState.empty(1), parameters), n_samples=100, seed=0)
    assert np.all(np.isfinite(found.log_posteriors))
    best = found.labels[found.log_posteriors.argmax()]
    assert len({best[0], best[2], best[4]}) == 3
    assert best[2] == best[3]


def test_remembered_cluster_a_million_deviations_away_takes_no_points():
    state = MixtureState([0], [5.0], [[1e6]], [0.1], [1.0], next_id=1, n_steps=1, time=1.0)
    prior = batch_prior(state, MixtureParameters())
    assert gibbs(np.zeros((4, 1)), prior, n_samples=100, seed=0).labels.min() == 1


class StopError(Exception):
    pass


def test_signal_ends_a_long_run():
    def handler(signum, frame):
        raise StopError

    points = moving_gaussians(n_steps=1, rng=np.random.default_rng(0)).batches[0]
    prior = batch_prior(MixtureState.empty(2), MixtureParameters(noise_variance=0.0025))
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(StopError):
            gibbs(points, prior, n_samples=1, burn_in=10**9, seed=0)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_progress_is_told_and_its_errors_end_the_run():
    def progress(share):
        assert 0 <= share <= 1
        raise StopError

    with pytest.raises(StopError):
        gibbs(SECOND, second_prior(), n_samples=1, burn_in=10**8, seed=0, progress=progress)
