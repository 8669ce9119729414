"""One call on a frame: what goes in, what comes back, what is said of rows that were left out."""

from datetime import date

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset

import dynmeans
from dynmeans import Penalties, Run
from dynmeans.cluster_function.input_tables import read_input_table

WHEN = {"time": "when", "every": "20min", "features": ["x", "y"]}


@pytest.fixture(scope="module")
def frame():
    """Two clusters, shuffled, on an index of names."""
    rng = np.random.default_rng(0)
    points = rng.normal(0, 0.3, (400, 2)) + np.where(np.arange(400) % 2, 0.0, 9.0)[:, None]
    when = pd.date_range("2026-03-01", periods=400, freq="min")
    rows = pd.DataFrame(points, columns=["x", "y"]).assign(when=when)
    rows.index = pd.Index([f"row {i}" for i in range(400)], name="name")
    return rows.sample(frac=1, random_state=0)


@pytest.fixture(scope="module")
def found(frame):
    return dynmeans.cluster(frame, **WHEN)


def test_labels_lie_on_the_index_of_the_frame_and_follow_its_rows(frame, found):
    assert found.labels.index.equals(frame.index)
    sides = pd.crosstab(frame["x"] > 4, found.labels)
    assert sorted(sides.to_numpy().ravel().tolist()) == [0, 0, 200, 200]


def test_penalties_are_chosen_unless_they_are_given(frame, found):
    assert found.suggestion is not None
    given = dynmeans.cluster(frame, penalties=found.penalties, **WHEN)
    assert given.suggestion is None
    assert given.penalties == found.penalties
    pd.testing.assert_series_equal(given.labels, found.labels)


def test_labels_are_those_of_the_command_line_on_the_same_rows(frame, found, tmp_path):
    frame.to_csv(tmp_path / "rows.csv")
    by_path = dynmeans.cluster(tmp_path / "rows.csv", run_folder=tmp_path / "run", **WHEN)
    np.testing.assert_array_equal(by_path.labels, found.labels)
    with Run.open(tmp_path / "run") as run:
        assert run.status().is_finished


@pytest.mark.parametrize(
    ("make", "library"),
    [
        (lambda frame: pl.from_pandas(frame), pl),
        (lambda frame: pl.from_pandas(frame).lazy(), pl),
        (lambda frame: pa.Table.from_pandas(frame), pa),
        (lambda frame: dataset.dataset(pa.Table.from_pandas(frame)), pa),
        (lambda frame: duckdb.from_df(frame), pd),
    ],
    ids=["polars", "lazy", "arrow", "dataset", "relation"],
)
def test_other_libraries_get_the_same_labels_in_their_own_form(frame, found, make, library):
    other = dynmeans.cluster(make(frame), **WHEN)
    assert type(other.labels).__module__.startswith(library.__name__)
    assert type(other.clusters).__module__.startswith(library.__name__)
    np.testing.assert_array_equal(np.asarray(other.labels), found.labels.to_numpy())


def test_rows_that_lack_a_value_or_a_time_have_no_label_and_are_told(frame):
    holed = frame.copy()
    holed.loc["row 5", "x"] = np.nan
    holed.loc["row 7", "when"] = pd.NaT
    said = "label: 1 without a value for x, 1 with a missing or unreadable when"
    with pytest.warns(dynmeans.DroppedRowsWarning, match=said):
        found = dynmeans.cluster(holed, **WHEN)
    assert found.labels.index[found.labels.isna()].sort_values().tolist() == ["row 5", "row 7"]
    assert found.status.n_dropped_rows == 2
    assert found.missing_counts == {"x": 1, "when": 1}
    assert "2 rows were left out" in found.summary()


def test_text_that_is_no_time_is_left_out_and_told(frame):
    texts = frame.assign(when=frame["when"].dt.strftime("%d.%m.%Y %H:%M"))
    texts.loc["row 9", "when"] = "yesterday"
    with pytest.warns(dynmeans.DroppedRowsWarning, match="1 with a missing or unreadable when"):
        found = dynmeans.cluster(texts, time_format="%d.%m.%Y %H:%M", **WHEN)
    assert found.labels.index[found.labels.isna()].tolist() == ["row 9"]


def test_times_that_none_of_the_rows_has_are_an_error_and_not_left_out(frame):
    texts = frame.assign(when=frame["when"].dt.strftime("%d.%m.%Y %H:%M"))
    with pytest.raises(ValueError, match="which is not a time such as 2024"):
        dynmeans.cluster(texts, **WHEN)


