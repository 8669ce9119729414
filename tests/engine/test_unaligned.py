"""Arrays that begin at an odd byte, as those off a network may, are taken like any other."""

import numpy as np
import pytest

from dynmeans import (
    ClusterState,
    DPMeans,
    DynamicMeans,
    Penalties,
    VisitingOrders,
    fit_anytime,
    step,
)

PENALTIES = Penalties(1.0, max_gap=5, reach=1.5)
MODEL = {"new_penalty": 1.0, "max_gap": 5, "reach": 1.5, "random_state": 0}


def _shifted(array):
    """The same values, one byte beside where they should be."""
    memory = np.zeros(array.nbytes + 1, np.uint8)
    found = memory[1:].view(array.dtype).reshape(array.shape)
    found[...] = array
    assert not found.flags.aligned
    return found


POINTS = np.random.default_rng(0).normal(size=(300, 2))
WEIGHTS = np.random.default_rng(1).uniform(size=300)


def _partial_fit(points, weights):
    return DynamicMeans(**MODEL).partial_fit(points, sample_weight=weights).labels_


def _predict(points, weights):
    return DynamicMeans(**MODEL).partial_fit(POINTS).predict(points)


def _transform(points, weights):
    return DynamicMeans(**MODEL).partial_fit(POINTS).transform(points)


def _fit_sequence(points, weights):
    return DynamicMeans(**MODEL).fit_sequence([points, points])[0][1]


def _dp_means(points, weights):
    return DPMeans(new_penalty=1.0, random_state=0).fit(points, sample_weight=weights).labels_


def _step(points, weights):
    start, orders = ClusterState.empty(2), VisitingOrders(0)
    return step(points, start, PENALTIES, orders=orders, sample_weight=weights)[1].labels


def _anytime(points, weights):
    options = {"new_penalty": 1.0, "batch_size": 100, "max_batches": 2, "random_state": 0}
    return fit_anytime(iter([points[:150], points[150:]]), **options).centers


WAYS = [_partial_fit, _predict, _transform, _fit_sequence, _dp_means, _step, _anytime]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_an_array_at_an_odd_byte_gives_the_same(way, dtype):
    points = POINTS.astype(dtype)
    np.testing.assert_array_equal(way(_shifted(points), _shifted(WEIGHTS)), way(points, WEIGHTS))
