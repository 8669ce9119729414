"""The model: priors, posteriors and what is carried over, worked by hand or enumerated."""

from dataclasses import replace

import numpy as np
import pytest
from labelings import (
    FIRST,
    FIRST_LABELS,
    SECOND,
    TINY,
    all_labelings,
    empty,
    log_weight,
    second_step_olds,
)
from scipy.special import logsumexp

from dynmeans import DDPMixture
from dynmeans.mixture.model import (
    batch_prior,
    carry_over,
    center_posteriors,
    log_first_densities,
    log_new_weight,
)
from dynmeans.records.mixture import MixtureParameters, MixtureState
from paper.label_mass import log_label_mass


def after_first_step():
    prior = batch_prior(empty(), TINY)
    return carry_over(empty(), center_posteriors(FIRST, FIRST_LABELS, prior), TINY, 1.0)


def test_new_weight_is_the_sum_of_what_every_past_step_added_and_is_left():
    # 2 (1 + 0.5 + 0.25)
    parameters = MixtureParameters(concentration=2.0, survival=0.5)
    assert np.exp(log_new_weight(parameters, 3)) == pytest.approx(3.5, rel=1e-14)


def test_new_weight_of_a_nearly_certain_survival_counts_the_steps():
    parameters = MixtureParameters(survival=1 - 1e-12)
    assert np.exp(log_new_weight(parameters, 5)) == pytest.approx(5.0, rel=1e-4)


def test_first_point_of_an_old_cluster_has_the_faded_weight_and_the_widened_density():
    # q^dt c = 0.5^2 * 8 = 2; variance 0.5 + 2 * 0.25 + sigma 1 = 2;
    # N(1 | 0, 2) = exp(-1/4) / sqrt(4 pi)
    state = MixtureState([3], [8.0], [[0.0]], [0.5], [2.0], next_id=4, n_steps=3, time=3.0)
    parameters = MixtureParameters(survival=0.5, motion_variance=0.25)
    found = log_first_densities(np.array([[1.0]]), batch_prior(state, parameters))
    assert np.exp(found[0, 0]) == pytest.approx(2 * np.exp(-0.25) / np.sqrt(4 * np.pi), rel=1e-13)


def test_elapsed_time_takes_the_place_of_one_step():
    # age 2 and 3.5 steps of time: dt = 2 - 1 + 3.5
    state = MixtureState([0], [1.0], [[0.0]], [0.5], [2.0], next_id=1, n_steps=2, time=2.0)
    prior = batch_prior(state, MixtureParameters(motion_variance=2.0, survival=0.5), elapsed=3.5)
    assert prior.variances[0] == 0.5 + 2.0 * 4.5
    assert prior.log_weights[0] == pytest.approx(4.5 * np.log(0.5))


def test_center_posterior_of_a_new_cluster():
    # sigma_post = 1 / (1/4 + 2/1) = 4/9; theta_post = 4/9 (1/4 + 3 + 5) = 11/3
    parameters = MixtureParameters(prior_mean=1.0, prior_variance=4.0)
    prior = batch_prior(MixtureState.empty(1), parameters)
    n, means, variances = center_posteriors(np.array([[3.0], [5.0]]), np.array([0, 0]), prior)
    assert n.tolist() == [2.0]
    assert means[0, 0] == pytest.approx(11 / 3, rel=1e-14)
    assert variances[0] == pytest.approx(4 / 9, rel=1e-14)


def test_two_steps_carry_what_gaussian_conditioning_gives():
    prior = batch_prior(after_first_step(), TINY)
    for k, old in enumerate(second_step_olds()):
        assert prior.past_counts[k] == old.count
        np.testing.assert_allclose(prior.means[k], old.mean, rtol=1e-12)
        assert prior.variances[k] == pytest.approx(old.variance, rel=1e-12)
        assert np.exp(prior.log_weights[k]) == pytest.approx(0.4 * old.count, rel=1e-12)


def test_unseen_cluster_stays_as_it_was_and_ages():
    before = after_first_step()
    prior = batch_prior(before, TINY, elapsed=2.0)
    seen = center_posteriors(SECOND[:1], np.array([0]), prior)
    after = carry_over(before, seen, TINY, 2.0)
    assert after.counts.tolist() == [4.0, 1.0]
    assert after.last_counts.tolist() == [1.0, 1.0]
    assert after.ages.tolist() == [1.0, 3.0]
    np.testing.assert_array_equal(after.centers[1], before.centers[1])
    assert after.variances[1] == before.variances[1]
    assert (after.n_steps, after.time, after.next_id) == (2, 3.0, 2)


def test_new_clusters_get_the_next_identities():
    before = after_first_step()
    seen = center_posteriors(SECOND[:2], np.array([2, 3]), batch_prior(before, TINY))
    after = carry_over(before, seen, TINY, 1.0)
    assert after.ids.tolist() == [0, 1, 2, 3]
    assert after.next_id == 4


