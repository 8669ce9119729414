"""Which sample is carried on, and what is remembered of it."""

import numpy as np
import pytest

from dynmeans.mixture.carried_sample import choose_sample, identities, read_posterior
from dynmeans.mixture.variational import VariationalPosterior
from dynmeans.records.mixture import MixtureState

LABELS = np.array([[0, 0], [0, 1], [1, 1], [0, 1]])
LOG_POSTERIORS = np.array([-3.0, -1.0, -2.0, -1.0])


@pytest.mark.parametrize(
    ("carry", "chosen"),
    [("best", 1), ("last", 3), (lambda labels: labels.sum(axis=1), 2)],
    ids=["best", "last", "callable"],
)
def test_first_of_the_highest_rank_is_carried(carry, chosen):
    assert choose_sample(carry, LABELS, LOG_POSTERIORS) == chosen


def test_of_equal_ranks_the_most_probable_sample_is_carried():
    assert choose_sample(lambda labels: [1.0] * 4, LABELS, np.array([-3.0, -2.0, -1.0, -1.0])) == 2


def test_ranking_sees_the_most_probable_sample_first():
    seen = []
    choose_sample(lambda z: seen.append(z.tolist()) or [0.0] * 4, LABELS, LOG_POSTERIORS)
    assert seen == [LABELS[[1, 3, 2, 0]].tolist()]


def test_new_slots_get_the_next_identities():
    state = MixtureState([2, 5], [1.0, 1.0], np.zeros((2, 1)), [1.0, 1.0], [1.0, 1.0], next_id=9)
    assert identities(np.array([3, 1, 0, 2]), state).tolist() == [10, 5, 2, 9]


def test_posterior_is_read_by_its_most_probable_components():
    # Two old components and three sticks. Points choose stick 2, old 1, stick 0: old 0 and stick 1
    # are nobody's first choice, and the sticks are numbered as they appear.
    q = VariationalPosterior(
        responsibilities=np.array(
            [
                [0.1, 0.0, 0.0, 0.0, 0.9],
                [0.2, 0.7, 0.0, 0.1, 0.0],
                [0.0, 0.0, 0.8, 0.1, 0.1],
            ]
        ),
        concentrations=np.ones(3),
        stick_heads=np.ones(2),
        stick_tails=np.ones(2),
        means=np.arange(5.0)[:, None],
        variances=np.arange(1.0, 6.0),
        bounds=np.zeros(1),
    )
    labels, (n, means, variances) = read_posterior(q, n_old=2)
    assert labels.tolist() == [2, 1, 3]
    np.testing.assert_allclose(n, [0.0, 0.7, 1.0, 0.8])
    assert means[:, 0].tolist() == [0.0, 1.0, 4.0, 2.0]
    assert variances.tolist() == [1.0, 2.0, 5.0, 3.0]
