"""Gaussian process features: the same as scikit-learn's, in less time."""

import numpy as np
import pytest
from flights import made_trajectories
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from paper.flights.trajectories import Area
from paper.flows.gp_features import Lattice, gp_features, thin_points
from paper.flows.gp_hyperparameters import (
    log_likelihoods,
    own_hyperparameters,
    shared_hyperparameters,
)


def inputs_and_outputs(flights, row):
    points = slice(flights.starts[row], flights.starts[row + 1])
    positions = np.column_stack([flights.latitudes[points], flights.longitudes[points]])
    return positions, np.column_stack([flights.north[points], flights.east[points]])


def scikit_features(flights, lattice, length_scale, noise_ratio, signal=9e4):
    places = [(a, b) for a in lattice.latitudes for b in lattice.longitudes]
    rows = []
    for row in range(len(flights)):
        kernel = ConstantKernel(signal, "fixed") * RBF(length_scale, "fixed")
        model = GaussianProcessRegressor(kernel, alpha=signal * noise_ratio, optimizer=None)
        rows.append(model.fit(*inputs_and_outputs(flights, row)).predict(places).T.ravel())
    return np.array(rows)


@pytest.mark.parametrize(("length_scale", "noise_ratio"), [(2.5, 0.01), (1.0, 1.0), (4.0, 0.1)])
def test_features_are_those_of_scikit_learn(length_scale, noise_ratio):
    flights, lattice = made_trajectories(12), Lattice()
    found = gp_features(flights, length_scale=length_scale, noise_ratio=noise_ratio)
    expected = scikit_features(flights, lattice, length_scale, noise_ratio)
    assert found.shape == (12, 400)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_features_of_thinned_trajectories_are_those_of_scikit_learn_on_the_same_points():
    flights = made_trajectories(4)
    found = gp_features(flights, max_points=15)
    expected = scikit_features(thin_points(flights, 15), Lattice(), 2.5, 0.01)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_each_trajectory_may_have_its_own_hyperparameters():
    flights, lengths = made_trajectories(3), np.array([1.0, 2.0, 3.0])
    found = gp_features(flights, length_scale=lengths, noise_ratio=[0.1, 0.2, 0.3])
    alone = gp_features(flights.select([1]), length_scale=2.0, noise_ratio=0.2)
    np.testing.assert_allclose(found[[1]], alone, atol=1e-9)


def test_number_of_threads_changes_no_bit():
    flights = made_trajectories(400, sizes=(15, 70))
    np.testing.assert_array_equal(gp_features(flights, n_jobs=1), gp_features(flights, n_jobs=2))


def test_thinned_trajectory_keeps_its_ends_and_is_spread_evenly():
    flights = made_trajectories(1, sizes=(51, 52))
    thinned = thin_points(flights, 11)
    np.testing.assert_array_equal(thinned.times, flights.times[::5])


def test_trajectory_with_a_value_that_is_not_finite_has_a_row_of_nan():
    flights = made_trajectories(3)
    flights.north[flights.starts[1] + 2] = np.inf
    is_finite = np.isfinite(gp_features(flights)).all(axis=1)
    assert is_finite.tolist() == [True, False, True]


def test_no_trajectories_have_no_features():
    assert gp_features(made_trajectories(2).select([])).shape == (0, 400)


def test_progress_ends_with_all_done():
    calls = []
    gp_features(made_trajectories(5), on_progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (5, 5)


def test_cached_features_are_the_same_and_are_read_again(tmp_path):
    flights = made_trajectories(3)
    first = gp_features(flights, cache=tmp_path)
    (kept,) = tmp_path.glob("*.npy")
    np.save(kept, first + 1)
    np.testing.assert_array_equal(gp_features(flights, cache=tmp_path), first + 1)


@pytest.mark.parametrize(
    "change",
    [
        {"noise_ratio": 0.02},
        {"length_scale": 2.6},
        {"max_points": 20},
        {"lattice": Lattice(n_latitudes=9)},
        {"lattice": Lattice(Area(24.0, 50.0, -126.0, -67.0))},
    ],
)
def test_cache_is_not_used_for_anything_else(tmp_path, change):
    flights = made_trajectories(3)
    gp_features(flights, cache=tmp_path)
    np.testing.assert_array_equal(
        gp_features(flights, cache=tmp_path, **change), gp_features(flights, **change)
    )


def test_cache_that_cannot_be_read_is_made_again(tmp_path):
    flights = made_trajectories(3)
    first = gp_features(flights, cache=tmp_path)
    (kept,) = tmp_path.glob("*.npy")
    kept.write_bytes(b"half a file")
    np.testing.assert_array_equal(gp_features(flights, cache=tmp_path), first)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"length_scale": 0}, "length_scale must be greater than 0, got 0"),
        ({"noise_ratio": 1e-12}, "noise_ratio must be at least 1e-08"),
        ({"noise_ratio": [0.1, 0.1]}, "noise_ratio must be one number or one for each of 3"),
        ({"length_scale": [1.0, np.nan, 1.0]}, "length_scale must be finite"),
        ({"max_points": 1}, "max_points must be at least 2"),
    ],
)
def test_bad_settings_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        gp_features(made_trajectories(3), **settings)


def test_lattice_of_one_line_is_refused():
    with pytest.raises(ValueError, match="n_latitudes must be an integer of at least 2, got 1"):
        Lattice(n_latitudes=1)


def test_likelihood_is_that_of_scikit_learn():
    flights = made_trajectories(6)
    kernel = ConstantKernel(9e4, "fixed") * RBF(2.5, "fixed")
    expected = [
        GaussianProcessRegressor(kernel, alpha=900.0, optimizer=None)
        .fit(*inputs_and_outputs(flights, row))
        .log_marginal_likelihood_value_
        for row in range(6)
    ]
    np.testing.assert_allclose(log_likelihoods(flights, 2.5, 0.01, 9e4), expected, rtol=1e-9)


def test_shared_hyperparameters_are_a_maximum_of_the_likelihood():
    flights = made_trajectories(20)
    best = shared_hyperparameters(flights, rng=np.random.default_rng(0), max_points=None)
    arguments = (best.length_scale, best.noise_ratio, best.signal_variance)
    assert log_likelihoods(flights, *arguments).sum() == pytest.approx(best.log_likelihood)
    for axis in range(3):
        for factor in (0.8, 1.25):
            moved = [x * factor if i == axis else x for i, x in enumerate(arguments)]
            assert log_likelihoods(flights, *moved).sum() < best.log_likelihood


def test_own_hyperparameters_fit_each_trajectory_better_than_shared_ones():
    flights = made_trajectories(6)
    shared = shared_hyperparameters(flights, rng=np.random.default_rng(0), max_points=None)
    own = own_hyperparameters(flights, max_points=None)
    together = log_likelihoods(
        flights, shared.length_scale, shared.noise_ratio, shared.signal_variance
    )
    for row in range(6):
        alone = log_likelihoods(
            flights.select([row]),
            own.length_scale[row],
            own.noise_ratio[row],
            own.signal_variance[row],
        )
        assert alone[0] > together[row]


def test_hyperparameters_need_a_trajectory():
    with pytest.raises(ValueError, match="no trajectory has finite points"):
        shared_hyperparameters(made_trajectories(1).select([]), rng=np.random.default_rng(0))
