"""Features on a scale on which flows lie apart."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paper.flows.flow_features import (
    ComponentScaling,
    total_variance,
    unit_length,
)

ROOT = Path(__file__).parents[3]
FEATURES = np.random.default_rng(0).normal(size=(300, 8)) * np.arange(1.0, 9.0)


def test_rows_have_unit_length_and_zeros_stay():
    rows = unit_length(np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 0.0]])


def test_variance_of_each_component_is_the_root_of_its_eigenvalue():
    scaling = ComponentScaling.fit(FEATURES, n_components=5)
    unit = unit_length(FEATURES)
    eigenvalues = np.sort(np.linalg.eigvalsh(np.cov(unit.T, bias=True)))[::-1]
    found = scaling.transform(FEATURES).var(axis=0)
    np.testing.assert_allclose(found, np.sqrt(eigenvalues[:5]), rtol=1e-9)


def test_total_variance_is_that_of_the_fitted_features():
    scaling = ComponentScaling.fit(FEATURES, n_components=5)
    assert scaling.total_variance == pytest.approx(total_variance(scaling.transform(FEATURES)))


def test_components_without_variance_are_left_out():
    flat = FEATURES.copy()
    flat[:, 3:] = 0.0
    assert ComponentScaling.fit(flat, n_components=8).transform(flat).shape == (300, 3)


def test_fitting_on_nothing_is_refused():
    with pytest.raises(ValueError, match="features must have rows"):
        ComponentScaling.fit(FEATURES[:0])


_PROGRAM = """
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from paper.flows.flow_features import ComponentScaling

features = np.random.default_rng(0).normal(size=(900, 600))
print(hashlib.sha256(ComponentScaling.fit(features).transform(features).tobytes()).hexdigest())
"""


def _printed(n_threads):
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(n_threads))
    command = [sys.executable, "-c", _PROGRAM]
    run = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=True, cwd=ROOT
    )
    return run.stdout


def test_scaled_features_do_not_depend_on_the_threads_of_blas():
    assert _printed(1) == _printed(2)
