"""Geweke's joint-distribution test: the sweep leaves the joint of labels, parameters and data.

One side draws labels, parameters and points from the model. The other alternates the compiled
sweep with fresh points given labels and parameters. Both have the same distribution only if
every line of the sweep is right, the drawn parameters included.
"""

from dataclasses import replace

import numpy as np
import pytest
from labelings import Old, all_labelings, log_weight
from scipy.special import logsumexp

from dynmeans.mixture.gibbs import gibbs
from dynmeans.mixture.model import batch_prior
from dynmeans.records.mixture import MixtureParameters, MixtureState

N_POINTS = 4
Q, SIGMA = 0.5, 0.6
PARAMETERS = MixtureParameters(0.8, Q, SIGMA, 0.4, -0.3, 1.5)
STATE = MixtureState([0, 1], [3.0, 1.0], [[1.0], [-1.0]], [0.2, 0.3], [1.0, 2.0], 2, 2, 2.0)
OLDS = [Old(3.0, 1.0, np.array([1.0]), 0.6), Old(1.0, 2.0, np.array([-1.0]), 1.1)]
ALPHA_T = 0.8 * (1 + Q + Q**2)


def features(z, theta, y):
    """What is compared: cluster counts, revivals, and first and second moments of all."""
    mine = theta[z]
    return [
        len(set(z)),
        np.sum(z == 0),
        np.sum(z == 1),
        z[0] == z[1],
        mine[0],
        mine[0] ** 2,
        mine[0] * mine[3],
        y[1],
        y[1] ** 2,
        y[2] * mine[2],
        (y - mine) @ (y - mine),
    ]


def forward(rng, n_draws):
    labelings = np.array(all_labelings(N_POINTS, 2))
    logs = np.array([log_weight(z, OLDS, ALPHA_T, Q) for z in labelings])
    chosen = rng.choice(len(logs), size=n_draws, p=np.exp(logs - logsumexp(logs)))
    means = np.append([old.mean[0] for old in OLDS], np.full(N_POINTS, -0.3))
    deviations = np.sqrt(np.append([old.variance for old in OLDS], np.full(N_POINTS, 1.5)))
    for z in labelings[chosen]:
        theta = means + deviations * rng.normal(size=len(means))
        yield z, theta, theta[z] + np.sqrt(SIGMA) * rng.normal(size=N_POINTS)


def successive(rng, n_draws, prior):
    z, theta, y = next(forward(rng, 1))
    for _ in range(n_draws):
        seed = int(rng.integers(2**63))
        found = gibbs(y[:, None], prior, n_samples=1, seed=seed, start=(z, theta[:, None]))
        z = found.labels[0]
        theta = np.zeros(2 + N_POINTS)
        theta[np.unique(z)] = found.centers[0][:, 0]
        y = theta[z] + np.sqrt(SIGMA) * rng.normal(size=N_POINTS)
        yield z, theta, y


def z_scores(prior, n_draws=40_000, n_blocks=80):
    """Differences of the means in standard errors; those of the chain from means of blocks."""
    rng = np.random.default_rng(0)
    direct = np.array([features(*draw) for draw in forward(rng, n_draws)], dtype=float)
    chained = np.array([features(*draw) for draw in successive(rng, n_draws, prior)], dtype=float)
    blocks = chained.reshape(n_blocks, -1, chained.shape[1]).mean(axis=1)
    error = np.sqrt(direct.var(axis=0) / n_draws + blocks.var(axis=0, ddof=1) / n_blocks)
    return (direct.mean(axis=0) - chained.mean(axis=0)) / error


@pytest.mark.slow
def test_sweep_leaves_the_joint_distribution_as_it_is():
    assert np.abs(z_scores(batch_prior(STATE, PARAMETERS))).max() < 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutation",
    [
        {"noise_variance": 0.7},
        {"new_variance": 4.0},
        {"variances": np.array([2.0, 3.0])},
        {"past_counts": np.zeros(2)},
    ],
    ids=lambda mutation: next(iter(mutation)),
)
def test_a_sweep_of_another_model_is_noticed(mutation):
    prior = replace(batch_prior(STATE, PARAMETERS), **mutation)
    assert np.abs(z_scores(prior)).max() > 6
