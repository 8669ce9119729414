"""Micro-batches into a run folder, without Spark around: a frame that answers as Spark's does."""

from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dynmeans import DynamicMeans, Run
from dynmeans.runs.store import store
from dynmeans.spark import foreach_batch

PARAMETERS = {"new_penalty": 2.0, "random_state": 3}


class SparkFrame:
    """The little of a Spark frame that is used; counts how often its rows are collected."""

    def __init__(self, table, query="q1"):
        self.table, self.columns, self.n_collected = table, table.column_names, 0
        context = SimpleNamespace(getLocalProperty={"sql.streaming.queryId": query}.get)
        self.sparkSession = SimpleNamespace(sparkContext=context)

    def select(self, *names):
        return SimpleNamespace(toArrow=lambda: self._collected(names))

    def _collected(self, names):
        self.n_collected += 1
        return self.table.select(names)


def rows(epoch, n_rows=60, seed=0):
    rng = np.random.default_rng([seed, epoch])
    places = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]]) + 0.2 * epoch
    points = places[rng.integers(3, size=n_rows)] + 0.3 * rng.normal(size=(n_rows, 2))
    seen = pd.Timestamp("2026-01-01") + pd.to_timedelta(epoch * 3600 + np.arange(n_rows), unit="s")
    names = [f"r{epoch}-{i}" for i in range(n_rows)]
    return pa.table({"name": names, "seen": seen, "x": points[:, 0], "y": points[:, 1]})


def make(folder, **options):
    usual = {"features": ["x", "y"], "time": "seen", "id": "name"} | PARAMETERS
    return foreach_batch(folder, **(usual | options))


def results(folder):
    with Run.open(folder) as run:
        run.verify()
        return run.labels(), run.cluster_state


@pytest.mark.parametrize("motion", ["random_walk", "constant_velocity"])
def test_states_and_labels_equal_those_of_the_estimator(tmp_path, motion):
    model = DynamicMeans(new_penalty=2.0, random_state=3, motion=motion)
    take_in = make(tmp_path / "run", motion=motion)
    expected = []
    for epoch in range(4):
        take_in(SparkFrame(rows(epoch)), epoch)
        table = rows(epoch)
        model.partial_fit(np.column_stack([table["x"].to_numpy(), table["y"].to_numpy()]))
        expected.extend(model.labels_)
    labels, state = results(tmp_path / "run")
    assert state == model.state_
    assert labels["cluster_id"].tolist() == expected
    assert (np.abs(model.cluster_velocities_).max() > 0.1) == (motion == "constant_velocity")


def test_a_repeated_epoch_changes_nothing_and_collects_nothing(tmp_path):
    take_in = make(tmp_path / "run")
    for epoch in (0, 1):
        take_in(SparkFrame(rows(epoch)), epoch)
    labels, state = results(tmp_path / "run")
    again = SparkFrame(rows(1))
    take_in(again, 1)
    assert again.n_collected == 0
    assert results(tmp_path / "run")[1] == state
    pd.testing.assert_frame_equal(results(tmp_path / "run")[0], labels)


def test_an_epoch_that_failed_before_its_commit_is_taken_in_the_second_time(tmp_path, monkeypatch):
    take_in = make(tmp_path / "broken")
    take_in(SparkFrame(rows(0)), 0)

    def fail(*arguments):
        raise OSError("no more")

    with monkeypatch.context() as patch:
        patch.setattr(store, "insert_commit", fail)
        with pytest.raises(OSError, match="no more"):
            take_in(SparkFrame(rows(1)), 1)
    take_in(SparkFrame(rows(1)), 1)
    unbroken = make(tmp_path / "unbroken")
    for epoch in (0, 1):
        unbroken(SparkFrame(rows(epoch)), epoch)
    pd.testing.assert_frame_equal(
        results(tmp_path / "broken")[0], results(tmp_path / "unbroken")[0]
    )
    assert results(tmp_path / "broken")[1] == results(tmp_path / "unbroken")[1]


@pytest.mark.parametrize("options", [{}, {"id": None}, {"id": None, "time": None}])
def test_the_order_in_which_spark_hands_rows_over_does_not_matter(tmp_path, options):
    shuffled = make(tmp_path / "shuffled", **options)
    ordered = make(tmp_path / "ordered", **options)
    for epoch in range(3):
        table = rows(epoch)
        ordered(SparkFrame(table), epoch)
        order = np.random.default_rng(epoch).permutation(len(table))
        shuffled(SparkFrame(table.take(order)), epoch)
    one, other = results(tmp_path / "ordered"), results(tmp_path / "shuffled")
    pd.testing.assert_frame_equal(one[0], other[0])
    assert one[1] == other[1]


