"""One batch of one cluster: lambda holds it together and lets the next cluster open its own."""

import numpy as np
import pytest

from dynmeans import DynamicMeans


def one_cloud(rng, place, n_outliers=6):
    cloud = np.array([place, 0.5]) + rng.normal(0, 0.02, (200 - n_outliers, 2))
    return np.concatenate([cloud, rng.uniform(size=(n_outliers, 2))])


@pytest.mark.filterwarnings("ignore::dynmeans.records.suggestion.SuggestionWarning")
@pytest.mark.parametrize("seed", range(6))
def test_a_second_cluster_after_one_with_outliers_gets_its_own_name(seed):
    rng = np.random.default_rng(seed)
    model = DynamicMeans(families=True, random_state=seed)
    names = [model.partial_fit(one_cloud(rng, 0.4)).family_labels_ for _ in range(4)]
    names += [model.partial_fit(one_cloud(rng, 0.6)).family_labels_ for _ in range(4)]
    first, second = (np.concatenate([one[:194] for one in part]) for part in (names[:4], names[4:]))
    for part in (first, second):
        _, counts = np.unique(part, return_counts=True)
        assert counts.max() > 0.98 * len(part)
    assert np.bincount(first[first >= 0]).argmax() != np.bincount(second[second >= 0]).argmax()


@pytest.mark.filterwarnings("ignore::dynmeans.records.suggestion.SuggestionWarning")
def test_lambda_of_a_cloud_does_not_depend_on_how_far_its_outliers_are():
    rng = np.random.default_rng(0)
    cloud = rng.normal(0, 0.02, (194, 2))
    found = []
    for distance in (1.0, 30.0):
        outliers = distance * np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1]])
        model = DynamicMeans(families=True, random_state=0)
        model.partial_fit(np.concatenate([cloud, outliers]))
        found.append(model.penalties_.new_penalty)
    assert found[0] == pytest.approx(found[1])
    assert found[0] < 10 * np.max(np.sum(cloud**2, axis=1))
