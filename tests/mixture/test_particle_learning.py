"""Particle learning: its evidence and its particles agree with enumeration."""

import numpy as np
import pytest
from labelings import (
    SECOND,
    Old,
    enumerate_posterior,
    second_posterior,
    second_prior,
)
from scipy.special import logsumexp

from dynmeans.mixture.model import batch_prior
from dynmeans.mixture.particle_learning import particle_learning
from dynmeans.records.mixture import MixtureParameters, MixtureState
from paper.label_mass import log_label_mass


def log_evidence():
    return logsumexp(second_posterior()[1])


def relative_estimates(n_particles, n_runs=200):
    """Estimates of the marginal likelihood in units of the true one."""
    prior = second_prior()
    runs = [
        particle_learning(SECOND, prior, n_particles=n_particles, seed=s).log_evidence
        for s in range(n_runs)
    ]
    return np.exp(np.array(runs) - log_evidence())


@pytest.mark.parametrize(("n_particles", "n_runs"), [(1, 2000), (2, 8000), (10, 2000), (100, 1000)])
def test_marginal_likelihood_is_unbiased(n_particles, n_runs):
    estimates = relative_estimates(n_particles, n_runs)
    error = estimates.std(ddof=1) / np.sqrt(len(estimates))
    assert abs(estimates.mean() - 1) < 4 * error
    assert error < 0.05


def test_error_falls_as_one_over_the_root_of_the_number_of_particles():
    deviations = [relative_estimates(n).std() for n in (10, 100, 1000)]
    # Independent particles would gain sqrt(10) = 3.2; systematic resampling may gain more.
    assert deviations[0] > 2.5 * deviations[1] > 6 * deviations[2]


def test_evidence_less_the_label_mass_is_the_density_of_the_batch():
    # One point, nothing remembered: log N(y | phi, sigma + rho) whatever alpha.
    parameters = MixtureParameters(concentration=3.0, prior_variance=3.0)
    prior = batch_prior(MixtureState.empty(1), parameters)
    found = particle_learning(np.zeros((1, 1)), prior, n_particles=5, seed=0)
    assert found.log_evidence - log_label_mass(prior, 1) == pytest.approx(
        -0.5 * np.log(2 * np.pi * 4.0), rel=1e-13
    )


def test_particles_weighted_by_the_evidence_are_draws_from_the_posterior():
    # The evidence times the share of a labeling has the posterior as its mean, for any number of
    # particles. With few of them every line of the resampling counts, and with the first point
    # half way between two clusters they soon differ in what they predict.
    parameters = MixtureParameters(0.5, 0.5, 0.05, 0.5, 0.0, 4.0)
    state = MixtureState([0, 1], [2.0, 2.0], [[-1.0], [1.0]], [0.5, 0.5], [1.0, 1.0], 2, 1, 1.0)
    olds = [Old(2.0, 1.0, np.array([mean]), 1.0) for mean in (-1.0, 1.0)]
    points = np.array([[0.0], [1.5], [-1.5], [0.1]])
    labelings, logs = enumerate_posterior(points, olds, parameters, t=2)
    place = {z: i for i, z in enumerate(labelings)}
    n_particles, n_runs, prior = 3, 5000, batch_prior(state, parameters)
    shares = np.zeros((n_runs, len(logs)))
    for run in range(n_runs):
        found = particle_learning(points, prior, n_particles=n_particles, seed=run)
        weight = np.exp(found.log_evidence - logsumexp(logs)) / n_particles
        for z in found.labels.tolist():
            shares[run, place[tuple(z)]] += weight
    expected = np.exp(logs - logsumexp(logs))
    common = expected > 0.005
    errors = (shares.std(axis=0) / np.sqrt(n_runs))[common]
    assert np.abs((shares.mean(axis=0) - expected)[common] / errors).max() < 4


def test_posterior_of_a_particle_is_the_enumerated_one():
    found = particle_learning(SECOND, second_prior(), n_particles=50, seed=0)
    labelings, logs = second_posterior()
    expected = [logs[labelings.index(tuple(z))] for z in found.labels.tolist()]
    np.testing.assert_allclose(found.log_posteriors, expected, rtol=1e-12)


def test_seed_decides_everything():
    first, again, other = (
        particle_learning(SECOND, second_prior(), n_particles=50, seed=s) for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.labels, again.labels)
    assert first.log_evidence == again.log_evidence
    assert first.log_evidence != other.log_evidence


def test_points_a_million_deviations_away_leave_everything_finite():
    points = np.array([[0.0], [0.1], [1e6], [1e6 + 0.1], [-1e6]])
    prior = batch_prior(MixtureState.empty(1), MixtureParameters())
    found = particle_learning(points, prior, n_particles=50, seed=0)
    assert np.isfinite(found.log_evidence)
    assert np.all(np.isfinite(found.log_posteriors))
    best = found.labels[found.log_posteriors.argmax()]
    assert best[2] == best[3]
    assert len({best[0], best[2], best[4]}) == 3
