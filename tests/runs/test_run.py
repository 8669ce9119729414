"""A run folder as its users see it: made, followed, stopped, opened, refused."""

import sqlite3
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import run_cases
from run_cases import RECIPE

from dynmeans import DynamicMeans, Run
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.analysis.profiles import describe_clusters
from dynmeans.runs.analysis.run_families import families_of_run
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.runs.store import schema

CONFIG = RunConfig(("x", "y"), RECIPE)
PLACES = np.array([[0.0, 0.0], [5.0, 5.0], [0.1, 0.0], [5.0, 5.2]])


@pytest.fixture
def run(tmp_path):
    with Run.create(tmp_path / "run", CONFIG) as run:
        yield run


def batches_of(n: int, seed: int = 3) -> list[Window]:
    rng = np.random.default_rng(seed)
    return [Window(PLACES + rng.normal(0, 0.05, PLACES.shape)) for _ in range(n)]


def test_labels_are_those_of_the_estimator(run):
    batches = batches_of(6)
    run.process(batches)
    parameters = {"new_penalty": 1.0, "max_gap": 5, "reach": 1.5, "random_state": 0}
    expected, _ = DynamicMeans(**parameters).fit_sequence([b.points for b in batches])
    np.testing.assert_array_equal(run.labels()["cluster_id"], np.concatenate(expected))


def test_distance_is_to_the_center_of_the_row_s_cluster(run):
    # Centers are (1, 0) and (9, 0): each row is 1 away from its own.
    run.process(Window([[0.0, 0.0], [2.0, 0.0], [8.0, 0.0], [10.0, 0.0]]))
    labels = run.labels()
    centers = run.cluster_state.centers[labels["cluster_id"]]
    points = np.array([[0.0, 0.0], [2.0, 0.0], [8.0, 0.0], [10.0, 0.0]])
    np.testing.assert_allclose(labels["distance"], np.linalg.norm(points - centers, axis=1))


def test_tables_of_a_run_come_in_the_frame_that_is_asked_for(run):
    run.process(batches_of(2))
    expected = run.labels()["cluster_id"].tolist()
    assert run.labels(frame="polars")["cluster_id"].to_list() == expected
    assert run.labels(frame="arrow")["cluster_id"].to_pylist() == expected
    with pytest.raises(ValueError, match="frame must be one of pandas, polars, arrow, got 'dask'"):
        run.labels(frame="dask")


def test_a_run_goes_on_in_another_process_as_if_it_had_not_stopped(tmp_path):
    batches = batches_of(10)
    with Run.create(tmp_path / "whole", CONFIG) as run:
        run.process(batches)
    with Run.create(tmp_path / "halves", CONFIG) as run:
        run.process(batches[:5])
    with Run.open(tmp_path / "halves") as run:
        run.process(batches[5:])
    assert run_cases.contents(tmp_path / "halves") == run_cases.contents(tmp_path / "whole")


def test_rows_are_numbered_as_they_come_unless_they_have_names(run):
    run.process([Window(PLACES), Window(PLACES)])
    assert run.labels()["row_id"].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]


