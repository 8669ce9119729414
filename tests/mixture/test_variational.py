"""Variational inference: a bound that only rises, to a point where its gradient vanishes."""

import numpy as np
import pytest
from labelings import (
    SECOND,
    second_prior,
)
from scipy.special import digamma, gammaln, softmax
from scipy.stats import beta as beta_distribution
from scipy.stats import dirichlet

from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.mixture.gibbs import gibbs
from dynmeans.mixture.model import batch_prior, carry_over, center_posteriors
from dynmeans.mixture.variational import variational
from dynmeans.records.mixture import MixtureParameters, MixtureState

CLIMB = {"truncation": 4, "tol": 0.0, "max_iter": 20_000, "seed": 0}


def expected_log_weights(concentrations, heads, tails):
    """E log pi of every component, the sticks' shares of the new mass included."""
    log_pi = digamma(concentrations) - digamma(concentrations.sum())
    log_beta = np.append(digamma(heads) - digamma(heads + tails), 0.0)
    log_rest = np.append(0.0, np.cumsum(digamma(tails) - digamma(heads + tails)))
    return np.append(log_pi[:-1], log_pi[-1] + log_beta + log_rest)


def elbo(points, prior, r, concentrations, heads, tails, means, variances):
    """E_q log p(y, z, pi, beta, theta) + entropy of q, term by term from the definitions."""
    n_old, d = prior.n_old, points.shape[1]
    alpha = np.exp(prior.log_new_weight)
    weights = np.append(np.exp(prior.log_weights), alpha)
    log_pi = digamma(concentrations) - digamma(concentrations.sum())
    log_z = expected_log_weights(concentrations, heads, tails)
    _, prior_means, prior_variances = prior.with_new(len(variances) - n_old)
    squares = np.square(points[:, None] - means).sum(axis=2) + d * variances
    sigma = prior.noise_variance
    log_y = -0.5 * (squares / sigma + d * np.log(2 * np.pi * sigma))
    moved = np.square(means - prior_means).sum(axis=1) + d * variances
    log_theta = -0.5 * (moved / prior_variances + d * np.log(2 * np.pi * prior_variances))
    return (
        (r * (log_y + log_z)).sum()
        + ((weights - 1) * log_pi).sum()
        + gammaln(weights.sum())
        - gammaln(weights).sum()
        + ((alpha - 1) * (digamma(tails) - digamma(heads + tails)) + np.log(alpha)).sum()
        + log_theta.sum()
        - (r * np.log(np.maximum(r, 1e-300))).sum()
        + dirichlet.entropy(concentrations)
        + beta_distribution.entropy(heads, tails).sum()
        + 0.5 * d * np.log(2 * np.pi * np.e * variances).sum()
    )


def unpack(q, free):
    """Parameters moved away from those of q: logits, logarithms and positions."""
    n, k = q.responsibilities.shape
    sizes = [n * k, len(q.concentrations), len(q.stick_heads), len(q.stick_tails), q.means.size, k]
    parts = np.split(free, np.cumsum(sizes)[:-1])
    r = q.responsibilities * np.exp(parts[0].reshape(n, k))
    return (
        r / r.sum(axis=1, keepdims=True),
        q.concentrations * np.exp(parts[1]),
        q.stick_heads * np.exp(parts[2]),
        q.stick_tails * np.exp(parts[3]),
        q.means + parts[4].reshape(q.means.shape),
        q.variances * np.exp(parts[5]),
    )


def gradient(points, prior, q, step=1e-4):
    n_free = sum(
        a.size
        for a in (
            q.responsibilities,
            q.concentrations,
            q.stick_heads,
            q.stick_tails,
            q.means,
            q.variances,
        )
    )
    moves = step * np.eye(n_free)
    up = np.array([elbo(points, prior, *unpack(q, move)) for move in moves])
    down = np.array([elbo(points, prior, *unpack(q, -move)) for move in moves])
    return (up - down) / (2 * step)


def test_bound_is_the_one_of_the_definition():
    q = variational(SECOND, second_prior(), **CLIMB)
    parts = unpack(q, np.zeros(5 * 6 + 3 + 3 + 3 + 12 + 6))
    assert q.bounds[-1] == pytest.approx(elbo(SECOND, second_prior(), *parts), rel=1e-10)


