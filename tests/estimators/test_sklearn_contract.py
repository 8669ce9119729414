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


# scikit-learn skips this check unless a variable is set before SciPy is imported.
ARRAY_API_CHECK = "check_array_api_input"
CHECKS = parametrize_with_checks(ESTIMATORS)
CHECKS_HERE = [pair for pair in CHECKS.args[1] if pair[1].func.__name__ != ARRAY_API_CHECK]


# Their points are often noise alone, from which "auto" can learn little.
@pytest.mark.filterwarnings("ignore::dynmeans.records.suggestion.SuggestionWarning")
@pytest.mark.parametrize(CHECKS.args[0], CHECKS_HERE, ids=CHECKS.kwargs["ids"])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_scikit_learn_check_of_array_api_input():
    code = (
        "from sklearn.utils.estimator_checks import estimator_checks_generator\n"
        "from dynmeans import DDPMixture, DPMeans, DynamicMeans, Penalties\n"
        f"for one in {ESTIMATORS!r}:\n"
        "    for estimator, check in estimator_checks_generator(one):\n"
        f"        if check.func.__name__ == {ARRAY_API_CHECK!r}:\n"
        "            check(estimator)\n"
        "            print('passed')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["passed"] * len(ESTIMATORS)


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