def test_names_times_and_truth_of_rows_are_kept(run):
    times = np.array(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"], "datetime64[us]")
    names = np.array(["p", "q", "r", "s"])
    run.process(Window(PLACES, row_ids=names, times=times, truth=np.array([7, 8, 7, 8])))
    labels = run.labels()
    assert labels["row_id"].tolist() == ["p", "q", "r", "s"]
    assert labels["true_label"].tolist() == [7, 8, 7, 8]
    assert str(labels["time"][1]) == "2024-01-02 00:00:00+00:00"


def test_a_token_is_taken_in_once(run):
    first, second = batches_of(2)
    assert run.process(first, idempotency_key="epoch 17") == 1
    assert run.process(second, idempotency_key="epoch 17") == 0
    assert run.status().n_windows == 1


def test_the_batches_of_a_token_are_all_committed_or_none(tmp_path):
    def broken():
        yield Window(PLACES)
        raise OSError("the source went away")

    with Run.create(tmp_path / "run", CONFIG) as run:
        with pytest.raises(OSError, match="went away"):
            run.process(broken(), idempotency_key="epoch 1", commit_seconds=0.0)
        assert run.status().n_windows == 0
        assert run.process(batches_of(2), idempotency_key="epoch 1") == 2


def test_what_was_taken_in_before_the_source_failed_is_kept(tmp_path):
    def broken():
        yield Window(PLACES)
        yield Window(PLACES)
        raise OSError("the source went away")

    with Run.create(tmp_path / "run", CONFIG) as run:
        with pytest.raises(OSError, match="went away"):
            run.process(broken())
        assert run.status().n_windows == 2
        run.process(Window(PLACES))
        assert run.status().n_windows == 3


def test_a_bad_batch_changes_nothing_and_the_run_goes_on(run):
    run.process(Window(PLACES))
    with pytest.raises(ValueError, match="points must be finite"):
        run.process(Window([[np.nan, 0.0]]))
    assert run.process(Window(PLACES)) == 1
    assert run.status().n_rows == 8


def test_batches_with_other_columns_than_the_first_are_refused(run):
    run.process(Window(PLACES))
    with pytest.raises(ValueError, match=r"same columns.*now has.*true_label \(int64\)"):
        run.process(Window(PLACES, truth=np.array([1, 2, 1, 2])))
    assert run.status().n_windows == 1


def test_a_column_of_another_length_than_the_points_is_refused():
    with pytest.raises(ValueError, match="weights must have one value for each of 4 points"):
        Window(PLACES, weights=np.ones(3))


def test_weights_reach_the_clustering(run):
    # (3 * 0 + 1 * 0.4) / 4 = 0.1
    run.process(Window([[0.0, 0.0], [0.4, 0.0]], weights=np.array([3.0, 1.0])))
    np.testing.assert_allclose(run.cluster_state.centers, [[0.1, 0.0]])


def test_elapsed_time_reaches_the_clustering(run):
    run.process([Window(PLACES), Window(PLACES, elapsed=3.0)])
    returned = run.events(kinds=["moved", "returned"])
    assert run.history()[1].time == 4.0
    assert run.history()[1].ages.tolist() == [3.0, 3.0]
    assert len(returned) == 2


def test_standardizing_learns_from_the_first_batches_and_is_kept(tmp_path):
    config = RunConfig(("x", "y"), replace(RECIPE, space="standard"))
    wide = [Window(PLACES * [1000.0, 0.001]) for _ in range(4)]
    with Run.create(tmp_path / "run", config) as run:
        run.process(wide)
        points = np.concatenate([window.points for window in wide])
        np.testing.assert_allclose(run.memory.space.mean, points.mean(axis=0))
        np.testing.assert_allclose(run.memory.space.spread, points.std(axis=0))
    with Run.open(tmp_path / "run") as run:
        run.process(Window(np.array([[1e9, 1e9]])))
        np.testing.assert_allclose(run.memory.space.mean, points.mean(axis=0))


def test_centers_are_shown_in_the_units_of_the_source(tmp_path):
    config = RunConfig(("x", "y"), replace(RECIPE, space="standard"))
    with Run.create(tmp_path / "run", config) as run:
        run.process(Window(PLACES * [1000.0, 0.001]))
        clusters = run.clusters().sort_values("center_x")
        np.testing.assert_allclose(clusters["center_x"], [50.0, 5000.0])
        np.testing.assert_allclose(clusters["center_y"], [0.0, 0.0051], atol=1e-12)
        shown = run.history()[0].centers
        np.testing.assert_allclose(np.sort(shown[:, 0]), [50.0, 5000.0])


def test_clusters_tell_life_size_and_status(run):
    run.process([Window(PLACES), Window(PLACES[[0, 2]]), Window(PLACES[[0, 2]])])
    clusters = run.clusters().set_index("cluster_id")
    assert clusters["first_step"].tolist() == [0, 0]
    assert clusters["last_step"].tolist() == [2, 0]
    assert clusters["n_points"].tolist() == [6, 2]
    assert clusters["status"].tolist() == ["active", "inactive"]


@pytest.mark.parametrize(("weight", "dtype"), [(None, "int64"), (0.7, "float64")])
def test_points_are_counted_in_integers_unless_they_have_weights(run, weight, dtype):
    weights = None if weight is None else np.full(len(PLACES), weight)
    run.process(Window(PLACES, weights=weights))
    assert run.clusters()["n_points"].dtype == dtype
    assert run.history().to_frame("clusters")["n_points"].dtype == dtype
    assert describe_clusters(run).to_arrow()["n_points"].to_pandas().dtype == dtype
    assert families_of_run(run).to_frame("clusters")["n_points"].dtype == "int64"  # rows kept


def test_a_forgotten_cluster_is_still_listed(run):
    run.process([Window(PLACES), *(Window(PLACES[[0, 2]]) for _ in range(8))])
    assert run.clusters()["status"].tolist() == ["active", "forgotten"]


def test_history_is_that_of_the_estimator(run):
    batches = batches_of(5)
    run.process(batches)
    parameters = {"new_penalty": 1.0, "max_gap": 5, "reach": 1.5, "random_state": 0}
    frames = [pd.DataFrame(b.points, columns=["x", "y"]) for b in batches]
    _, expected = DynamicMeans(**parameters).fit_sequence(frames)
    found = run.history()
    for name in ("clusters", "labels", "events"):
        assert found.to_frame(name).equals(expected.to_frame(name)), name


def test_history_without_labels_has_all_but_the_labels(run):
    run.process(batches_of(3))
    assert [len(record.labels) for record in run.history(labels=False)] == [0, 0, 0]
    assert run.history(labels=False)[2].cost == run.history()[2].cost


def test_samples_hold_at_most_the_size_asked_for(tmp_path):
    points = np.random.default_rng(0).normal(size=(50, 2))
    with Run.create(tmp_path / "run", RunConfig(("x", "y"), RECIPE, sample_size=7)) as run:
        run.process([Window(points, name="one"), Window(points[:3])])
        first, second = run.samples()
        assert (first.n_rows, len(first.points), len(first.cluster_ids)) == (50, 7, 7)
        assert (first.name, first.truth, len(second.points)) == ("one", None, 3)
        labels = run.labels(last_step=0)["cluster_id"].to_numpy()
    for point, cluster_id in zip(first.points, first.cluster_ids, strict=True):
        row = int(np.argmin(np.abs(points - point).sum(axis=1)))
        assert labels[row] == cluster_id


def test_labels_of_some_steps_are_those_of_the_whole(run):
    run.process(batches_of(4), commit_seconds=0.0)
    run.process(batches_of(4, seed=9))
    whole = run.labels()
    some = run.labels(first_step=2, last_step=5).reset_index(drop=True)
    expected = whole[(whole["step"] >= 2) & (whole["step"] <= 5)].reset_index(drop=True)
    assert some.equals(expected)


def test_another_process_may_read_while_the_run_goes_on(run):
    seen = []

    def look(record, batch):
        with Run.open(run.folder) as reader:
            status = reader.status()
            seen.append((status.is_running, status.n_rows, len(reader.labels())))

    run.process(batches_of(4), commit_seconds=0.0, on_window=look)
    assert seen == [(True, 0, 0), (True, 4, 4), (True, 8, 8), (True, 12, 12)]


def test_a_second_writer_is_refused(run):
    run.process(Window(PLACES))
    with Run.open(run.folder) as other, pytest.raises(OSError, match="another process is writing"):
        other.process(Window(PLACES))


def test_the_lock_is_free_once_the_run_is_closed(tmp_path):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(Window(PLACES))
    with Run.open(tmp_path / "run") as run:
        assert not run.status().is_running
        assert run.process(Window(PLACES)) == 1


def test_a_run_is_not_replaced_unless_asked(run):
    run.process(Window(PLACES))
    run.close()
    with pytest.raises(FileExistsError, match="already contains a run; overwrite=True"):
        Run.create(run.folder, CONFIG)


def test_a_run_without_a_window_holds_nothing_and_is_replaced(run):
    run.close()
    with Run.create(run.folder, RunConfig(("x", "y"), replace(RECIPE, n_init=5))) as other:
        assert other.config.model_config.n_init == 5


def test_overwriting_starts_over_and_leaves_other_files_alone(tmp_path):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(batches_of(3))
    (tmp_path / "run" / "report.html").write_text("mine")
    with Run.create(tmp_path / "run", CONFIG, overwrite=True) as run:
        assert run.status().n_windows == 0
        assert list((tmp_path / "run" / "labels").iterdir()) == []
    assert (tmp_path / "run" / "report.html").read_text() == "mine"


def test_a_folder_with_other_files_is_not_made_a_run(tmp_path):
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(
        FileExistsError, match=r"is not a run, and holds other files \(thesis.tex\)"
    ):
        Run.create(tmp_path, CONFIG, overwrite=True)
    assert (tmp_path / "thesis.tex").read_text() == "all of it"


def test_a_folder_without_a_run_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not a run folder"):
        Run.open(tmp_path)


def test_another_configuration_is_told_field_by_field(tmp_path):
    source = {"every": "30min", "input": "a.csv"}
    with Run.create(tmp_path / "run", RunConfig(("x",), RECIPE, source=source)) as run:
        run.process(Window([[1.0]]))
    other = RunConfig(("x", "y"), replace(RECIPE, n_init=5), source={**source, "every": "1h"})
    with pytest.raises(
        ValueError, match="features was x, is x, y; n_init was 3, is 5; every was 30min, is 1h"
    ):
        Run.open(tmp_path / "run", other)


def test_the_same_configuration_is_accepted_to_the_last_bit(tmp_path):
    Run.create(tmp_path / "run", CONFIG).close()
    with Run.open(tmp_path / "run") as run:
        assert run.config.to_fields() == CONFIG.to_fields()
    Run.open(tmp_path / "run", CONFIG).close()


def test_a_run_of_a_later_schema_is_refused(tmp_path):
    Run.create(tmp_path / "run", CONFIG).close()
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ValueError, match=r"schema version 99; .* understands version 2\."):
        Run.open(tmp_path / "run")