def test_responsibilities_are_the_best_given_the_rest():
    q = variational(SECOND, second_prior(), **CLIMB)
    squares = np.square(SECOND[:, None] - q.means).sum(axis=2) + 2 * q.variances
    logs = expected_log_weights(q.concentrations, q.stick_heads, q.stick_tails)
    expected = softmax(logs - 0.5 * squares / second_prior().noise_variance, axis=1)
    np.testing.assert_allclose(q.responsibilities, expected, rtol=1e-11)


def test_gradient_of_the_bound_vanishes_at_the_result():
    q = variational(SECOND, second_prior(), **CLIMB)
    assert np.abs(gradient(SECOND, second_prior(), q)).max() < 1e-6


def test_gradient_does_not_vanish_half_way():
    q = variational(SECOND, second_prior(), **{**CLIMB, "max_iter": 3})
    assert np.abs(gradient(SECOND, second_prior(), q)).max() > 1e-3


@pytest.mark.parametrize("seed", range(8))
def test_bound_never_falls(seed):
    rng = np.random.default_rng(seed)
    state = MixtureState(
        [0, 1, 2],
        [9.0, 2.0, 1.0],
        rng.normal(size=(3, 2)),
        np.full(3, 0.1),
        [1.0, 2.0, 9.0],
        3,
        9,
        9.0,
    )
    parameters = MixtureParameters(survival=0.05, noise_variance=0.3, prior_variance=2.0)
    q = variational(
        rng.normal(size=(60, 2)) * 1.5,
        batch_prior(state, parameters),
        truncation=10,
        tol=0.0,
        max_iter=300,
        seed=seed,
    )
    assert len(q.bounds) > 5
    assert np.all(np.diff(q.bounds) >= -1e-12 * np.abs(q.bounds[1:]))


def test_labels_on_separated_data_are_the_mode_of_the_gibbs_samples():
    stream = moving_gaussians(
        n_steps=4, n_clusters=4, spread=0.01, motion=0.01, rng=np.random.default_rng(3)
    )
    parameters = MixtureParameters(1.0, 0.5, 1e-4, 1e-4, 0.5, 0.2)
    state = MixtureState.empty(2)
    for points in stream.batches:
        prior = batch_prior(state, parameters)
        q = variational(points, prior, truncation=10, tol=1e-12, max_iter=1000, seed=0)
        samples = gibbs(points, prior, n_samples=300, burn_in=100, seed=0)
        found, n_times = np.unique(samples.labels, axis=0, return_counts=True)
        mode = found[n_times.argmax()]
        # The same old clusters, and the same partition of the rest.
        is_old = mode < prior.n_old
        np.testing.assert_array_equal(np.where(is_old, q.labels, -1), np.where(is_old, mode, -1))
        assert len(set(zip(q.labels, mode, strict=True))) == len(set(mode)) == len(set(q.labels))
        state = carry_over(state, center_posteriors(points, mode, prior), parameters, 1.0)


def test_new_clusters_of_separated_data_are_ordered_by_size():
    points = np.repeat([[0.0], [50.0], [100.0]], [2, 9, 5], axis=0)
    parameters = MixtureParameters(prior_mean=50.0, prior_variance=1e4)
    q = variational(points, batch_prior(MixtureState.empty(1), parameters), **CLIMB)
    np.testing.assert_allclose(q.responsibilities.sum(axis=0), [9, 5, 2, 0], atol=1e-6)


def test_truncation_bounds_the_new_clusters():
    points = np.arange(10.0)[:, None] * 100
    parameters = MixtureParameters(prior_variance=1e5)
    q = variational(
        points, batch_prior(MixtureState.empty(1), parameters), **{**CLIMB, "truncation": 3}
    )
    assert q.responsibilities.shape == (10, 3)


def test_one_stick_takes_the_whole_new_mass():
    prior = batch_prior(MixtureState.empty(1), MixtureParameters())
    q = variational(np.array([[0.0], [0.4]]), prior, **{**CLIMB, "truncation": 1})
    np.testing.assert_array_equal(q.responsibilities, 1.0)


def test_points_a_million_deviations_away_leave_everything_finite():
    points = np.array([[0.0], [0.1], [1e6], [1e6 + 0.1], [-1e6]])
    state = MixtureState([0], [2.0], [[0.0]], [0.1], [200.0], next_id=1, n_steps=1, time=1.0)
    prior = batch_prior(state, MixtureParameters(survival=1e-3))
    q = variational(points, prior, **CLIMB)
    assert all(np.all(np.isfinite(getattr(q, name))) for name in q.__slots__)
    assert q.labels[2] == q.labels[3]
    assert len({q.labels[0], q.labels[2], q.labels[4]}) == 3
