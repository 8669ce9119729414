"""From a history to what a page shows."""

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from dynmeans import DynamicMeans, Event, History
from dynmeans.records.events import KINDS
from dynmeans.records.step_record import StepRecord
from dynmeans.report import build, downsample, report_data
from dynmeans.report.axes import FEATURE_NUMBERS
from dynmeans.report.encode import pack_report
from dynmeans.runs.reading.sampling import Sample


def history_of(batches, **parameters):
    model = DynamicMeans(**{"new_penalty": 1.0} | parameters, random_state=0)
    return model.fit_sequence(batches)[1]


def record_of(step, ids, counts, events=(), n_features=2):
    n = len(ids)
    return StepRecord(
        step=step,
        time=step + 1.0,
        labels=np.empty(0, dtype=np.int64),
        ids=np.array(ids, dtype=np.int64),
        counts=np.array(counts, dtype=np.float64),
        centers=np.arange(n * n_features, dtype=np.float64).reshape(n, n_features) + step,
        weights=np.ones(n),
        ages=np.ones(n),
        cost_trace=np.array([1.0]),
        n_remembered=n,
        events=tuple(events),
    )


def history_from(records):
    history = History()
    for record in records:
        history.add(record)
    return history


def test_columns_say_what_the_history_says(stream):
    data = report_data(stream.history, points=stream.batches)
    records = list(stream.history)
    assert data.batches.n_points.tolist() == [len(record.labels) for record in records]
    assert data.batches.n_seen.tolist() == [len(record.ids) for record in records]
    assert data.batches.n_remembered.tolist() == [record.n_remembered for record in records]
    assert data.batches.costs.tolist() == [record.cost for record in records]
    np.testing.assert_array_equal(data.clusters.ids, np.concatenate([r.ids for r in records]))
    np.testing.assert_array_equal(data.clusters.counts, np.concatenate([r.counts for r in records]))
    np.testing.assert_array_equal(data.clusters.places, np.vstack([r.centers for r in records]))


def test_every_point_has_the_slot_of_its_own_cluster(stream):
    data = report_data(stream.history, points=stream.batches)
    starts = np.cumsum(data.clusters.sizes) - data.clusters.sizes
    rows = np.repeat(starts, data.points.sizes) + data.points.slots
    labels = np.concatenate(stream.history.labels)
    np.testing.assert_array_equal(data.clusters.ids[rows], labels)
    np.testing.assert_array_equal(data.points.places, np.vstack(stream.batches))


def samples_of(stream, n_kept):
    return [
        Sample(
            step=record.step,
            name=None,
            n_rows=len(points),
            points=points[:n_kept].astype(np.float32),
            cluster_ids=record.labels[:n_kept],
            truth=None,
        )
        for points, record in zip(stream.batches, stream.history, strict=True)
    ]


def test_samples_of_a_run_stand_for_all_their_rows(stream):
    data = report_data(stream.history, samples=iter(samples_of(stream, 7)))
    assert data.points.sizes.tolist() == [7] * 12
    assert data.batches.n_points.tolist() == [len(points) for points in stream.batches]
    (note,) = data.notes
    assert note.startswith("Of 625 points 84 are drawn: at most 7 of each batch. Centers, sizes")


def test_points_of_no_cluster_have_no_slot(stream):
    samples = [replace(s, cluster_ids=np.full(7, -1)) for s in samples_of(stream, 7)]
    assert set(report_data(stream.history, samples=samples).points.slots.tolist()) == {-1}


def test_points_and_samples_together_are_refused(stream):
    with pytest.raises(ValueError, match="give points or samples, not both"):
        report_data(stream.history, points=stream.batches, samples=samples_of(stream, 7))


def test_all_events_but_moves_are_kept(stream):
    data = report_data(stream.history)
    found = [(KINDS[kind], k) for kind, k in zip(data.events.kinds, data.events.ids, strict=True)]
    assert found == [
        (event.kind, event.cluster_id)
        for record in stream.history
        for event in record.events
        if event.kind != "moved"
    ]
    returned = found.index(("returned", 1))
    assert data.events.gaps[returned] == 4.0
    assert data.events.others[returned] == -1


def test_events_of_clusters_seen_before_the_history_begins_are_left_out():
    data = report_data(history_from([record_of(0, [4], [3], [Event("forgotten", 1)])]))
    assert data.events.sizes.tolist() == [0]


def test_without_points_the_page_says_so(stream):
    data = report_data(stream.history)
    assert data.points.sizes.sum() == 0
    assert data.notes == ("The page was made without points: only the centers are drawn.",)


def test_nothing_left_out_needs_no_note(stream):
    assert report_data(stream.history, points=stream.batches).notes == ()