def test_some_other_database_is_refused(tmp_path):
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(ValueError, match="is not the database of a dynmeans run"):
        Run.open(tmp_path)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "run.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(ValueError, match="the run is damaged"):
        Run.open(tmp_path)


@pytest.fixture
def damaged(tmp_path):
    """A run of two parts, closed, and the first part's path."""
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(batches_of(2), commit_seconds=0.0)
        part = run.folder / "labels" / run.label_files()[0].name
    return tmp_path / "run", part


def test_a_missing_part_is_named_on_reading_and_on_resuming(damaged):
    folder, part = damaged
    part.unlink()
    with Run.open(folder) as run:
        with pytest.raises(ValueError, match=rf"damaged.*{part.name}.*missing"):
            run.labels()
        with pytest.raises(ValueError, match=rf"damaged.*{part.name}.*missing"):
            run.process(Window(PLACES))


def test_a_part_cut_short_is_named_on_resuming(damaged):
    folder, part = damaged
    part.write_bytes(part.read_bytes()[:-7])
    with Run.open(folder) as run, pytest.raises(ValueError, match=rf"damaged.*{part.name}.*bytes"):
        run.process(Window(PLACES))


def test_a_part_with_a_changed_byte_is_found_by_verifying(damaged):
    folder, part = damaged
    with Run.open(folder) as run:
        run.verify()
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    with Run.open(folder) as run, pytest.raises(ValueError, match=rf"damaged.*{part.name}.*chang"):
        run.verify()


