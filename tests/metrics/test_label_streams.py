"""Clusters and overlaps, counted by hand."""

import numpy as np
import pytest

from dynmeans.metrics.label_streams import read_label_streams

TRUE = [[10, 10, 20], [], [20, 20, 20, 10]]
FOUND = [[1, 2, 2], [], [1, 1, -1, -1]]


def test_clusters_are_listed_by_step_and_identity():
    true = read_label_streams(TRUE, FOUND).true
    assert true.steps.tolist() == [0, 0, 2, 2]
    assert true.ids.tolist() == [0, 1, 0, 1]
    assert true.sizes.tolist() == [2, 1, 1, 3]
    assert true.starts.tolist() == [0, 2, 2, 4]


def test_points_in_no_cluster_are_in_no_found_cluster():
    found = read_label_streams(TRUE, FOUND).found
    assert found.steps.tolist() == [0, 0, 2]
    assert found.ids.tolist() == [0, 1, 0]
    assert found.sizes.tolist() == [1, 2, 2]


def test_pairs_are_the_clusters_that_share_points_in_a_step():
    streams = read_label_streams(TRUE, FOUND)
    assert streams.pair_true.tolist() == [0, 0, 1, 3]
    assert streams.pair_found.tolist() == [0, 1, 1, 2]
    assert streams.overlaps.tolist() == [1, 1, 1, 2]


def test_links_are_pairs_of_identities_whatever_the_step():
    streams = read_label_streams(TRUE, FOUND)
    linked = zip(
        streams.link_true[streams.pair_links], streams.link_found[streams.pair_links], strict=True
    )
    assert list(linked) == [(0, 0), (0, 1), (1, 1), (1, 0)]


def test_similarity_is_points_in_both_divided_by_points_in_either():
    # {a, b} and {a}: 1/2; {a, b} and {b, c}: 1/3; {c} and {b, c}: 1/2; {d, e, f} and {d, e}: 2/3
    streams = read_label_streams(TRUE, FOUND)
    np.testing.assert_allclose(streams.similarities(), [1 / 2, 1 / 3, 1 / 2, 2 / 3], rtol=1e-15)


def test_weights_are_summed_instead_of_points():
    # Weights 1, 2 in {a, b} and 4 in {c}; found {a} and {b, c}, scaled by a power of two.
    streams = read_label_streams([[0, 0, 1]], [[5, 6, 6]], [[1, 2, 4]])
    np.testing.assert_array_equal(streams.overlaps / streams.overlaps[0], [1, 2, 4])
    np.testing.assert_allclose(streams.similarities(), [1 / 3, 2 / 7, 4 / 6], rtol=1e-15)


def test_steps_hold_their_own_pairs_and_places():
    _, empty, last = read_label_streams(TRUE, FOUND).each_step()
    assert len(empty.true_ids) == len(empty.rows) == 0
    assert (last.true_ids.tolist(), last.found_ids.tolist()) == ([0, 1], [0])
    assert (last.rows.tolist(), last.cols.tolist(), last.pairs) == ([1], [0], slice(3, 4))


@pytest.mark.parametrize("seed", range(10))
def test_similarity_never_exceeds_one_with_uneven_weights(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=50)
    weights = 10.0 ** rng.uniform(-18, 18, size=50)
    assert read_label_streams([labels], [labels], [weights]).similarities().max() <= 1.0
