"""Features on a scale on which flows lie apart."""

import numpy as np
import pytest

from paper.flows.flow_features import (
    ComponentScaling,
    total_variance,
    unit_length,
)

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