def test_thinned_points_are_told_with_the_rule(stream, monkeypatch):
    monkeypatch.setattr(downsample, "MAX_PER_BATCH", 10)
    data = report_data(stream.history, points=stream.batches)
    assert data.points.sizes.tolist() == [10] * 12
    (note,) = data.notes
    assert note.startswith("Of 625 points 120 are drawn: at most 10 of each batch, at equal dist")


def test_clusters_without_room_are_told(stream, monkeypatch):
    monkeypatch.setattr(build, "DATA_BYTES", 1600)
    data = report_data(stream.history)
    assert np.unique(data.clusters.ids).tolist() == [0, 1]
    assert data.n_clusters == 4
    assert "Of 4 clusters the 2 with the most points are shown." in data.notes


def test_of_too_many_batches_the_last_are_shown(stream, monkeypatch):
    monkeypatch.setattr(build, "MAX_BATCHES", 5)
    data = report_data(stream.history, points=stream.batches)
    assert data.batches.steps.tolist() == [7, 8, 9, 10, 11]
    assert data.points.sizes.tolist() == [len(points) for points in stream.batches[-5:]]
    assert "Of 12 batches the last 5 are shown." in data.notes


def test_a_history_without_labels_counts_points_by_its_clusters():
    data = report_data(history_from([record_of(0, [0, 1], [3, 4])]))
    assert data.batches.n_points.tolist() == [7]


def test_one_feature_is_drawn_over_time():
    data = report_data(history_of([[[0.0], [9.0]], [[0.1]]]))
    assert [axis.name for axis in data.axes] == ["feature 0"]
    assert data.view == (-1, 0)


def test_many_features_are_drawn_along_their_principal_axes():
    # Spread 4 along the second feature and 1 along the first: in two clusters at the corners.
    points = np.array([[x, y, 0.0] for x in (-1, 1) for y in (-4, 4)])
    data = report_data(history_of([points]), points=[points], feature_names=["a", "b", "c"])
    assert [axis.name for axis in data.axes] == ["a", "b", "c", "PC 1 (94 %)", "PC 2 (6 %)"]
    assert data.view == (3, 4)
    np.testing.assert_allclose(data.points.places[:, 3], points[:, 1], atol=1e-12)
    np.testing.assert_allclose(data.points.places[:, 4], points[:, 0], atol=1e-12)


def test_only_the_first_features_are_axes():
    points = np.random.default_rng(0).normal(size=(30, 11))
    data = report_data(history_of([points], new_penalty=100.0), points=[points])
    kinds = [axis.kind for axis in data.axes]
    assert kinds == ["feature"] * FEATURE_NUMBERS[0] + ["principal"] * 2
    assert data.notes == ("Of 11 features the first 8 can be axes.",)


def test_where_room_is_short_features_give_way_before_clusters(monkeypatch):
    records = [record_of(step, range(20), [1.0] * 20, n_features=9) for step in range(10)]
    # 200 rows of a cluster and a batch: 37 bytes each with 8 features, 27 with 4.
    monkeypatch.setattr(build, "DATA_BYTES", 11_000)
    data = report_data(history_from(records))
    assert len(np.unique(data.clusters.ids)) == 20
    assert len(data.axes) == 4 + 2
    assert "Of 9 features the first 4 can be axes." in data.notes


def test_the_axes_drawn_first_can_be_chosen(stream):
    data = report_data(stream.history, feature_names=["a", "b"])
    assert data.with_initial_axes("time", "a").view == (-1, 0)


def test_an_axis_that_is_not_there_is_refused(stream):
    with pytest.raises(ValueError, match="y must be one of a, b or time, got 'c'"):
        report_data(stream.history, feature_names=["a", "b"]).with_initial_axes("a", "c")


def test_lines_under_the_points_belong_to_two_axes(stream):
    data = report_data(stream.history, feature_names=["a", "b"])
    drawn = data.with_backdrop("b", "a", [[[0.0, 1.0], [2.0, 3.123456789]]])
    packed = pack_report(drawn)["backdrop"]
    assert packed == {"axes": [1, 0], "lines": [[[0.0, 1.0], [2.0, 3.12346]]]}
    assert pack_report(data)["backdrop"] is None


@pytest.mark.parametrize("line", [[0.0, 1.0], [[0.0, 1.0, 2.0]], [[0.0, np.nan]]])
def test_a_line_that_is_none_is_refused(stream, line):
    with pytest.raises(ValueError, match="lines must be finite arrays of shape"):
        report_data(stream.history, feature_names=["a", "b"]).with_backdrop("a", "b", [line])


