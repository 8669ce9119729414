import math

import numpy as np
import pytest
from description_twin import noise
from description_twin.tracks import Tracks
from scipy.integrate import quad
from scipy.stats import invgamma, norm, t

from dynmeans.parameters.tracks import Points


def gathered(batches, labels):
    rows = [np.array(batch, dtype=float).reshape(len(batch), -1) for batch in batches]
    points = Points.gather(rows, [np.ones(len(b)) for b in rows], 1.0 + np.arange(len(rows)))
    return points, Tracks.gather(points, np.array(labels))


PAIR = gathered([[1.0, -1.0]], [0, 0])


def test_shared_variance_counts_one_point_less_for_each_cell():
    # Cells {1, -1} and {4, 6}: squares 2 + 2 over 2 free points.
    points, tracks = gathered([[1.0, -1.0], [4.0, 6.0]], [0, 0, 0, 0])
    assert noise.shared_variance(points, tracks, 0.0) == pytest.approx(2.0)


def test_gaussian_integrates_the_mean_of_a_cell_out():
    expected, _ = quad(lambda m: norm.pdf(1, m, 3) * norm.pdf(-1, m, 3), -60, 60)
    assert noise.gaussian(*PAIR, 9.0) == pytest.approx(math.log(expected))


def test_gaussian_by_hand():
    # One free point of variance 2, squares 2, and half of log 2 for the mean.
    expected = -0.5 * math.log(2 * math.pi * 2) - 0.5 * 2 / 2 - 0.5 * math.log(2)
    assert noise.gaussian(*PAIR, 2.0) == pytest.approx(expected)


def test_student_by_hand():
    # Squares 1 about the mean, 2 about the truth; each of the two points counts for a half.
    found, scale = noise.student(*PAIR, 0.0)
    expected = t.logpdf(math.sqrt(2.0 / scale), 3) - 0.5 * math.log(scale) - 0.5 * math.log(2)
    assert found == pytest.approx(expected)


def test_student_scale_solves_its_equation():
    rng = np.random.default_rng(0)
    points, tracks = gathered([rng.standard_t(3, size=500)], [0] * 500)
    _, scale = noise.student(points, tracks, 0.0)
    squares = tracks.squares / (1 - 1 / 500)
    assert np.mean(4 * squares / (3 + squares / scale)) == pytest.approx(scale, rel=0.01)


def test_student_has_nothing_to_say_of_single_points():
    points, tracks = gathered([[1.0, 5.0]], [0, 1])
    assert noise.student(points, tracks, 0.5) == (-math.inf, 0.5)


def test_own_shape_integrates_mean_and_variance_out(monkeypatch):
    # In one dimension the inverse Wishart of nu = 3 degrees and scale 1.7 is an inverse gamma.
    monkeypatch.setattr(noise, "SHARES", (2.0,))
    prior = invgamma(3 / 2, scale=1.7 / 2)

    def at(variance):
        likelihood = math.exp(noise.gaussian(*PAIR, variance))
        return likelihood * prior.pdf(variance)

    expected, _ = quad(at, 0, np.inf)
    assert noise.own_shapes(PAIR[1], 1.7) == pytest.approx(math.log(expected), rel=1e-6)


def test_own_shapes_prefer_long_clusters_to_be_described_as_long():
    rng = np.random.default_rng(1)
    long = rng.normal(size=(200, 2)) * [5.0, 0.1]
    points, tracks = gathered([np.vstack([long, long[:, ::-1] + 40])], [0] * 200 + [1] * 200)
    variance = noise.shared_variance(points, tracks, 0.0)
    assert noise.own_shapes(tracks, variance) > noise.gaussian(points, tracks, variance) + 500
