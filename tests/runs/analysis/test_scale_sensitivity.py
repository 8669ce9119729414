"""Clusters that look like two, and two that look like one, on the page and in the summary."""

import numpy as np
import pandas as pd
import pytest

import dynmeans
from dynmeans.report.from_run import run_report
from dynmeans.runs.analysis.scale_sensitivity import format_scale_sensitivity, scale_sensitivity


@pytest.mark.parametrize("n_features", [1, 2, 8])
@pytest.mark.parametrize("n_points", [5, 30, 300])
def test_one_round_cloud_does_not_look_like_two(n_features, n_points):
    rng = np.random.default_rng(0)
    for _ in range(20):
        points, lam = rng.normal(size=(n_points, n_features)), 8.0 * n_features
        assert scale_sensitivity(points, np.zeros(n_points, dtype=int), lam) == {}


def test_two_clouds_under_one_name_look_like_two_if_half_of_lambda_pays_for_it():
    rng = np.random.default_rng(1)
    points = np.repeat([[-1.0, 0.0], [1.0, 0.0]], 10, axis=0) + 0.1 * rng.normal(size=(20, 2))
    # Apart, the scatter is lower by about 20.
    told = {9: "9 may be split in two"}
    assert scale_sensitivity(points, np.full(20, 9), 30.0) == told
    assert scale_sensitivity(points, np.full(20, 9), 50.0) == {}


def test_two_halves_of_a_cloud_look_like_one_if_twice_lambda_reaches_all_of_it():
    points = np.random.default_rng(2).normal(size=(300, 2))
    labels = np.where(points[:, 0] > 0.0, 3, 7)
    farthest = float(((points - points.mean(axis=0)) ** 2).sum(axis=1).max())
    told = "3 and 7 may be one cluster"
    assert scale_sensitivity(points, labels, 0.51 * farthest) == {3: told, 7: told}
    assert scale_sensitivity(points, labels, 0.49 * farthest) == {}


def test_outliers_belong_to_nobody_and_many_marks_are_cut_short():
    assert scale_sensitivity(np.zeros((3, 2)), np.full(3, -1), 1.0) == {}
    told = {k: f"{k} may be split in two" for k in range(9)}
    assert format_scale_sensitivity(told).endswith("4 may be split in two; and more.")
    assert format_scale_sensitivity({}) is None


def test_page_and_summary_of_a_call_tell_it():
    rng = np.random.default_rng(3)
    clouds = np.repeat([[-1.0, 0.0], [1.0, 0.0], [30.0, 0.0]], 10, axis=0)
    points = np.vstack([clouds + 0.1 * rng.normal(size=(30, 2)) for _ in range(3)])
    frame = pd.DataFrame(points, columns=["x", "y"]).assign(day=np.repeat(range(3), 30))
    how = {"window_column": "day", "features": ["x", "y"], "random_state": 0, "new_penalty": 30.0}
    found = dynmeans.cluster(frame, **how)
    merged = int(found.labels.iloc[-30])
    assert f"{merged} may be split in two." in found.summary()
    with found.open_run() as run:
        data = run_report(run)
    assert data.descriptions[merged][0] == f"{merged} may be split in two"
    assert any("may be split in two" in note for note in data.notes)
    fine = dynmeans.cluster(frame, **{**how, "new_penalty": 8.0, "search": "deep"})
    assert "look" not in fine.summary()