def test_dates_keep_their_instant_and_their_clock():
    east = timezone(timedelta(hours=2))
    times = [datetime(2026, 3, 1, 12, tzinfo=east), datetime(2026, 3, 1, 13, tzinfo=UTC)]
    data = report_data(history_of([[[0.0]], [[0.1]]]), times=times)
    assert data.batches.is_dated
    assert np.diff(data.batches.times).tolist() == [3 * 3600]
    assert data.batches.utc_offsets.tolist() == [120, 0]


def test_named_batches_stand_at_the_times_of_the_history():
    data = report_data(history_of([[[0.0]], [[0.1]]]), times=["Monday", "Tuesday"])
    assert data.batches.names == ("Monday", "Tuesday")
    assert data.batches.times.tolist() == [1.0, 2.0]
    assert not data.batches.is_dated


def test_dates_without_a_zone_are_shown_as_they_are():
    data = report_data(history_of([[[0.0]]]), times=[datetime(1970, 1, 2)])
    assert data.batches.times.tolist() == [86400.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points": [[[0.0, 0.0]]]}, "points must hold one batch for each of 12"),
        ({"feature_names": ["a"]}, "feature_names must hold one name for each of 2 features"),
        ({"feature_names": ["a", "a"]}, "feature_names must be different"),
        ({"times": [1.0]}, "times must hold one batch for each of 12 in the history, got 1"),
        ({"times": [0.0] * 12}, "times must be finite and grow"),
    ],
)
def test_what_does_not_fit_the_history_is_refused(stream, changes, message):
    with pytest.raises(ValueError, match=message):
        report_data(stream.history, **changes)


def test_points_of_another_shape_are_refused(stream):
    with pytest.raises(ValueError, match=r"points must have shape \(55, 2\) in batch 0, got"):
        report_data(stream.history, points=[points[:, :1] for points in stream.batches])


def test_dates_among_numbers_are_refused(stream):
    with pytest.raises(TypeError, match="times must be of one kind, got dates and numbers"):
        report_data(stream.history, times=[datetime(2026, 1, 1), *range(11)])


def test_what_is_no_history_is_refused():
    with pytest.raises(TypeError, match="history must be a History, got list"):
        report_data([])


def steady_history(**report):
    """One cluster that moves by (2, 1) a step, in steps of ten minutes."""
    batches = [np.array([[2.0, 1.0], [2.2, 1.0]]) * [1, 1] + [2.0 * k, k] for k in range(6)]
    history = history_of(batches, new_penalty=9.0, motion="constant_velocity", reach=4)
    dates = [datetime(2026, 3, 1) + timedelta(minutes=10 * k) for k in range(6)]
    return report_data(history, points=batches, times=dates, **report)


def test_a_page_has_velocities_and_the_length_of_a_step():
    data = steady_history()
    assert np.diff(data.batches.clocks).tolist() == [1.0] * 5
    np.testing.assert_allclose(data.clusters.velocities[-1], [2.0, 1.0], rtol=0.1)
    columns = pack_report(data)["chunks"][0]["clusters"]
    steps = np.frombuffer(base64.b64decode(columns["velocities"]), dtype="<i2").reshape(2, -1).T
    velocities = steps / 32767 * columns["max_speed"]
    np.testing.assert_allclose(velocities, data.clusters.velocities, atol=1e-4)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["LAT", "Lon (deg)"], (1, 0)),
        (["east", "north"], None),
        (["lon", "height"], None),
    ],
)
def test_longitude_and_latitude_are_known_by_their_names(names, expected):
    data = steady_history(feature_names=names)
    assert data.lon_lat == expected
    assert data.view == (expected or (0, 1))


def test_a_latitude_beyond_the_poles_is_none():
    batches = [np.array([[5.0, 91.0]])]
    data = report_data(history_of(batches), points=batches, feature_names=["lon", "lat"])
    assert data.lon_lat is None


def test_principal_axes_of_unlike_units_count_each_feature_in_units_of_its_own_spread():
    rng = np.random.default_rng(0)
    kind = np.arange(300) % 3
    rows = np.column_stack([kind == 0, kind == 1, kind == 2]) + rng.normal(0, 0.1, (300, 3))
    rows *= [1.0, 1e-3, 4_000.0]
    _, history = DynamicMeans(1e7, random_state=0).fit_sequence([rows])
    data = report_data(history, points=[rows])
    places = data.points.places[:, -2:]
    spread = places.std(axis=0)
    assert spread.max() < 2 * spread.min()
    shares = [int(axis.name.split("(")[1].split()[0]) for axis in data.axes[-2:]]
    assert min(shares) > 30