def test_a_changed_memory_is_noticed(damaged):
    folder, _ = damaged
    with sqlite3.connect(folder / "run.sqlite") as connection:
        connection.execute("UPDATE memory SET data = zeroblob(length(data))")
    connection.close()
    with Run.open(folder) as run, pytest.raises(ValueError, match=r"damaged.*memory"):
        run.process(Window(PLACES))


def test_a_closed_run_can_be_read_from_a_folder_without_write_permission(finished):
    # Root may write anywhere: what matters is the way the database is opened then.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema.os, "access", lambda path, mode: False)
        with Run.open(finished) as run:
            assert run.status().n_windows == 30


def test_every_commit_is_followed_up(tmp_path):
    """The last one, and that of a call with a token, too."""
    calls = []
    with Run.create(tmp_path / "run", CONFIG) as run:
        for seconds, token in ((0.0, None), (60.0, None), (60.0, "call")):
            before = len(calls)
            run.process(
                [Window([[0.0, 0.0]]), Window([[0.1, 0.0]])],
                idempotency_key=token,
                commit_seconds=seconds,
                after_commit=lambda: calls.append(run.status().n_windows),
            )
            assert len(calls) - before == (2 if seconds == 0.0 else 1)
    assert calls == [1, 2, 4, 6]


@pytest.mark.parametrize("about", [1, (1, 2)])
def test_families_of_a_run_are_those_of_the_estimator(tmp_path, about):
    batches = batches_of(5)
    fields = {"new_penalty": 1.0, "families": True, "n_clusters": about, "random_state": 0}
    frames = [pd.DataFrame(b.points, columns=["x", "y"]) for b in batches]
    model = DynamicMeans(**fields)
    model.fit_sequence(frames)
    with Run.create(tmp_path / "hinted", RunConfig(["x", "y"], ModelConfig(**fields))) as hinted:
        hinted.process(batches)
        assert families_of_run(hinted).level == model.families_.level


