"""The mixture as an estimator: scikit-learn's own checks, frames, dates, threads."""

import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from paper.mixture.ddp_mixture import DDPMixture

ESTIMATORS = [DDPMixture(), DDPMixture("variational"), DDPMixture("particle")]
DAYS = pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"])
FRAME = pd.DataFrame(
    {"day": DAYS.repeat(2), "lon": [0.0, 9.0] * 3, "lat": [0.0, 9.0] * 3}, index=list("abcdef")
)


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize("frame_type", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_give_feature_names(estimator, frame_type):
    frame = {"x": [0.0, 0.1, 5.0], "y": [1.0, 1.1, 9.0]}
    model = clone(estimator).fit(frame_type(frame))
    assert model.feature_names_in_.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame_type({"z": frame["x"], "y": frame["y"]}))


def test_masked_values_are_refused_and_not_taken_for_values():
    masked = np.ma.masked_array([[1.0], [2.0], [99.0]], mask=[[0], [0], [1]])
    with pytest.raises(ValueError, match="X must have no masked values, got 1"):
        DDPMixture().fit(masked)


def test_groups_are_taken_and_labels_have_the_index():
    model = DDPMixture("variational")
    labels, _ = model.fit_sequence(FRAME.groupby("day"), time_step=pd.Timedelta("12h"))
    assert pd.concat(labels).index.tolist() == list("abcdef")
    assert model.state_.time == 5.0  # one step, and twice two


def test_history_has_names_and_dates():
    _, history = DDPMixture("variational").fit_sequence(FRAME.groupby("day"))
    assert history.feature_names == ("lon", "lat")
    assert history.times == list(DAYS)
    model = DDPMixture("variational", keep_history=True).partial_fit([[0.0]], time="Monday")
    assert model.history_.times == ["Monday"]


class Waiting:
    """An array-like that is read only once the test says so."""

    def __init__(self):
        self.is_read, self.may_go = threading.Event(), threading.Event()

    def __array__(self, dtype=None, copy=None):
        self.is_read.set()
        assert self.may_go.wait(10)
        return np.zeros((3, 2))


def test_a_second_thread_gets_an_error_and_the_first_its_batch():
    model, slow = DDPMixture(random_state=0), Waiting()
    thread = threading.Thread(target=model.partial_fit, args=(slow,))
    thread.start()
    assert slow.is_read.wait(10)
    with pytest.raises(RuntimeError, match="is taking in a batch in another thread"):
        model.partial_fit(np.ones((2, 2)))
    slow.may_go.set()
    thread.join()
    assert model.n_steps_ == 1