def test_several_forms_of_time_are_read_in_one_column(frame, found):
    forms = ["%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%m/%d/%Y %I:%M %p"]
    times = frame["when"].dt.tz_localize("UTC")
    texts = [time.strftime(forms[i % 4]) for i, time in enumerate(times)]
    mixed = dynmeans.cluster(frame.assign(when=texts), time_format=forms, **WHEN)
    pd.testing.assert_series_equal(mixed.labels, found.labels)


def test_missing_values_can_be_refused(frame):
    holed = frame.assign(x=frame["x"].where(frame["x"] < 9.5))
    with pytest.raises(ValueError, match=r"no finite value for 'x'.*on_missing='drop'"):
        dynmeans.cluster(holed, on_missing="error", **WHEN)


def test_length_of_a_window_may_be_a_timedelta_and_times_may_be_periods(frame, found):
    periods = frame.assign(when=frame["when"].dt.to_period("min"))
    other = dynmeans.cluster(periods, **WHEN | {"every": pd.Timedelta("20min")})
    pd.testing.assert_series_equal(other.labels, found.labels)
    assert "20 windows of 20min" in other.summary()


def test_rows_that_all_lack_a_value_are_an_error_that_says_so(frame):
    with pytest.raises(ValueError, match="every row of the input lacks a value: 400 lack 'x'"):
        dynmeans.cluster(frame.assign(x=np.nan), **WHEN)


def test_time_may_be_the_index(frame, found):
    by_time = dynmeans.cluster(frame.set_index("when"), **WHEN)
    np.testing.assert_array_equal(by_time.labels, found.labels)
    assert by_time.labels.index.name == "when"


def test_columns_that_no_table_can_hold_do_no_harm_unless_they_are_asked_for(frame, found):
    odd = frame.assign(thing=[object()] * len(frame))
    pd.testing.assert_series_equal(dynmeans.cluster(odd, **WHEN).labels, found.labels)
    with pytest.raises(ValueError, match="column 'thing' cannot be read"):
        dynmeans.cluster(odd, **WHEN | {"features": ["x", "thing"]})


def test_a_file_has_its_labels_by_key(frame, tmp_path):
    frame.to_csv(tmp_path / "rows.csv")
    found = dynmeans.cluster(tmp_path / "rows.csv", id="name", **WHEN)
    assert found.labels.index.tolist() == frame.index.tolist()


def test_frames_and_history_have_names_and_dates(found):
    assert {"center_x", "center_y"} <= set(found.clusters.columns)
    assert found.history.feature_names == ("x", "y")
    assert found.history.times[0].isoformat() == "2026-03-01T00:00:00+00:00"
    assert set(found.events["kind"]) >= {"born", "moved"}
    assert "center_x" in found.history.to_frame().columns


def test_features_of_unlike_units_are_standardized_where_that_is_asked_for(frame, found):
    unlike = frame.assign(y=1000 * frame["y"])
    scaled = dynmeans.cluster(unlike, space="standard", **WHEN)
    assert sorted(scaled.labels.value_counts()) == [200, 200]
    centers = scaled.clusters.sort_values("center_x")["center_y"]
    np.testing.assert_allclose(centers, [0, 9000], atol=300)
    with pytest.raises(ValueError, match="space must be one of raw, standard"):
        dynmeans.cluster(frame, space=3, **WHEN)


def test_families_are_found_where_they_are_asked_for(frame, found):
    assert found.families is None
    assert dynmeans.cluster(frame, families=True, **WHEN).families.n_families == 2


def test_a_folder_is_kept_and_the_same_call_resumes_it(frame, tmp_path):
    first = dynmeans.cluster(duckdb.from_df(frame), run_folder=tmp_path / "run", **WHEN)
    again = dynmeans.cluster(duckdb.from_df(frame), run_folder=tmp_path / "run", **WHEN)
    assert again.status.n_windows == first.status.n_windows
    pd.testing.assert_series_equal(again.labels, first.labels)
    with pytest.raises(ValueError, match=r"new_penalty|penalties was .* overwrite=True"):
        dynmeans.cluster(frame, run_folder=tmp_path / "run", penalties=1.0, **WHEN)


def test_a_result_keeps_its_rows_after_a_later_call_added_some_to_the_folder(frame, tmp_path):
    frame = frame.sort_values("when")
    first = dynmeans.cluster(frame[:200], run_folder=tmp_path / "run", **WHEN)
    before = first.labels
    dynmeans.cluster(frame, run_folder=tmp_path / "run", **WHEN)
    first.choose_level("default")  # shows everything anew
    pd.testing.assert_series_equal(first.labels, before)


def test_a_folder_that_was_not_named_goes_with_the_result(frame):
    found = dynmeans.cluster(frame, **WHEN)
    folder = found.folder
    assert folder.exists()
    del found
    assert not folder.exists()


