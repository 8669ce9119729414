"""History: what was recorded can be read, framed, bounded and stored."""

import numpy as np
import pyarrow as pa
import pytest

from dynmeans import Clustering, ClusterState, DynamicMeans, History
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.files.archive import write_archive
from dynmeans.files.history_file import history_parts
from dynmeans.follow.follow import Step
from dynmeans.spaces.raw import RAW

BATCHES = [[[0.0, 0.0], [0.2, 0.0], [9.0, 9.0]], np.empty((0, 2)), [[9.1, 9.0]]]


@pytest.fixture
def history():
    return DynamicMeans(1.0, random_state=0).fit_sequence(BATCHES, elapsed=[1.0, 1.0, 0.5])[1]


def assert_same(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        for name in ("labels", "ids", "counts", "centers", "weights", "ages", "cost_trace"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert (a.step, a.time, a.n_remembered, a.events) == (
            b.step,
            b.time,
            b.n_remembered,
            b.events,
        )


def test_each_batch_is_recorded_with_its_time(history):
    assert [record.step for record in history] == [0, 1, 2]
    assert [record.time for record in history] == [1.0, 2.0, 2.5]
    assert [len(record.labels) for record in history] == [3, 0, 1]


def test_ages_tell_the_time_since_a_cluster_was_seen_and_zero_for_new_ones(history):
    assert history[0].ages.tolist() == [0.0, 0.0]
    assert history[2].ages.tolist() == [1.5]


def test_identities_of_all_batches_are_listed_once(history):
    assert history.cluster_ids.tolist() == [0, 1]


def test_window_keeps_the_last_batches():
    model = DynamicMeans(1.0, keep_history=2, random_state=0)
    for X in BATCHES:
        model.partial_fit(X)
    assert [record.step for record in model.history_] == [1, 2]


def test_history_kept_batch_by_batch_equals_that_of_the_sequence():
    model = DynamicMeans(1.0, keep_history=True, random_state=0)
    for X in BATCHES:
        model.partial_fit(X)
    assert_same(model.history_, DynamicMeans(1.0, random_state=0).fit_sequence(BATCHES)[1])


def test_fit_starts_a_new_history():
    model = DynamicMeans(1.0, keep_history=True, random_state=0)
    for X in (BATCHES[0], BATCHES[0]):
        model.fit(X)
    assert len(model.history_) == 1


def test_no_history_is_kept_unless_asked_for():
    assert not hasattr(DynamicMeans(1.0).fit(BATCHES[0]), "history_")


def test_labels_frame_has_one_row_for_each_point(history):
    frame = history.to_frame("labels")
    assert frame.columns.tolist() == ["step", "time", "row", "cluster_id"]
    assert frame["row"].tolist() == [0, 1, 2, 0]
    assert frame["cluster_id"].tolist() == np.concatenate(history.labels).tolist()


def test_clusters_frame_has_one_row_for_each_cluster_and_batch(history):
    frame = history.to_frame("clusters")
    assert frame["time"].tolist() == [1.0, 1.0, 2.5]
    assert sorted(frame["n_points"].tolist()) == [1.0, 1.0, 2.0]
    assert {"center_0", "center_1", "weight", "age", "cluster_id"} < set(frame.columns)


def test_in_frames_unconfirmed_identities_are_minus_one_or_left_out(history):
    # Identity 0 holds two points in one batch, identity 1 one point in each of two.
    labels = history.to_frame("labels", min_batches=2)["cluster_id"].tolist()
    assert labels == np.concatenate(history.confirmed_labels(min_batches=2)).tolist()
    assert sorted(labels) == [-1, -1, 1, 1]
    assert history.to_frame("clusters", min_batches=2)["cluster_id"].tolist() == [1, 1]
    assert set(history.to_frame("events", min_cluster_size=2, min_batches=2)["cluster_id"]) == {1}
    assert len(history.to_frame("events", min_cluster_size=3)) == 0


def test_events_frame_has_one_row_for_each_event(history):
    frame = history.to_frame("events")
    assert frame["kind"].tolist() == ["born", "born", "vanished", "vanished", "returned"]
    assert frame["gap"].dropna().tolist() == [1.5]


@pytest.mark.parametrize("table", ["labels", "clusters", "events"])
def test_every_view_comes_as_arrow_too(history, table):
    arrow = history.to_frame(table, frame="arrow")
    assert isinstance(arrow, pa.Table)
    assert arrow.num_rows == len(history.to_frame(table))


@pytest.mark.parametrize("table", ["labels", "clusters", "events"])
def test_frames_of_an_empty_history_are_empty(table):
    assert len(History().to_frame(table)) == 0


def test_unknown_view_is_refused_by_name(history):
    with pytest.raises(ValueError, match="table must be one of labels, clusters, events, got 'x'"):
        history.to_frame("x")
    with pytest.raises(ValueError, match="frame must be one of pandas, polars, arrow, got 'x'"):
        history.to_frame(frame="x")


def test_saved_history_loads_to_the_same_bits(tmp_path):
    stream = moving_gaussians(n_steps=12, vanish=0.2, rng=np.random.default_rng(0))
    model = DynamicMeans(0.04, keep_history=8, random_state=0)
    for X in stream.batches:
        model.partial_fit(X)
    model.history_.save(tmp_path / "history.npz")
    loaded = History.load(tmp_path / "history.npz")
    assert loaded.window == 8
    assert_same(loaded, model.history_)


def test_empty_history_can_be_stored(tmp_path, history):
    History().save(tmp_path / "history.npz")
    assert len(History.load(tmp_path / "history.npz")) == 0


def test_history_with_only_empty_batches_can_be_stored(tmp_path):
    _, history = DynamicMeans(1.0).fit_sequence([np.empty((0, 3))])
    history.save(tmp_path / "h")
    assert History.load(tmp_path / "h")[0].centers.shape == (0, 3)


def test_foreign_file_is_refused(tmp_path):
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="is not a dynmeans History file, or it is damaged"):
        History.load(tmp_path / "text")
    ClusterState.empty(2).save(tmp_path / "other")
    with pytest.raises(ValueError, match="holds a 'ClusterState', not a 'History'"):
        History.load(tmp_path / "other")


def test_a_history_with_a_flipped_bit_is_refused_or_the_same(tmp_path, history):
    path = tmp_path / "history.npz"
    history.save(path)
    data = path.read_bytes()
    for place in range(0, len(data), 11):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            loaded = History.load(path)
        except ValueError:
            continue
        assert_same(loaded, history)  # in what only zip keeps, such as dates of members


def forged(path, history, **changes):
    """Write the parts of a history with some changed, and the right checksum."""
    arrays, header = history_parts(history)
    for name, value in changes.items():
        (arrays if isinstance(value, np.ndarray) else header)[name] = value
    write_archive(path, "History", 1, arrays, header)


@pytest.mark.parametrize(
    "changes",
    [
        {"ids": np.array([0])},
        {"centers": np.zeros(2)},
        {"n_labels": np.array([3, 0])},
        {"n_ids": np.array([-1, 3, 1])},
        {"counts": np.empty(0)},
        {"time": np.array([1.0, 1.0, 1.0])},
        {"times": ["today"] * 3, "is_dated": True},
        {"events": [[{"kind": "eaten", "cluster_id": 0}], [], []]},
        {"events": [[{"kind": "born"}], [], []]},
    ],
)
def test_parts_that_no_history_has_are_refused_in_one_line(tmp_path, history, changes):
    path = tmp_path / "history.npz"
    forged(path, history)
    assert_same(History.load(path), history)
    forged(path, history, **changes)
    with pytest.raises(ValueError, match="is not a dynmeans History file, or it is damaged") as e:
        History.load(path)
    assert "\n" not in str(e.value)


def test_failed_save_leaves_the_old_file(tmp_path, history, monkeypatch):
    path = tmp_path / "history.npz"
    history.save(path)

    def fail(*arguments, **options):
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="disk full"):
        History().save(path)
    assert len(History.load(path)) == 3
    assert [p.name for p in tmp_path.iterdir()] == ["history.npz"]


