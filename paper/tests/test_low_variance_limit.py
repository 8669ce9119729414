"""The limit the paper derives: as sigma goes to 0, Gibbs labels become those of Dynamic Means.

alpha, xi and q are tied to sigma by Eq. 4, and the carried variance is sigma / w. A label step
that integrates the carried variance out, as the samplers here do, has the limit
Q dt + |y - theta_old|^2 / (1/w + tau dt + 1): the rule `revival="exact"`. The paper's Eq. 5 is
the same with w infinite, the carried position taken as known (decision 0103).
"""

from itertools import islice

import numpy as np
import pytest

from dynmeans import ClusterState, DDPMixture, Penalties, step
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.mixture.gibbs import gibbs
from dynmeans.mixture.model import batch_prior
from dynmeans.records.mixture import MixtureState
from paper.low_variance import low_variance_mixture
from paper.reference_gibbs import plain_gibbs

RHO = 1.0
REVIVAL = Penalties(1.0, revival_penalty=0.3, drift=0.5)
STREAM = Penalties(0.05, max_gap=5, reach=1.2)


def tied_prior(state, penalties, sigma, revival="exact"):
    """Eq. 4: alpha and q may be far below the smallest double."""
    tied = low_variance_mixture(
        penalties, sigma, state.n_features, prior_mean=0.5, prior_variance=RHO
    )
    carried = MixtureState(
        state.ids,
        state.weights,
        state.centers,
        sigma / state.weights,
        state.ages,
        next_id=state.next_id,
        n_steps=state.n_steps,
        time=float(state.n_steps),
    )
    return batch_prior(carried, tied, revival=revival)


def gibbs_labels(points, state, penalties, sigma, seed=0):
    """The sample after 100 sweeps, as identities; new clusters are numbered as they appear."""
    prior = tied_prior(state, penalties, sigma)
    found = gibbs(points, prior, n_samples=1, burn_in=100, seed=seed)
    return np.append(state.ids, state.next_id + np.arange(len(points)))[found.labels[0]]


def numbered_by_appearance(labels, next_id):
    names = {}
    return np.array(
        [k if k < next_id else next_id + names.setdefault(k, len(names)) for k in labels.tolist()]
    )


def agreement(stream, sigma, revival):
    """Share of points with the label of Dynamic Means, from the same state in the same order."""
    state, shares = ClusterState.empty(2), []
    for points in stream.batches:
        in_order = [np.arange(len(points))]
        after, clustering = step(points, state, STREAM.with_revival(revival), orders=in_order)
        found = gibbs_labels(points, state, STREAM, sigma)
        expected = numbered_by_appearance(clustering.labels, state.next_id)
        shares.append(np.mean(found == expected))
        state = after
    return float(np.mean(shares))


def remembered(w):
    return ClusterState([0], [[0.0]], [w], [2.0], next_id=1, n_steps=3)


def test_mixture_is_tied_to_its_noise_by_equation_4():
    sigma = 0.05
    tied = low_variance_mixture(REVIVAL, sigma, 1, prior_mean=0.5, prior_variance=RHO)
    assert tied.concentration == pytest.approx(np.sqrt(1 + RHO / sigma) * np.exp(-1 / (2 * sigma)))
    assert tied.survival == pytest.approx(np.exp(-0.3 / (2 * sigma)))
    assert tied.motion_variance == pytest.approx(0.5 * sigma)


def test_logarithms_stay_where_alpha_and_q_are_below_the_smallest_double():
    tied = low_variance_mixture(Penalties(0.04, max_gap=6.8, reach=1.01), 2e-5, 2)
    assert tied.concentration == 0.0
    prior = tied_prior(remembered(4.0), REVIVAL, 1e-5)
    assert np.isfinite(prior.log_weights).all()
    # alpha_t adds the factor (1 - q^t) / (1 - q), which tends to 1.
    assert prior.log_new_weight == pytest.approx(0.5 * np.log1p(1e5) - 1 / 2e-5)


def test_mixture_of_the_limit_fits_a_stream():
    tied = low_variance_mixture(STREAM, 1e-6, 2, prior_mean=0.5)
    model = DDPMixture("gibbs", parameters=tied, n_samples=5, burn_in=20, random_state=0)
    batches = [[[0.0, 0.0], [0.05, 0.0], [0.5, 0.5]], [[0.55, 0.5], [0.02, 0.0]]]
    labels, _ = model.fit_sequence(batches)
    assert [found.tolist() for found in labels] == [[0, 0, 1], [1, 0]]


@pytest.mark.parametrize("w", [1.0, 4.0])
@pytest.mark.parametrize("distance", np.linspace(0.05, 2.0, 14))
def test_equation_3_as_printed_has_equation_5_as_its_limit(w, distance):
    points, state = np.array([[distance]]), remembered(w)
    _, expected = step(points, state, REVIVAL, orders=[[0]])
    prior = tied_prior(state, REVIVAL, 1e-6, revival="paper")
    found = list(islice(plain_gibbs(points, prior, np.random.default_rng(0)), 20))
    assert found[-1].tolist() == expected.labels.tolist()


@pytest.mark.parametrize("w", [1.0, 4.0, 1e9])
@pytest.mark.parametrize("distance", np.linspace(0.05, 2.0, 14))
def test_one_point_chooses_as_dynamic_means_does(w, distance):
    points = np.array([[distance]])
    _, expected = step(points, remembered(w), REVIVAL.with_revival("exact"), orders=[[0]])
    found = gibbs_labels(points, remembered(w), REVIVAL, sigma=1e-6)
    np.testing.assert_array_equal(found, expected.labels)


@pytest.mark.parametrize("distance", np.linspace(0.05, 2.0, 14))
def test_one_point_chooses_by_equation_5_where_the_old_position_is_known(distance):
    points = np.array([[distance]])
    _, expected = step(points, remembered(1e9), REVIVAL, orders=[[0]])
    found = gibbs_labels(points, remembered(1e9), REVIVAL, sigma=1e-6)
    np.testing.assert_array_equal(found, expected.labels)


@pytest.mark.parametrize(("revival", "seed"), [("exact", 3), ("exact", 5), ("paper", 3)])
def test_labels_of_a_stream_approach_those_of_dynamic_means(revival, seed):
    rng = np.random.default_rng(seed)
    stream = moving_gaussians(n_steps=15, n_clusters=4, vanish=0.2, rng=rng)
    shares = [agreement(stream, sigma, revival) for sigma in (1e-2, 1e-3, 1e-5, 1e-8)]
    assert shares == sorted(shares)
    assert shares[0] < 0.9
    assert shares[-1] == 1.0


def test_gibbs_lets_a_lone_point_go_where_dynamic_means_keeps_it():
    # 1.05 opens a cluster at squared distance 1.1 from 0; then 0.5 joins 0, whose center moves to
    # 0.25, at squared distance 0.64 < lambda. Gibbs weighs a point without itself; Dynamic Means
    # leaves it with its own center, at distance 0.
    points, state = np.array([[0.0], [1.05], [0.5]]), ClusterState.empty(1)
    penalties = Penalties(1.0, revival_penalty=0.3, drift=0.5)
    _, expected = step(points, state, penalties, orders=[[0, 1, 2]])
    assert expected.labels.tolist() == [0, 1, 0]
    assert gibbs_labels(points, state, penalties, sigma=1e-6).tolist() == [0, 0, 0]
