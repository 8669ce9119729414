"""What people ask of an answer: its levels, its rows, new rows, and pictures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest

import dynmeans
from dynmeans.parameters import SuggestionWarning

# Numbers that the rows do not speak for are asked for here.
pytestmark = pytest.mark.filterwarnings("ignore::dynmeans.records.suggestion.SuggestionWarning")

COLUMNS = {"features": ["x", "y"], "window_column": "w"}
PLACES = np.array([[0, 0], [8, 0], [0, 8], [8, 8], [20, 20], [21.5, 20]])


@pytest.fixture(scope="module")
def frame():
    """Five clusters, one of two parts, in 20 windows of 60 rows, and 60 rows anywhere."""
    rng = np.random.default_rng(0)
    rows = np.tile(PLACES, (200, 1)) + rng.normal(0, 0.5, (1200, 2))
    windows = np.r_[np.repeat(np.arange(20), 60), rng.integers(0, 20, 60)]
    points = np.vstack([rows, rng.uniform(-60, 60, (60, 2))])
    made = pd.DataFrame(points, columns=["x", "y"]).assign(w=windows)
    return made.sort_values("w", kind="stable").reset_index(drop=True)


@pytest.fixture(scope="module")
def found(frame):
    return dynmeans.cluster(frame, **COLUMNS)


def near(frame, place):
    return np.hypot(*(frame[["x", "y"]] - place).to_numpy().T) < 3


def test_new_rows_get_the_cluster_that_they_would_join(frame, found):
    last = frame[frame["w"] == 19]
    np.testing.assert_array_equal(found.predict(last), found.labels[last.index])
    here, far = found.predict(np.array([[0.0, 0.0], [900.0, 900.0]]))
    assert here == found.labels[near(frame, PLACES[0])].mode()[0]
    assert far == -1


def test_new_rows_get_the_joined_cluster_and_not_its_subcluster(frame):
    fine = dynmeans.cluster(frame, n_clusters=10, **COLUMNS)
    last = frame[frame["w"] == 19]
    assert fine.levels["fine"].n_clusters > fine.levels["default"].n_clusters
    np.testing.assert_array_equal(fine.predict(last), fine.labels[last.index])


def test_new_texts_and_vectors_get_a_cluster_too():
    texts = ["ship cargo harbor dock", "market stock rates fall"] * 50
    rows = pd.DataFrame({"text": texts, "w": np.repeat(np.arange(5), 20)})
    found = dynmeans.cluster(rows, text="text", window_column="w")
    assert found.predict(["cargo ship", "stock market"]).tolist() == found.labels[:2].tolist()
    assert found.predict(rows[:2]).tolist() == found.labels[:2].tolist()
    vectors = np.random.default_rng(0).normal(size=(100, 8)) + 3 * np.tile([[1], [-1]], (50, 1))
    found = dynmeans.cluster(rows[["w"]], features=vectors, window_column="w")
    assert found.predict(vectors[:2]).tolist() == found.labels[:2].tolist()


def test_distances_are_those_to_the_center_of_the_subcluster(frame, found):
    centers = found.subclusters.set_index("cluster_id")[["center_x", "center_y"]]
    last = frame[frame["w"] == 19]
    away = last[["x", "y"]].to_numpy() - centers.loc[found.subcluster_labels[last.index]].to_numpy()
    np.testing.assert_allclose(found.distances[last.index], np.hypot(*away.T))


def test_confidence_is_one_at_the_center_and_zero_for_noise(frame, found):
    confidence = found.confidence
    assert confidence.between(0, 1).all()
    assert confidence.index.equals(frame.index)
    assert (confidence[found.labels < 0] == 0).all()
    assert confidence[near(frame, PLACES[0])].median() > 0.8


def test_confidence_compares_the_own_center_with_the_next():
    rows = pd.DataFrame({"x": [0.0, 0.0, 3.0, 9.0, 10.0, 11.0], "w": 0})
    found = dynmeans.cluster(rows, features=["x"], window_column="w", penalties=20.0)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]
    np.testing.assert_allclose(found.confidence[[0, 2]], [1 - 1 / 10, 1 - 2 / 7])


def test_rows_left_out_have_neither_distance_nor_confidence(frame):
    lacking = frame.copy()
    lacking.loc[3, "x"] = np.nan
    with pytest.warns(dynmeans.DroppedRowsWarning):
        found = dynmeans.cluster(lacking, **COLUMNS)
    assert np.flatnonzero(found.confidence.isna()).tolist() == [3]
    assert np.flatnonzero(found.distances.isna()).tolist() == [3]
    assert len(found.examples(found.labels[0])) == 10


@pytest.mark.parametrize("library", [pd, pl])
def test_examples_are_typical_rows_then_those_at_the_border(frame, library):
    given = frame if library is pd else pl.from_pandas(frame)
    found = dynmeans.cluster(given, **COLUMNS)
    cluster = int(found.labels[0])
    examples = found.examples(cluster, 3)
    assert isinstance(examples, library.DataFrame)
    assert list(examples["kind"]) == ["typical"] * 3 + ["border"] * 3
    assert examples["confidence"][0] > examples["confidence"][3]
    rows = np.array(examples["row"])
    assert (np.asarray(found.labels)[rows] == cluster).all()
    np.testing.assert_array_equal(frame["x"][rows], examples["x"])


def test_examples_of_a_cluster_without_rows_are_refused(found):
    with pytest.raises(ValueError, match="there is no row of cluster 4000"):
        found.examples(4000)


def test_small_clusters_are_noise_in_every_view_until_they_are_pinned(frame, found, tmp_path):
    least = dynmeans.cluster(frame, min_cluster_size=100, **COLUMNS)
    shown = np.unique(least.labels[least.labels >= 0])
    assert len(shown) == len(least.clusters) == least.status.n_clusters_total == 5
    assert least.status.n_unconfirmed == found.status.n_clusters_total - 5
    assert f"{least.status.n_unconfirmed} clusters unconfirmed" in str(least)
    assert {k for record in least.history for k in record.ids} == set(shown)
    written = pd.read_csv(least.write_labels(tmp_path / "rows.csv"))
    np.testing.assert_array_equal(written["cluster_id"], least.labels)
    small = found.clusters.set_index("cluster_id")["n_points"].idxmin()
    with least.open_run() as run:
        run.pin_cluster(int(small))
        assert small in set(run.clusters()["cluster_id"])


def test_clusters_that_are_seen_seldom_are_noise_too(frame):
    found = dynmeans.cluster(frame, min_batches=15, **COLUMNS)
    assert len(found.clusters) == 5


def test_a_level_is_chosen_and_stays(frame, tmp_path):
    found = dynmeans.cluster(frame, run_folder=tmp_path / "run", **COLUMNS)
    assert list(found.levels) == ["fine", "default", "coarse"]
    assert found.levels["default"].is_chosen
    assert all(level.picture.startswith("<svg") for level in found.levels.values())
    found.name_cluster(int(found.labels[0]), "harbor")
    found.choose_level("coarse")
    assert found.labels[found.labels >= 0].nunique() == found.levels["coarse"].n_clusters
    again = dynmeans.cluster(frame, run_folder=tmp_path / "run", **COLUMNS)
    assert again.status.level == "coarse"
    assert "harbor" in set(again.clusters["name"])


def test_clusters_are_merged_and_split_by_hand(frame):
    found = dynmeans.cluster(frame, n_clusters=10, **COLUMNS)
    first, second = found.clusters["cluster_id"][:2].tolist()
    n_rows = int(found.labels.isin([first, second]).sum())
    found.merge(first, second)
    assert int((found.labels == first).sum()) == n_rows
    found.split(first)
    parts = found.subcluster_labels[found.labels == first]
    assert set(parts) == {first}


def test_a_number_that_is_missed_by_more_than_a_third_is_warned_of(frame):
    with pytest.warns(
        SuggestionWarning, match=r"You requested about 3 .* level='coarse' merges more"
    ):
        found = dynmeans.cluster(frame, n_clusters=3, **COLUMNS)
    assert "You requested about 3 clusters per window" in str(found)


def test_twenty_clusters_never_end_in_one(frame):
    found = dynmeans.cluster(frame, n_clusters=20, **COLUMNS)
    n_seen = np.mean([len(record.ids) for record in found.history])
    assert 15 <= n_seen <= 27


def test_pictures_are_drawn_where_and_as_large_as_asked(found):
    assert found.plot("timeline", figsize=(4, 3)).get_size_inches().tolist() == [4, 3]
    figure, axes = plt.subplots(1, 2)
    assert found.plot(ax=axes[0]) is figure
    assert found.plot("tree", ax=axes[1]) is figure
    assert "families at level" in axes[1].get_title()
    with pytest.raises(ValueError, match="figsize is for a new figure"):
        found.plot(ax=axes[0], figsize=(4, 3))
    plt.close(figure)
    tree, lives = found.plot("tree").axes
    assert tree.get_xlabel() == "level"
    assert lives.get_xlabel() == "time"