def test_time_must_grow(history):
    with pytest.raises(ValueError, match="time must grow from batch to batch"):
        history.add(history[0])


@pytest.mark.parametrize(
    ("keep_history", "error", "message"),
    [
        (0, ValueError, "keep_history must be at least 1, got 0"),
        ("all", TypeError, "keep_history must be True, False or a number"),
    ],
)
def test_bad_keep_history_is_refused_by_name(keep_history, error, message):
    with pytest.raises(error, match=message):
        DynamicMeans(1.0, keep_history=keep_history).fit([[0.0]])


def test_bad_window_is_refused_by_name():
    with pytest.raises(ValueError, match="window must be at least 1, got 0"):
        History(window=0)


def test_any_method_can_fill_a_history():
    history, empty = History(), ClusterState.empty(1)
    after = ClusterState([0], [[2.0]], [1.0], [1.0], next_id=1, n_steps=1)
    found = Clustering(
        np.array([0]), np.array([0]), np.array([1]), np.array([[2.0]]), 0.0, 1, np.zeros(1)
    )
    history.append(Step(empty, 1.0, found, after, RAW))
    assert history[0].ids.tolist() == [0]
    assert history[0] is history[0]


def test_a_slice_is_a_history_of_those_batches(history):
    assert [record.step for record in history[1:]] == [1, 2]
    assert_same(history[::2], [history[0], history[2]])


def test_a_slice_cannot_go_back_in_time(history):
    with pytest.raises(ValueError, match="step of a slice must be at least 1, got -1"):
        history[::-1]


def test_polars_frame_has_the_rows_of_the_pandas_frame(history):
    polars, pandas = history.to_frame(frame="polars"), history.to_frame()
    assert polars["cluster_id"].to_list() == pandas["cluster_id"].tolist()
    assert polars.columns == list(pandas.columns)