@pytest.mark.parametrize(("age", "is_kept"), [(10.0, True), (11.0, False)])
def test_cluster_is_forgotten_once_its_odds_where_last_seen_are_negligible(age, is_kept):
    # With v = xi = 0 or nearly, and theta_old = phi, the odds at the next batch are
    # q^dt c sqrt((sigma + rho) / sigma) / alpha_t = 0.1^dt * sqrt(2) / 1.11, dt = age + 1:
    # 1.27e-11 c and 1.27e-12 c for dt = 11 and 12; c = 0.5 puts the limit 1e-12 between them.
    parameters = MixtureParameters(survival=0.1, motion_variance=1e-12)
    state = MixtureState([0], [0.5], [[0.0]], [1e-12], [age], next_id=1, n_steps=1, time=1.0)
    nothing = (np.zeros(1), state.centers, state.variances)
    assert carry_over(state, nothing, parameters, 1.0).n_clusters == is_kept


@pytest.mark.parametrize(("elapsed", "is_kept"), [(1.0, False), (0.5, True)])
def test_where_batches_come_quickly_the_next_may_come_at_once(elapsed, is_kept):
    # As above, with age 12 after the batch: one step on dt is 12, and the odds are below 1e-12; at
    # once it is 11, and they are above.
    parameters = MixtureParameters(survival=0.1, motion_variance=1e-12)
    state = MixtureState(
        [0], [0.5], [[0.0]], [1e-12], [12.0 - elapsed], next_id=1, n_steps=1, time=1.0
    )
    nothing = (np.zeros(1), state.centers, state.variances)
    assert carry_over(state, nothing, parameters, elapsed).n_clusters == is_kept


def test_what_is_said_of_an_unseen_cluster_is_not_carried_over():
    before = after_first_step()
    seen = (np.array([1.0, 0.0]), before.centers + 5.0, before.variances * 2)
    after = carry_over(before, seen, TINY, 1.0)
    np.testing.assert_array_equal(after.centers[1], before.centers[1])
    np.testing.assert_array_equal(after.centers[0], before.centers[0] + 5.0)


def test_cluster_seen_in_the_batch_is_kept_however_small_its_odds():
    parameters = MixtureParameters(survival=1e-30)
    prior = batch_prior(MixtureState.empty(1), parameters)
    seen = center_posteriors(np.zeros((1, 1)), np.array([0]), prior)
    assert carry_over(MixtureState.empty(1), seen, parameters, 1.0).n_clusters == 1


def test_label_mass_is_the_sum_over_all_labelings():
    prior = batch_prior(after_first_step(), TINY)
    olds = second_step_olds()
    logs = [log_weight(z, olds, 0.7 * 1.4, 0.4) for z in all_labelings(5, 2)]
    assert log_label_mass(prior, 5) == pytest.approx(logsumexp(logs), rel=1e-12)


def test_points_that_would_overflow_are_refused():
    prior = batch_prior(MixtureState.empty(1), MixtureParameters(noise_variance=1e-100))
    with pytest.raises(ValueError, match=r"noise_variance must be larger .*got 1e-100"):
        prior.arrays(np.array([[1e149]]))


def test_logarithms_take_the_place_of_the_parameters():
    given = MixtureParameters(concentration=2.0, survival=0.25)
    logs = MixtureParameters(log_concentration=np.log(2.0), log_survival=np.log(0.25))
    assert logs.concentration == pytest.approx(given.concentration)
    assert logs.log_survival == pytest.approx(given.log_survival)
    with pytest.raises(ValueError, match="survival must be less than 1"):
        MixtureParameters(log_survival=0.1)
    with pytest.raises(ValueError, match=r"log_survival must be the logarithm of survival, 0\.5"):
        replace(given, survival=0.5)


@pytest.mark.parametrize(("revival", "expected"), [("exact", 0.767), ("paper", 0.426)])
def test_first_point_sees_an_old_position_as_uncertain_or_known(revival, expected):
    # Old: 0.5 N(0.45 | 0, 0.03) = 0.0394, or with its own variance, 0.01, left out 0.0089.
    # New: 1.5 N(0.45 | 0, 2500) = 0.0120.
    model = DDPMixture(
        noise_variance=0.01,
        motion_variance=0.01,
        prior_variance=2500.0,
        revival=revival,
        n_samples=4000,
        thin=1,
        random_state=0,
    )
    model.partial_fit([[0.0]]).partial_fit([[0.45]])
    assert abs(np.mean(model.samples_ == 0) - expected) < 0.03  # four standard errors


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"revival": "printed"}, "revival must be one of paper, exact, got 'printed'"),
        ({"revival": "paper", "inference": "particle"}, "unless inference is 'gibbs'"),
    ],
)
def test_revival_that_cannot_be_sampled_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        DDPMixture(**changes).fit([[0.0]])
