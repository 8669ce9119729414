import numpy as np

from dynmeans import DDPMixture
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.metrics import accuracy_frozen, accuracy_per_step
from paper.handicap import ClosestToTruth

TRUTH = [np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])]


def test_first_batch_scores_the_best_match():
    closest = ClosestToTruth(TRUTH)
    samples = np.array([[7, 7, 7, 7], [7, 7, 8, 8], [8, 8, 8, 7]])
    assert closest(samples).tolist() == [0.5, 1.0, 0.75]


def test_match_of_the_sample_carried_on_stays():
    closest = ClosestToTruth(TRUTH)
    closest(np.array([[7, 7, 8, 8]]))
    # The two names have changed places; only a new name for neither is free.
    assert closest(np.array([[8, 8, 7, 7], [7, 7, 9, 9], [7, 7, 8, 7]])).tolist() == [0, 0.5, 0.75]


def test_labels_that_share_no_points_are_not_matched():
    closest = ClosestToTruth(TRUTH)
    closest(np.array([[7, 7, 7, 7], [8, 7, 8, 7]]))  # the first is carried on: 7 stands for 0
    assert closest(np.array([[8, 8, 9, 9]])).tolist() == [0.5]


def test_without_tracking_every_batch_is_matched_anew():
    closest = ClosestToTruth(TRUTH, is_tracking=False)
    closest(np.array([[7, 7, 8, 8]]))
    assert closest(np.array([[8, 8, 7, 7], [7, 7, 7, 7]])).tolist() == [1.0, 0.5]


def test_labels_count_by_their_confidence():
    closest = ClosestToTruth([np.array([0, 0, 1])], weights=[np.array([0.5, 0.5, 3.0])])
    # 7 stands for 1 in the first sample: 3 of 4; in the second also for one point of 0: 3.5 of 4.
    assert closest(np.array([[7, 7, 7], [7, 8, 9]])).tolist() == [0.75, 0.875]


def test_share_of_samples_as_good_as_the_best_is_told():
    closest = ClosestToTruth(TRUTH)
    closest(np.array([[7, 7, 8, 8], [9, 9, 3, 3], [7, 7, 7, 7], [7, 7, 7, 8]]))
    assert closest.tied == [0.5]


def test_score_carried_on_is_the_frozen_accuracy():
    stream = moving_gaussians(12, 4, rng=np.random.default_rng(3))
    closest = ClosestToTruth(stream.labels)
    model = DDPMixture("gibbs", n_samples=10, burn_in=0, carried_sample=closest, random_state=0)
    labels, _ = model.set_params(noise_variance=0.0025, motion_variance=0.0025).fit_sequence(
        stream.batches
    )
    expected = accuracy_frozen(stream.labels, labels)
    np.testing.assert_allclose(np.mean(closest.scores), expected, rtol=1e-12)


def test_score_without_tracking_is_the_accuracy_per_step():
    stream = moving_gaussians(6, 4, rng=np.random.default_rng(3))
    closest = ClosestToTruth(stream.labels, is_tracking=False)
    model = DDPMixture("particle", n_particles=10, carried_sample=closest, random_state=0)
    labels, _ = model.fit_sequence(stream.batches)
    expected = accuracy_per_step(stream.labels, labels)
    np.testing.assert_allclose(np.mean(closest.scores), expected, rtol=1e-12)


def test_time_of_ranking_is_measured():
    closest = ClosestToTruth(TRUTH)
    closest(np.array([[7, 7, 8, 8]] * 1000))
    assert closest.seconds > 0
