"""river's own checks, and windows that give what the estimator gives."""

import math

import numpy as np
import pytest

from dynmeans import DynamicMeans

river = pytest.importorskip("river")
from river import checks, datasets  # noqa: E402
from river.checks import common  # noqa: E402

from dynmeans import RiverDynamicMeans  # noqa: E402

WITH_ROWS = [
    common.check_learn_one,
    common.check_pickling,
    common.check_shuffle_features_no_impact,
    common.check_emerging_features,
    common.check_disappearing_features,
    common.check_radically_disappearing_features,
    common.check_predict_one_before_any_learn,
    common.check_no_state_aliasing_with_input,
    common.check_clone_is_independent,
]


def named(row):
    return {"x": float(row[0]), "y": float(row[1])}


@pytest.mark.parametrize(
    "check", [*checks.yield_checks(RiverDynamicMeans())], ids=lambda c: c.__name__
)
def test_check_of_river_passes(check):
    check(RiverDynamicMeans(window_size=20, penalties=1.0))


@pytest.mark.parametrize("check", WITH_ROWS, ids=lambda check: check.__name__)
def test_check_of_river_passes_on_rows(check):
    rows = list(datasets.Phishing().take(60))  # river has none of its own for clusterers
    check(RiverDynamicMeans(window_size=20, penalties=1.0), rows)


def test_windows_give_the_labels_of_the_estimator():
    points = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)
    rows = np.random.default_rng(1).permutation(points)
    model, expected = RiverDynamicMeans(20, 9.0), DynamicMeans(9.0, random_state=0)
    for row in rows:
        model.learn_one(named(row))
    for window in np.split(rows, 3):
        expected.partial_fit(window)
    assert model.model.state_ == expected.state_
    assert [model.predict_one(named(row)) for row in rows] == expected.predict(rows).tolist()
    assert set(model.centers) == set(expected.cluster_ids_.tolist())


def test_row_that_is_no_number_changes_nothing():
    model = RiverDynamicMeans(2, 1.0)
    model.learn_one({"x": 1.0})
    with pytest.raises(ValueError, match=r"got 'red' for 'x'.*river.preprocessing"):
        model.learn_one({"x": "red"})
    model.learn_one({"x": 9.0})
    assert len(model.centers) == 2


@pytest.mark.parametrize("value", [1e200, 10**400, float("nan"), -math.inf])
def test_value_that_no_window_could_hold_is_refused_with_its_row_alone(value):
    model = RiverDynamicMeans(2, 1.0)
    model.learn_one({"x": 1.0})
    with pytest.raises(ValueError, match="finite numbers of at most 1e\\+100"):
        model.learn_one({"x": value})
    model.learn_one({"x": 9.0})
    assert len(model.centers) == 2


def test_window_that_cannot_be_clustered_keeps_its_rows():
    model = RiverDynamicMeans(2, "red")
    model.learn_one({"x": 1.0})
    with pytest.raises((TypeError, ValueError), match="penalties"):
        model.learn_one({"x": 9.0})
    model.penalties = 1.0
    model.learn_one({"x": 9.0})
    assert len(model.centers) == 2


def test_before_the_first_window_there_is_no_cluster():
    model = RiverDynamicMeans(3, 1.0)
    model.learn_one({"x": 1.0})
    assert model.predict_one({"x": 1.0}) == -1
    with pytest.raises(AttributeError, match="after the first window of 3 rows; 1 came so far"):
        _ = model.model


def test_feature_that_a_row_lacks_takes_the_mean_of_those_seen():
    model = RiverDynamicMeans(4, 4.0)
    for y in (100.0, 101.0, 102.0, 101.0):
        model.learn_one({"x": 0.0, "y": y})
    assert model.predict_one({"x": 0.0}) == model.predict_one({"x": 0.0, "y": 101.0}) == 0


def test_names_that_are_no_features_are_not_kept():
    model = RiverDynamicMeans(window_size=5, penalties=1.0)
    for i in range(200):
        model.learn_one({"x": float(i % 2), **({f"new {i}": 1.0} if i >= 5 else {})})
    assert set(model._seen) == {"x"}
    assert all(set(row) <= {"x"} for row in model._rows)