def test_report_plot_and_labels_are_written(found, frame, tmp_path):
    page = found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>Clusters of x, y</title>" in page
    found.plot().savefig(tmp_path / "all.png")
    assert found.plot("timeline").axes[0].get_xticklabels()[0].get_text() == "03-01 00:00"
    labeled = pd.read_parquet(found.write_labels(tmp_path / "rows.parquet"))
    np.testing.assert_array_equal(labeled["cluster_id"], found.labels)
    np.testing.assert_array_equal(labeled["x"], frame["x"])


def test_a_notebook_is_shown_a_short_table_that_no_text_can_break(frame):
    rows = frame.rename(columns={"x": "<b>x</b>"})
    found = dynmeans.cluster(rows, **WHEN | {"features": ["<b>x</b>", "y"]})
    text = found._repr_html_()
    assert "center_&lt;b&gt;x&lt;/b&gt;" in text
    assert "<b>" not in text


def test_clusters_are_described_by_other_columns_of_the_frame(frame):
    ships = frame.assign(ship=np.where(frame["x"] > 4, "tug", "ferry"))
    found = dynmeans.cluster(ships, **WHEN)
    told = found.describe("ship").set_index("distinctive_ship")
    assert told.loc["tug", "mean_x"] == pytest.approx(9.0, abs=0.1)
    with pytest.raises(ValueError, match=r"families requires families=True in cluster"):
        found.describe(families=True)


def test_a_named_cluster_is_named_everywhere(frame, tmp_path):
    found = dynmeans.cluster(frame, **WHEN)
    assert found.clusters["name"].isna().all()
    found.name_cluster(1, "TUG 17")
    assert found.clusters["name"].tolist()[1] == "TUG 17"
    assert found.history.name_of(1) == "TUG 17"
    assert "TUG 17" in found._repr_html_()
    assert "TUG 17" in found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    labeled = pd.read_parquet(found.write_labels(tmp_path / "rows.parquet"))
    assert set(labeled.loc[labeled["cluster_id"] == 1, "cluster_name"]) == {"TUG 17"}


def test_messages_name_the_arguments_of_this_call(frame):
    with pytest.raises(ValueError, match=r"^n_clusters cannot be combined with new_penalty"):
        dynmeans.cluster(frame, new_penalty=1.0, n_clusters=3, **WHEN)
    with pytest.raises(TypeError, match=r"no argument 'length'\. There are frame"):
        dynmeans.cluster(frame, length="1d", **WHEN)
    with pytest.raises(ValueError, match=r"^give exactly one of every="):
        dynmeans.cluster(frame, features=["x"])


def test_an_array_is_told_how_to_become_a_frame():
    with pytest.raises(ValueError, match=r"got numpy.ndarray. An array becomes a frame with"):
        dynmeans.cluster(np.zeros((3, 2)), rows_per_window=2, features=["x"])


def test_columns_of_numbers_have_their_numbers_for_names(tmp_path):
    table = read_input_table(pd.DataFrame(np.eye(3)), ["0"], tmp_path).table
    assert table.column_names == ["0", "1", "2"]


def test_one_lambda_alone_is_a_penalty_too(frame):
    found = dynmeans.cluster(frame, penalties=9.0, **WHEN)
    assert found.penalties.new_penalty == Penalties(9.0, max_gap=6.8, reach=1.2).new_penalty
    assert found.status.n_clusters_total == 2


def test_a_misspelled_argument_is_guessed():
    with pytest.raises(TypeError, match=r"no argument 'ever'\. Did you mean 'every'\?"):
        dynmeans.cluster(pd.DataFrame({"x": [1.0]}), features=["x"], ever="1min")


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize("odd", [1.5, 3, np.float64(2.5), np.int64(3), float("inf"), "noon"])
def test_a_number_or_word_among_moments_has_no_label(odd, is_first):
    moments = list(pd.date_range("2024-01-01", periods=4, freq="h"))
    column = [odd, *moments] if is_first else [*moments, odd]
    frame = pd.DataFrame({"x": 1.0, "when": pd.Series(column, dtype=object)})
    with pytest.warns(UserWarning, match="when"):
        found = dynmeans.cluster(frame, features=["x"], time="when", every="1h", new_penalty=1)
    assert found.labels.isna().tolist() == [value is odd for value in column]


@pytest.mark.parametrize("is_first", [False, True])
def test_dates_among_moments_leave_them_their_hours(is_first):
    moments, day = list(pd.date_range("2024-01-01", periods=4, freq="h")), date(2024, 1, 2)
    column = [day, *moments] if is_first else [*moments, day]
    frame = pd.DataFrame({"x": 1.0, "when": pd.Series(column, dtype=object)})
    found = dynmeans.cluster(frame, features=["x"], time="when", every="1h", new_penalty=1)
    with found.open_run() as run:
        assert run.status().n_windows == 5
