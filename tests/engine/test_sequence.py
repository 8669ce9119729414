"""A sequence in one call: its labels alone are those of its records."""

import numpy as np
import pytest

from dynmeans import Penalties, VisitingOrders
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.engine.batch import Batch
from dynmeans.engine.sequence import label_sequence, step_sequence

BATCHES = moving_gaussians(6, 4, rng=np.random.default_rng(0)).batches
PENALTIES = Penalties(0.04, max_gap=3, reach=1.2)
EMPTY = np.empty((0, 2))


def both(batches, weights, revival, motion="random_walk"):
    rows = [Batch(points, weight) for points, weight in zip(batches, weights, strict=True)]
    penalties = PENALTIES.with_revival(revival).with_motion(motion)
    orders = VisitingOrders(5, n_init=2)
    arguments = (rows, penalties, orders, [1.0] * len(batches))
    return list(step_sequence(*arguments)), label_sequence(*arguments)


@pytest.mark.parametrize("revival", ["paper", "exact"])
@pytest.mark.parametrize("motion", ["random_walk", "constant_velocity"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_labels_alone_are_those_of_the_records(revival, dtype, motion):
    batches = [batch.astype(dtype) for batch in [*BATCHES[:3], EMPTY, *BATCHES[3:]]]
    records, (labels, n_seen, n_clusters_total) = both(batches, [None] * 7, revival, motion)
    np.testing.assert_array_equal(labels, np.concatenate([c.labels for _, c in records]))
    assert n_seen == sum(len(clustering.ids) for _, clustering in records)
    assert n_clusters_total == records[-1][0].next_id


def test_labels_alone_leave_points_of_no_weight_out():
    weights = [np.arange(len(batch)) % 3 / 2 for batch in BATCHES[:-1]]
    records, (labels, _, _) = both(BATCHES, [*weights, None], "paper")
    expected = [c.labels[w > 0] for (_, c), w in zip(records, weights, strict=False)]
    np.testing.assert_array_equal(labels, np.concatenate([*expected, records[-1][1].labels]))
