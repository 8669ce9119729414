"""One cell of 1e9 decides no scale, blinds no description, and is told."""

import numpy as np
import pandas as pd
import pytest

from dynmeans import DynamicMeans, Run, cluster
from dynmeans.follow.model_config import ModelConfig
from dynmeans.records.suggestion import SuggestionWarning
from dynmeans.runs.analysis.profiles import describe_clusters
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.spaces.standard import Standard


def batches(odd=None, n=12):
    rng = np.random.default_rng(0)
    places = np.repeat([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]], 40, axis=0)
    made = [places + rng.normal(0, 0.5, places.shape) for _ in range(n)]
    if odd is not None:
        made[3][5, 0] = odd
    return made


@pytest.mark.parametrize("space", ["raw", "standard", "auto", "robust"])
def test_one_odd_cell_decides_no_scale_and_is_told(space):
    usual = DynamicMeans(space=space, random_state=0)
    usual.fit_sequence(batches())
    model = DynamicMeans(space=space, random_state=0)
    with pytest.warns(SuggestionWarning, match="1 row of 1,440 is .*outlier.* batch 4"):
        labels, _ = model.fit_sequence(batches(1e9))
    ratio = model.penalties_.new_penalty / usual.penalties_.new_penalty
    assert 0.5 < ratio < 2.0
    assert len(np.unique(np.concatenate(labels))) == 4
    assert np.count_nonzero(labels[3] == labels[3][5]) == 1


def test_a_unit_is_that_of_the_other_values():
    rows = np.concatenate(batches())
    odd = np.concatenate(batches(1e9))
    np.testing.assert_allclose(Standard().fit(odd).spread, Standard().fit(rows).spread, rtol=0.01)
    np.testing.assert_array_equal(Standard().fit(odd[::-1]).spread, Standard().fit(odd).spread)


def test_what_sets_clusters_apart_is_not_blinded(tmp_path):
    with Run.create(tmp_path / "run", RunConfig(["x", "y"], ModelConfig(new_penalty=20.0))) as run:
        run.process([Window(rows) for rows in batches(1e9)])
        found = describe_clusters(run)
    largest = np.argsort(found.n_kept)[-3:]
    assert all(abs(found.largest_differences(row)[0][1]) > 1.0 for row in largest)


def test_noise_belongs_to_no_cluster_that_is_described():
    frame = pd.DataFrame(np.concatenate(batches(500.0)), columns=["x", "y"])
    frame["t"] = np.arange(len(frame)) // 120
    found = cluster(frame, features=["x", "y"], window_column="t", method="dbscan(eps=1.0)")
    assert (found.labels == -1).sum() > 0
    told = found.describe()
    assert told["deviation_x"].max() < 1.0
    assert told["n_kept"].sum() < len(frame)


def test_means_have_the_digits_of_their_deviation(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal([51.507351, 1e5], [2e-4, 900.0], (200, 2))
    with Run.create(
        tmp_path / "run", RunConfig(["lat", "alt"], ModelConfig(new_penalty=1e9))
    ) as run:
        run.process(Window(rows))
        found = describe_clusters(run)
    lat, alt = found.format_values(0, found.means[0])
    assert lat.startswith("51.507")
    assert len(lat.partition(".")[2]) == 5
    assert alt.endswith("0")
    assert "." not in alt


@pytest.mark.parametrize("option", ["truth", "id"])
@pytest.mark.parametrize("empty", [0, 1, 2])
def test_a_window_without_a_single_text_of_a_column_ends_no_run(option, empty):
    texts = ["u", "v", "u", "v", "w", "u"]
    texts[2 * empty : 2 * empty + 2] = [None, None]
    frame = pd.DataFrame({"x": [0.0, 9.0] * 3, "w": list("aabbcc"), "k": texts})
    found = cluster(frame, features="x", window_column="w", new_penalty=1.0, **{option: "k"})
    assert found.labels.tolist() == [0, 1] * 3
