"""Frames keep their names: groups are batches, features and dates reach frames and figures."""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure

from dynmeans import DDPMixture, DynamicMeans, History
from dynmeans.plots import plot_timeline, plot_tracks

DAYS = pd.date_range("2026-03-01", periods=3)
FRAME = pd.DataFrame(
    {"day": DAYS.repeat(2), "lon": [0.0, 9.0, 0.1, 9.1, 0.2, 9.2], "lat": [0.0, 5.0] * 3},
    index=list("abcdef"),
)


def followed(batches, **options):
    return DynamicMeans(1.0, random_state=0).fit_sequence(batches, **options)


def test_groups_of_a_frame_are_batches_and_their_key_is_no_feature():
    labels, history = followed(FRAME.groupby("day"))
    assert history.feature_names == ("lon", "lat")
    assert history.times == list(DAYS)
    assert pd.concat(labels).index.tolist() == list("abcdef")


def test_groups_of_polars_come_in_order_and_give_series():
    labels, history = followed(pl.from_pandas(FRAME).group_by("day"))
    assert isinstance(labels[0], pl.Series)
    assert history.times == list(DAYS)


def test_a_list_of_named_frames_names_the_batches():
    frames = [(name, FRAME[["lon", "lat"]]) for name in ("Monday", "Tuesday")]
    assert followed(frames)[1].times == ["Monday", "Tuesday"]


def test_frames_of_a_history_name_features_and_dates():
    frame = followed(FRAME.groupby("day"))[1].to_frame()
    assert {"when", "center_lon", "center_lat"} <= set(frame.columns)
    assert frame["when"].iloc[0] == datetime(2026, 3, 1)


def test_steps_of_time_follow_from_dates():
    times = [DAYS[0], DAYS[1], DAYS[1] + pd.Timedelta("2D")]
    batches = [[[0.0]], [[0.1]], [[0.2]]]
    _, history = followed(batches, times=times, time_step=timedelta(days=1))
    assert [record.time for record in history] == [1.0, 2.0, 4.0]


def test_a_length_of_time_needs_the_length_of_a_step():
    model = DynamicMeans(1.0).fit([[0.0]])
    with pytest.raises(TypeError, match="time_step="):
        model.partial_fit([[0.0]], elapsed=pd.Timedelta("1h"))
    model.partial_fit([[0.0]], elapsed=pd.Timedelta("1h"), time_step=pd.Timedelta("30min"))
    assert model.state_.time == 3.0


def test_a_single_table_is_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"single DataFrame.*groupby"):
        followed(FRAME)
    with pytest.raises(ValueError, match="single ndarray"):
        followed(np.zeros((3, 2)))


def test_rows_and_paths_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"got a sequence of rows. Give one table for each batch"):
        followed([[0.0, 1.0], [2.0, 3.0]])
    with pytest.raises(ValueError, match=r"got a single str.*dynmeans.cluster\(frame, time="):
        followed("rows.csv")


def test_times_of_single_batches_reach_the_history_and_count_as_steps():
    model = DynamicMeans(1.0, random_state=0, keep_history=True)
    for time in (DAYS[0], DAYS[1], DAYS[1] + pd.Timedelta("2D")):
        model.partial_fit([[0.0]], time=time, time_step=pd.Timedelta("1D"))
    assert [record.time for record in model.history_] == [1.0, 2.0, 4.0]
    assert model.history_.times[1] == DAYS[1]
    with pytest.raises(ValueError, match="time_step needs times that are dates or numbers and"):
        model.partial_fit([[0.0]], time=DAYS[0], time_step=pd.Timedelta("1D"))
    assert model.n_steps_ == 3
    model.partial_fit([[0.0]], time=DAYS[2] + pd.Timedelta("9D"))
    assert model.state_.time == 5.0


def test_others_take_groups_and_give_labels_with_the_index():
    model = DDPMixture("variational")
    labels, _ = model.fit_sequence(FRAME.groupby("day"), time_step=pd.Timedelta("12h"))
    assert pd.concat(labels).index.tolist() == list("abcdef")
    state = model.state_
    assert state.time == 5.0  # one step, and twice two


def test_history_of_a_mixture_has_names_and_dates():
    _, history = DDPMixture("variational").fit_sequence(FRAME.groupby("day"))
    assert history.feature_names == ("lon", "lat")
    assert history.times == list(DAYS)


def test_names_and_dates_survive_a_file(tmp_path):
    _, history = followed(FRAME.groupby("day"))
    history.save(tmp_path / "history.parquet")
    loaded = History.load(tmp_path / "history.parquet")
    assert (loaded.feature_names, loaded.times) == (history.feature_names, history.times)


def test_figures_show_dates_and_names():
    _, history = followed(FRAME.groupby("day"))
    ax = plot_timeline(history, ax=Figure().subplots())
    assert ax.get_xticklabels()[0].get_text() == "2026-03-01"
    ax = plot_tracks(history, ax=Figure().subplots())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("lon", "lat")
    assert ax.get_title() == "Time 2026-03-03: 2 clusters"


def test_dates_that_do_not_rise_are_warned_of():
    days = {datetime(2026, 3, 2): [[0.0]], datetime(2026, 3, 1): [[0.0]]}
    with pytest.warns(UserWarning, match="times are not increasing"):
        _, history = DynamicMeans(1.0, random_state=0).fit_sequence(days)
    assert history.times == ["2026-03-02 00:00:00", "2026-03-01 00:00:00"]
