"""Any clusterer followed: its clusters matched one to one to those remembered, for life."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans

from dynmeans import DynamicMeans, Memory, Run, cluster
from dynmeans.follow.model_config import ModelConfig
from dynmeans.inputs.input_error import InputError
from dynmeans.metrics import accuracy_global
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window

PLACES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])


def batch(rng, places, n_points=30):
    return np.repeat(places, n_points, axis=0) + rng.normal(
        scale=0.3, size=(len(places) * n_points, 2)
    )


def bar_arc_and_blobs(rng, t, n=300):
    """Shapes that no center describes, and noise among them."""
    angles = rng.uniform(0.2, np.pi - 0.2, n)
    parts = [
        np.column_stack([rng.uniform(-6, 6, n), rng.normal(-5, 0.1, n)]),
        np.column_stack([6 * np.cos(angles), 6 * np.sin(angles) + rng.normal(0, 0.1, n)]),
        rng.normal([-2.5, 0], 0.3, (n, 2)),
        rng.normal([2.5, 0], 0.3, (n, 2)),
        rng.uniform(-8, 8, (30, 2)),
    ]
    truth = np.repeat([0, 1, 2, 3, -1], [n, n, n, n, 30])
    return np.concatenate(parts) + 0.05 * t, truth


@pytest.mark.parametrize(
    "method",
    [KMeans(3, n_init=3, random_state=0), DBSCAN(1.0), "hdbscan", "dbscan(eps=1.0)"],
    ids=str,
)
def test_clusters_keep_their_identity_while_they_move(method):
    rng = np.random.default_rng(0)
    model = DynamicMeans(method=method)
    found = set()
    for t in range(8):
        labels = model.partial_fit(batch(rng, PLACES + 0.3 * t)).labels_
        found.add(tuple(np.bincount(part[part >= 0]).argmax() for part in np.split(labels, 3)))
    assert len(found) == 1


def test_a_bar_an_arc_and_blobs_keep_their_identities():
    rng = np.random.default_rng(0)
    batches, truth = zip(*[bar_arc_and_blobs(rng, t) for t in range(20)], strict=True)
    model = DynamicMeans(method="hdbscan")
    labels, _ = model.fit_sequence(batches)
    assert accuracy_global(truth, labels) > 0.97


def test_a_cluster_that_was_away_comes_back_under_its_identity():
    rng = np.random.default_rng(1)
    labels, _ = DynamicMeans(method=DBSCAN(1.0)).fit_sequence(
        [batch(rng, PLACES), batch(rng, PLACES[:2]), batch(rng, PLACES[:2]), batch(rng, PLACES)]
    )
    assert labels[3][-1] == labels[0][-1]


def test_noise_is_minus_one_and_a_batch_of_it_lets_time_pass():
    rng = np.random.default_rng(2)
    model = DynamicMeans(method=DBSCAN(1.0)).fit(np.vstack([batch(rng, PLACES), [[5.0, 5.0]]]))
    assert model.labels_[-1] == -1
    assert set(model.labels_[:-1]) == {0, 1, 2}
    assert model.partial_fit([[50.0, 50.0]]).labels_.tolist() == [-1]
    assert model.cluster_ages_.tolist() == [2, 2, 2]
    assert model.predict([[9.0, 1.0]]).tolist() == [1]


def test_two_clusters_of_a_batch_never_share_an_identity():
    model = DynamicMeans(100.0, method="detections")
    model.partial_fit([[0.0], [1.0]])
    assert model.partial_fit([[0.1], [0.2]]).labels_.tolist() == [0, 1]


def test_detections_that_cross_keep_their_course():
    times = np.arange(-10, 11)
    batches = [[[t, 0.5], [-t, -0.5]] for t in times]
    labels, _ = DynamicMeans(9.0, method="detections", motion="constant_velocity").fit_sequence(
        batches
    )
    assert [found.tolist() for found in labels] == [[0, 1]] * len(times)
    still, _ = DynamicMeans(9.0, method="detections", motion="random_walk").fit_sequence(batches)
    assert [found.tolist() for found in still] != [[0, 1]] * len(times)


def test_steady_motion_is_chosen_for_walkers():
    rng = np.random.default_rng(0)
    starts, moves = rng.uniform(0, 30, (12, 2)), rng.normal(0, 0.7, (12, 2))
    batches = [starts + t * moves + rng.normal(0, 0.02, (12, 2)) for t in range(30)]
    model = DynamicMeans(method="detections")
    labels, _ = model.fit_sequence(batches)
    assert model.penalties_.motion == "constant_velocity"
    assert accuracy_global([np.arange(12)] * 30, labels) > 0.95


def test_a_memory_is_continued_label_for_label(tmp_path):
    rng = np.random.default_rng(3)
    batches = [batch(rng, PLACES + 0.2 * t) for t in range(6)]
    whole, _ = DynamicMeans(method="hdbscan", random_state=1).fit_sequence(batches)
    first = DynamicMeans(method="hdbscan", random_state=1)
    first.fit_sequence(batches[:3])
    first.memory_.save(tmp_path / "memory.npz")
    memory = Memory.load(tmp_path / "memory.npz")
    assert memory.method == "hdbscan"
    second = DynamicMeans.from_memory(memory, method="hdbscan")
    for expected, rows in zip(whole[3:], batches[3:], strict=True):
        np.testing.assert_array_equal(second.partial_fit(rows).labels_, expected)
    with pytest.raises(InputError, match="method must be what the memory was made with"):
        DynamicMeans.from_memory(memory).partial_fit(batches[3])


def test_a_run_is_resumed_with_its_method(tmp_path):
    rng = np.random.default_rng(4)
    batches = [batch(rng, PLACES + 0.2 * t) for t in range(5)]
    model_config = ModelConfig(new_penalty=4.0, method=HDBSCAN(min_cluster_size=8))
    config = RunConfig(["x", "y"], model_config)
    assert config.model_config.method == "hdbscan(min_cluster_size=8)"
    Run.create(tmp_path / "one", config).close()
    for rows in batches:
        with Run.open(tmp_path / "one", config) as run:
            run.process(Window(rows))
    with Run.open(tmp_path / "one") as run:
        assert run.config.model_config == model_config
        found = run.labels()["cluster_id"].to_numpy()
    model = DynamicMeans(4.0, method=HDBSCAN(min_cluster_size=8), random_state=0)
    np.testing.assert_array_equal(found, np.concatenate(model.fit_sequence(batches)[0]))


def test_one_call_takes_a_method():
    rng = np.random.default_rng(5)
    rows, truth = zip(*[bar_arc_and_blobs(rng, t) for t in range(10)], strict=True)
    frame = pd.DataFrame(np.concatenate(rows), columns=["x", "y"]).assign(
        t=np.repeat(np.arange(10), [len(part) for part in rows])
    )
    found = cluster(frame, features=["x", "y"], window_column="t", method="hdbscan")
    labels = np.split(found.labels.to_numpy(), np.cumsum([len(part) for part in rows])[:-1])
    assert accuracy_global(truth, labels) > 0.97
    assert (found.labels == -1).sum() > 10


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("hdbscn", "must be 'dynmeans', 'detections', or a clusterer"),
        ("__import__('os').system('true')", "must be 'dynmeans'"),
        ("kmeans(n_clusters=print)", "must be 'dynmeans'"),
        ("kmeans(n_clusters=[1])", "must be 'dynmeans'"),
        ("kmeans(number=3)", "has no parameter 'number'"),
        ("dbscan(0.3)", "must be 'dynmeans'"),
        (3, "must be the name of a clusterer"),
    ],
)
def test_what_is_no_method_is_refused(value, words):
    with pytest.raises((InputError, TypeError), match=words):
        ModelConfig(method=value)


@pytest.mark.parametrize("field", [{"families": True}, {"n_clusters": 3}, {"search": "deep"}])
def test_fields_that_another_method_has_no_use_for_are_refused(field):
    (name,) = field
    with pytest.raises(InputError, match=f"{name} is not available in method='hdbscan'"):
        ModelConfig(method="hdbscan", **field)


def test_a_clusterer_of_ones_own_is_followed_but_not_stored():
    class Halves:
        def get_params(self, deep=True):
            return {}

        def set_params(self, **_):
            return self

        def fit_predict(self, X):
            return (X[:, 0] > 5).astype(int)

    model_config = ModelConfig(method=Halves())
    labels, _ = DynamicMeans(method=Halves()).fit_sequence([PLACES, PLACES + 0.1])
    assert [found.tolist() for found in labels] == [[0, 1, 0]] * 2
    with pytest.raises(InputError, match="to be stored"):
        model_config.to_json()


def test_a_batch_too_small_for_the_clusterer_stops_nothing():
    rng = np.random.default_rng(6)
    for method, expected in (("hdbscan", [-1, -1]), ("kmeans(n_clusters=3)", [0, 1])):
        model = DynamicMeans(1.0, method=method, random_state=0).fit(batch(rng, PLACES))
        labels = model.partial_fit([PLACES[0], PLACES[1]]).labels_
        assert len(set(labels.tolist())) == len(set(expected))
        assert (labels < 0).tolist() == [k < 0 for k in expected]


def test_rows_of_weight_0_take_no_part_and_other_weights_need_a_clusterer_that_takes_them():
    rng = np.random.default_rng(7)
    rows = np.vstack([batch(rng, PLACES), [[0.0, 0.0]]])
    weights = np.append(np.ones(90), 0.0)
    model = DynamicMeans(1.0, method="hdbscan").partial_fit(rows, sample_weight=weights)
    assert model.labels_[-1] == -1
    with pytest.raises(InputError, match=r"does not support row weights\. Omit weight"):
        DynamicMeans(1.0, method="hdbscan").partial_fit(rows, sample_weight=2 * weights)
    model = DynamicMeans(1.0, method="dbscan(eps=1.0)").partial_fit(rows, sample_weight=2 * weights)
    assert set(model.labels_[:-1].tolist()) == {0, 1, 2}


def test_the_clusterer_that_was_given_is_not_fitted():
    clusterer = KMeans(3, n_init=1, random_state=0)
    DynamicMeans(method=clusterer).fit(batch(np.random.default_rng(8), PLACES))
    assert not hasattr(clusterer, "labels_")
