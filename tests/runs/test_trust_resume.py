"""Rows that a run has read are what they were: an edit of the past is noticed on resume."""

import numpy as np
import pandas as pd
import pytest
import run_cases

from dynmeans import Run
from dynmeans.runs.reading.window import WindowOptions

FULL = WindowOptions(
    ("x", "y"), time="when", every="1min", truth="truth", id="name", weight="w", on_missing="drop"
)


def edit_feature(frame):
    frame.loc[7, "x"] += 1e-9


def negate_two_features(frame):
    frame.loc[[7, 8], "x"] *= -1


def edit_time_within_its_window(frame):
    frame.loc[13, "when"] += np.timedelta64(1, "us")


def edit_weight(frame):
    frame.loc[7, "w"] = 2.0


def edit_name(frame):
    frame.loc[7, "name"] = "other"


def edit_truth(frame):
    frame.loc[7, "truth"] += 1


def swap_two_rows(frame):
    frame.loc[[20, 21]] = frame.loc[[21, 20]].to_numpy()


def drop_another_row(frame):
    frame.loc[5, "x"], frame.loc[6, "x"] = frame.loc[6, "x"], np.nan


EDITS = [edit_feature, negate_two_features, edit_time_within_its_window, edit_weight, edit_name,
         edit_truth, swap_two_rows, drop_another_row]  # fmt: skip


@pytest.fixture(params=["in order", "out of order"])
def frame(request):
    frame = run_cases.moving_table(8).assign(w=1.0)
    frame["name"] = [f"row {i}" for i in range(len(frame))]
    frame.loc[5, "x"] = np.nan
    if request.param == "out of order":
        order = np.random.default_rng(0).permutation(60)
        frame = pd.concat([frame.iloc[order], frame.iloc[60:]], ignore_index=True)
    return frame


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_rows_already_read_is_noticed_on_resume(frame, tmp_path, edit):
    path, folder = tmp_path / "rows.parquet", tmp_path / "run"
    frame[:60].to_parquet(path, index=False)
    run_cases.follow(path, folder, FULL)
    frame = frame.copy()
    edit(frame)
    frame.to_parquet(path, index=False)
    with pytest.raises(ValueError, match="the input has changed"):
        run_cases.follow(path, folder, FULL)


def test_rows_that_are_added_are_no_edit(frame, tmp_path):
    path, folder = tmp_path / "rows.parquet", tmp_path / "run"
    for end in (60, 72, 84, len(frame)):
        frame[:end].to_parquet(path, index=False)
        run_cases.follow(path, folder, FULL)
    with Run.open(folder) as run:
        assert run.status().n_rows + run.status().n_dropped_rows == len(frame)


def test_the_digest_does_not_depend_on_where_the_run_was_stopped(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    frame = run_cases.moving_table(12)
    frame.to_parquet(path, index=False)
    run_cases.follow(path, tmp_path / "whole")
    monkeypatch.setattr("dynmeans.runs.reading.sources.source.ROWS_AT_A_TIME", 7)
    for end in (36, 72, len(frame)):
        frame[:end].to_parquet(path, index=False)
        run_cases.follow(path, tmp_path / "parts")
    positions = []
    for name in ("whole", "parts"):
        with Run.open(tmp_path / name) as run:
            positions.append(run.position)
    assert positions[0] == positions[1]