def test_gaps_count_in_steps_of_time(tmp_path):
    take_in = make(tmp_path / "run", time_step=timedelta(minutes=30))
    for epoch, hour in enumerate((0, 1, 4)):
        take_in(SparkFrame(rows(hour)), epoch)
    assert results(tmp_path / "run")[1].time == 1 + 2 + 6


def test_times_that_are_numbers_count_too(tmp_path):
    take_in = make(tmp_path / "run", time_step=2, id=None)
    for epoch, when in enumerate((10.0, 13.0)):
        table = pa.table({"seen": [when, when - 1], "x": [0.0, 1.0], "y": [0.0, 1.0]})
        take_in(SparkFrame(table), epoch)
    assert results(tmp_path / "run")[1].time == 1 + 1.5


def test_an_epoch_without_rows_is_remembered_and_does_nothing_else(tmp_path):
    take_in = make(tmp_path / "run")
    take_in(SparkFrame(rows(0)), 0)
    _, state = results(tmp_path / "run")
    take_in(SparkFrame(rows(1)[:0]), 1)
    assert results(tmp_path / "run")[1] == state
    late = SparkFrame(rows(2))
    take_in(late, 1)
    assert late.n_collected == 0


def test_weights_are_taken(tmp_path):
    take_in = make(tmp_path / "run", weight="mass", id=None, time=None)
    table = pa.table({"x": [0.0, 1.0], "y": [0.0, 0.0], "mass": [1.0, 3.0]})
    take_in(SparkFrame(table), 0)
    assert results(tmp_path / "run")[1].centers.tolist() == [[0.75, 0.0]]


def spoiled(column, value):
    table = rows(0).to_pandas()
    table[column] = table[column].astype(object)
    table.loc[7, column] = value
    if column in "xy":
        table[column] = table[column].astype(float)
    return pa.Table.from_pandas(table, preserve_index=False)


@pytest.mark.parametrize(
    ("column", "value"), [("x", np.nan), ("y", None), ("seen", None), ("x", np.inf)]
)
def test_rows_with_gaps_are_named_and_nothing_is_committed(tmp_path, column, value):
    take_in = make(tmp_path / "run")
    with pytest.raises(ValueError, match=f"column '{column}' must have .* 'name': 'r0-7'"):
        take_in(SparkFrame(spoiled(column, value)), 0)
    take_in(SparkFrame(rows(0)), 0)
    assert len(results(tmp_path / "run")[0]) == 60


def test_rows_with_gaps_can_be_dropped_and_are_counted(tmp_path):
    take_in = make(tmp_path / "run", on_missing="drop")
    take_in(SparkFrame(spoiled("x", np.nan)), 0)
    with Run.open(tmp_path / "run") as run:
        assert (run.status().n_rows, run.status().n_dropped_rows) == (59, 1)


def test_another_stream_into_the_same_run_is_refused(tmp_path):
    take_in = make(tmp_path / "run")
    take_in(SparkFrame(rows(0)), 0)
    with pytest.raises(ValueError, match="query was q1, is q2"):
        take_in(SparkFrame(rows(1), query="q2"), 1)


def test_other_parameters_into_the_same_run_are_refused(tmp_path):
    make(tmp_path / "run")(SparkFrame(rows(0)), 0)
    other = make(tmp_path / "run", new_penalty=5.0)
    with pytest.raises(ValueError, match=r"new_penalty was 2.0, is 5.0"):
        other(SparkFrame(rows(1)), 1)


def test_a_stream_that_goes_back_in_time_is_refused(tmp_path):
    take_in = make(tmp_path / "run", time_step=timedelta(hours=1))
    take_in(SparkFrame(rows(3)), 0)
    with pytest.raises(ValueError, match="time must grow from one micro-batch to the next"):
        take_in(SparkFrame(rows(2)), 1)


def test_missing_columns_are_named(tmp_path):
    take_in = make(tmp_path / "run", features=["x", "z"])
    with pytest.raises(ValueError, match="no column 'z'; it has name, seen, x, y"):
        take_in(SparkFrame(rows(0)), 0)


def test_columns_that_are_no_numbers_are_refused(tmp_path):
    take_in = make(tmp_path / "run", features=["x", "name"], id=None)
    with pytest.raises(TypeError, match="column 'name' must hold numbers, got string"):
        take_in(SparkFrame(rows(0)), 0)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"features": []}, ValueError, "features must name at least one column"),
        ({"on_missing": "guess"}, ValueError, "on_missing must be one of error, drop"),
        ({"time": None, "time_step": 2}, ValueError, "time_step needs time, the column"),
        ({"time_step": 0}, ValueError, "time_step must be greater than 0"),
        ({"families": True}, ValueError, "families is not available in a stream of Spark"),
        ({"model": 3}, TypeError, "has no argument 'model'"),
    ],
)
def test_bad_options_are_refused_before_the_stream_starts(tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        make(tmp_path / "run", **options)