@pytest.mark.parametrize("error", [ValueError("a bug of the caller"), KeyboardInterrupt()])
def test_a_callback_that_fails_loses_no_window(run, tmp_path, error):
    batches = batches_of(6)

    def look(record, window):
        if record.step == 3:
            raise error

    source = iter(batches)
    with pytest.raises(type(error)):
        run.process(source, commit_seconds=1e9, on_window=look)
    assert run.status().n_windows == 4
    run.process(source)
    with Run.create(tmp_path / "whole", CONFIG) as whole:
        whole.process(batches)
        assert run.labels().equals(whole.labels())


def test_a_callback_that_fails_leaves_a_call_with_a_token_to_be_repeated(run):
    def look(record, window):
        raise ValueError("a bug of the caller")

    with pytest.raises(ValueError, match="a bug"):
        run.process(batches_of(3), idempotency_key="today", on_window=look)
    assert run.status().n_windows == 0
    assert run.process(batches_of(3), idempotency_key="today") == 3


def test_what_fails_after_a_commit_loses_no_window(run, tmp_path):
    batches, n_calls = batches_of(5), 0

    def send():
        nonlocal n_calls
        n_calls += 1
        if n_calls == 2:
            raise OSError("the place is gone")

    source = iter(batches)
    with pytest.raises(OSError, match="the place is gone"):
        run.process(source, commit_seconds=0.0, after_commit=send)
    assert run.status().n_windows == 2
    run.process(source)
    assert run.status().n_windows == 5


@pytest.mark.parametrize("name", ["features", "sample_size", "new_penalty", "space"])
def test_a_field_of_the_source_with_the_name_of_another_is_refused(name):
    config = RunConfig(("x", "y"), RECIPE, source={"input": "rows.csv", name: 1})
    with pytest.raises(ValueError, match=f"must not name '{name}', which is a field of the run"):
        config.to_fields()
