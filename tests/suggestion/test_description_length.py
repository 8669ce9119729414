import math

import numpy as np
import pytest
from scipy.stats import norm, t

from dynmeans.backends import cells
from dynmeans.suggestion import lives, noise
from dynmeans.suggestion.description_length import describe
from dynmeans.suggestion.tracks import Points, Tracks

ROWS = np.array([[0.0], [2.0], [7.0], [9.0], [9.5], [1.0], [1.2]])
WEIGHTS = np.array([1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0])
STARTS = np.array([0, 5, 7])
LABELS = np.array([4, 4, 1, 1, 1, 4, 4])


def test_cells_are_in_order_of_batch_and_identity():
    found = cells.gather(ROWS, WEIGHTS, STARTS, LABELS)
    assert found.starts.tolist() == [0, 2, 3]
    assert found.tracks.tolist() == [0, 1, 1]
    assert found.counts.tolist() == [4.0, 2.0, 2.0]
    assert found.cell_of_row.tolist() == [1, 1, 0, 0, 0, 2, 2]
    np.testing.assert_allclose(found.means.ravel(), [34.5 / 4, 1.0, 1.1])


def test_scatter_sums_weighted_squares_and_products_of_a_track():
    rows = np.array([[0.0, 0.0], [3.0, 6.0], [1.0, 1.0], [1.0, 5.0]])
    found = cells.gather(
        rows, np.array([2.0, 1.0, 1.0, 1.0]), np.array([0, 2, 4]), np.zeros(4, int)
    )
    # About (1, 2): 2 (1, 2) and 1 (2, 4); about (1, 3): twice (0, 2).
    np.testing.assert_allclose(found.scatters, [[[2 + 4, 4 + 8], [4 + 8, 8 + 16 + 8]]])
    np.testing.assert_allclose(found.squares, [5.0, 20.0, 4.0, 4.0])


@pytest.mark.parametrize(
    ("degrees", "density"),
    [(0.0, lambda x: norm.logpdf(x, scale=2.0)), (3.0, lambda x: t.logpdf(x / 2.0, 3))],
    ids=["gaussian", "student"],
)
def test_overlap_is_the_surprise_at_the_named_cluster(degrees, density):
    found = cells.gather(ROWS, WEIGHTS, STARTS, LABELS)
    logits = np.log([4 / 6, 2 / 6]) + density(ROWS[:5] - found.means[:2].ravel())
    named = [1, 1, 0, 0, 0]
    surprise = np.logaddexp(*logits.T) - logits[np.arange(5), named]
    measured = cells.overlap(ROWS, WEIGHTS, STARTS, found, scale=4.0, degrees=degrees)
    assert measured == pytest.approx(WEIGHTS[:5] @ surprise)


def test_points_at_even_distances_stand_for_many():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30_000, 1))
    labels = rng.integers(100, size=30_000)  # three million pairs: every second point is taken
    starts, weights = np.array([0, 30_000]), np.ones(30_000)
    found = cells.gather(rows, weights, starts, labels)
    whole = cells.overlap(rows, weights, starts, found, scale=1.0, degrees=0.0)
    # The labels are random: each point is named as one of a hundred alike clusters.
    assert whole == pytest.approx(30_000 * math.log(100), rel=0.01)


def stream_of(centers, spread, n_batches=10, n=12, seed=0):
    rng = np.random.default_rng(seed)
    centers = np.array(centers, dtype=float)
    batches = [
        centers.repeat(n, axis=0) + spread * rng.normal(size=(n * len(centers), centers.shape[1]))
        for _ in range(n_batches)
    ]
    weights = [np.ones(len(batch)) for batch in batches]
    return Points.gather(batches, weights, 1.0 + np.arange(n_batches))


def test_the_true_clusters_give_the_shortest_description():
    points = stream_of([[0, 0], [5, 0], [0, 5]], 0.5)
    truth = np.tile(np.arange(3).repeat(12), 10)
    split = truth * 2 + np.arange(len(truth)) % 2
    merged = np.minimum(truth, 1)
    lengths = [describe(points, labels).length for labels in (truth, split, merged)]
    assert lengths[0] < min(lengths[1:]) - 50


def test_a_track_that_breaks_off_and_starts_anew_is_longer_to_describe():
    points = stream_of([[0, 0], [5, 0]], 0.5)
    truth = np.tile(np.arange(2).repeat(12), 10)
    broken = np.where((truth == 1) & (np.arange(len(truth)) >= 120), 2, truth)
    assert describe(points, truth).length < describe(points, broken).length - 5


def test_names_of_identities_do_not_matter():
    points = stream_of([[0, 0], [5, 0]], 0.5)
    truth = np.tile(np.arange(2).repeat(12), 10)
    assert describe(points, 7 - 3 * truth).length == pytest.approx(describe(points, truth).length)


def test_single_points_that_move_can_be_described():
    points = stream_of([[0.0], [100.0]], 1.0, n=1)
    apart = describe(points, np.tile([0, 1], 10)).length
    assert apart < describe(points, np.arange(20)).length


def test_tails_and_long_shapes_are_recognised():
    rng = np.random.default_rng(3)
    weights, times = [np.ones(400)] * 2, np.array([1.0, 2.0])
    tails = Points.gather([rng.standard_t(3, size=(400, 1)) for _ in range(2)], weights, times)
    assert describe(tails, np.zeros(800, dtype=int)).shape == "student"
    turns = np.where(np.arange(400)[:, None] < 200, [9.0, 0.3], [0.3, 9.0])
    long = [rng.normal(size=(400, 2)) * turns + 50 * (turns > 1) for _ in range(2)]
    labels = np.tile(np.repeat([0, 1], 200), 2)
    assert describe(Points.gather(long, weights, times), labels).shape == "own"


def test_tracks_count_free_points():
    points = Points.gather([ROWS[:5], ROWS[5:]], [WEIGHTS[:5], WEIGHTS[5:]], np.array([1.0, 2.0]))
    assert Tracks.gather(points, LABELS).n_free == 3 + 1 + 1


def test_parts_are_what_their_models_say():
    points = stream_of([[0, 0], [1, 0]], 0.5)
    labels = np.tile(np.arange(2).repeat(12), 10)
    tracks = Tracks.gather(points, labels)
    moves = lives.moves_of(tracks, points.times)
    found = describe(points, labels)
    assert found.shape == "gaussian"
    variance = noise.shared_variance(points, tracks, 0.0)
    open_labels = cells.overlap(
        points.rows, points.weights, points.starts, tracks.by_batch, scale=variance, degrees=0.0
    )
    assert open_labels > 20
    assert found.labels == pytest.approx(lives.shares(tracks, 10) + open_labels, rel=1e-6)
    assert found.places == pytest.approx(noise.gaussian(points, tracks, variance), rel=1e-6)
    walked = lives.walk(moves, 2, variance)
    assert found.paths == pytest.approx(lives.beginnings(points, tracks) + walked, rel=1e-6)
    assert found.lives == lives.fates(tracks, moves, 10) + lives.births(tracks, 10)
    assert found.length == -(found.places + found.labels + found.paths + found.lives)


def test_with_many_features_no_track_has_a_shape_of_its_own():
    rows = np.random.default_rng(0).normal(size=(90, 80))
    points = Points.gather(list(np.split(rows, 3)), [np.ones(30)] * 3, np.arange(3.0))
    tracks = Tracks.gather(points, np.zeros(90, dtype=int))
    assert tracks.scatters.shape == (1, 0, 0)
    assert noise.own_shapes(tracks, 1.0) == -math.inf
    assert describe(points, np.zeros(90, dtype=int)).shape != "own"
