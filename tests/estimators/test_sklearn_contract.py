"""scikit-learn's own checks, on every estimator, with no exceptions."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dynmeans import DDPMixture, DPMeans, DynamicMeans, Penalties

ESTIMATORS = [
    DynamicMeans(),
    DynamicMeans(1.0),
    DynamicMeans(1.0, space="standard"),
    DynamicMeans(Penalties(1.0, max_gap=5, reach=1.5)),
    DPMeans(),
    DPMeans(1.0),
    DDPMixture(),
    DDPMixture("variational"),
    DDPMixture("particle"),
]
FRAME = {"x": [0.0, 0.1, 5.0], "y": [1.0, 1.1, 9.0]}


# Their points are often noise alone, from which "auto" can learn little.
@pytest.mark.filterwarnings("ignore::dynmeans.records.suggestion.SuggestionWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_no_scikit_learn_check_is_skipped_where_array_api_is_on(estimator):
    code = (
        "from sklearn.utils.estimator_checks import check_estimator\n"
        "from dynmeans import DDPMixture, DPMeans, DynamicMeans, Penalties\n"
        f"print({{check['status'] for check in check_estimator({estimator!r})}})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "{'passed'}"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize("frame_type", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_give_feature_names(estimator, frame_type):
    model = clone(estimator).fit(frame_type(FRAME))
    assert model.feature_names_in_.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame_type({"z": FRAME["x"], "y": FRAME["y"]}))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output_names_columns_after_identities(kind):
    model = DynamicMeans(random_state=1).set_output(transform=kind)
    model.partial_fit(pd.DataFrame(FRAME))
    distances = model.transform(pd.DataFrame(FRAME))
    assert list(distances.columns) == ["dynamicmeans0", "dynamicmeans1"]


def test_works_at_the_end_of_a_pipeline():
    X = np.array(list(FRAME.values())).T
    model = make_pipeline(StandardScaler(), DPMeans(0.5, random_state=0))
    assert len(set(model.fit_predict(X))) == 2
