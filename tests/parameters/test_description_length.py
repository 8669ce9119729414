import math
from importlib import import_module

import numpy as np
import pytest
from description_twin import life_model, noise
from description_twin.describe import describe_slowly
from description_twin.tracks import Tracks

from dynmeans.engine.compiled import INSTRUCTION_SETS, usable_instruction_sets
from dynmeans.parameters import description_length
from dynmeans.parameters.description_length import describe
from dynmeans.parameters.tracks import Points

ROWS = np.array([[0.0], [2.0], [7.0], [9.0], [9.5], [1.0], [1.2]])
WEIGHTS = np.array([1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0])
LABELS = np.array([4, 4, 1, 1, 1, 4, 4])
POINTS = Points.gather([ROWS[:5], ROWS[5:]], [WEIGHTS[:5], WEIGHTS[5:]], np.array([1.0, 2.0]))
both_ways = pytest.mark.parametrize("describe", [describe, describe_slowly])


def test_cells_are_in_order_of_identity_and_batch():
    found = Tracks.gather(POINTS, LABELS)
    assert found.track_of_cell.tolist() == [0, 1, 1]
    assert found.batch_of_cell.tolist() == [0, 0, 1]
    assert found.first_cells.tolist() == [0, 1]
    assert found.counts.tolist() == [4.0, 2.0, 2.0]
    assert found.cell_of_row.tolist() == [1, 1, 0, 0, 0, 2, 2]
    np.testing.assert_allclose(found.means.ravel(), [34.5 / 4, 1.0, 1.1])


def test_labels_of_no_cluster_are_refused():
    with pytest.raises(ValueError, match="labels must be 0 or more, got -1"):
        describe(POINTS, np.where(LABELS == 4, -1, LABELS))


def test_scatter_sums_weighted_squares_and_products_of_a_track():
    batches = [np.array([[0.0, 0.0], [3.0, 6.0]]), np.array([[1.0, 1.0], [1.0, 5.0]])]
    points = Points.gather(batches, [np.array([2.0, 1.0]), None], np.array([1.0, 2.0]))
    found = Tracks.gather(points, np.zeros(4, int))
    # About (1, 2): 2 (1, 2) and 1 (2, 4); about (1, 3): twice (0, 2).
    np.testing.assert_allclose(found.scatters, [[[2 + 4, 4 + 8], [4 + 8, 8 + 16 + 8]]])
    np.testing.assert_allclose(found.squares, [5.0, 20.0, 4.0, 4.0])


def stream_of(centers, spread, n_batches=10, n=12, seed=0):
    rng = np.random.default_rng(seed)
    centers = np.array(centers, dtype=float)
    batches = [
        centers.repeat(n, axis=0) + spread * rng.normal(size=(n * len(centers), centers.shape[1]))
        for _ in range(n_batches)
    ]
    weights = [np.ones(len(batch)) for batch in batches]
    return Points.gather(batches, weights, 1.0 + np.arange(n_batches))


@both_ways
def test_the_true_clusters_give_the_shortest_description(describe):
    points = stream_of([[0, 0], [5, 0], [0, 5]], 0.5)
    truth = np.tile(np.arange(3).repeat(12), 10)
    split = truth * 2 + np.arange(len(truth)) % 2
    merged = np.minimum(truth, 1)
    lengths = [describe(points, labels).length for labels in (truth, split, merged)]
    assert lengths[0] < min(lengths[1:]) - 50


@both_ways
def test_a_track_that_breaks_off_and_starts_anew_is_longer_to_describe(describe):
    points = stream_of([[0, 0], [5, 0]], 0.5)
    truth = np.tile(np.arange(2).repeat(12), 10)
    broken = np.where((truth == 1) & (np.arange(len(truth)) >= 120), 2, truth)
    assert describe(points, truth).length < describe(points, broken).length - 5


@both_ways
def test_names_of_identities_do_not_matter(describe):
    points = stream_of([[0, 0], [5, 0]], 0.5)
    truth = np.tile(np.arange(2).repeat(12), 10)
    assert describe(points, 7 - 3 * truth).length == pytest.approx(describe(points, truth).length)


@both_ways
def test_single_points_that_move_can_be_described(describe):
    points = stream_of([[0.0], [100.0]], 1.0, n=1)
    apart = describe(points, np.tile([0, 1], 10)).length
    assert apart < describe(points, np.arange(20)).length


@both_ways
def test_tails_and_long_shapes_are_recognized(describe):
    rng = np.random.default_rng(3)
    weights, times = [np.ones(400)] * 2, np.array([1.0, 2.0])
    tails = Points.gather([rng.standard_t(3, size=(400, 1)) for _ in range(2)], weights, times)
    assert describe(tails, np.zeros(800, dtype=int)).shape == "student"
    turns = np.where(np.arange(400)[:, None] < 200, [9.0, 0.3], [0.3, 9.0])
    long = [rng.normal(size=(400, 2)) * turns + 50 * (turns > 1) for _ in range(2)]
    labels = np.tile(np.repeat([0, 1], 200), 2)
    assert describe(Points.gather(long, weights, times), labels).shape == "own"


def test_tracks_count_free_points():
    assert Tracks.gather(POINTS, LABELS).n_free == 3 + 1 + 1


@both_ways
def test_parts_are_what_their_models_say(describe):
    points = stream_of([[0, 0], [1, 0]], 0.5)
    labels = np.tile(np.arange(2).repeat(12), 10)
    tracks = Tracks.gather(points, labels)
    moves = life_model.moves_of(tracks, points.times)
    found = describe(points, labels)
    assert found.shape == "gaussian"
    variance = noise.shared_variance(points, tracks, 0.0)
    assert found.labels == pytest.approx(life_model.shares(tracks, 10), rel=1e-6)
    assert found.places == pytest.approx(noise.gaussian(points, tracks, variance), rel=1e-6)
    walked = life_model.walk(moves, 2, variance)
    assert found.paths == pytest.approx(life_model.beginnings(points, tracks) + walked, rel=1e-6)
    lived = life_model.fates(tracks, moves, 10) + life_model.births(tracks, 10)
    assert found.lifetimes == pytest.approx(lived)
    assert found.length == -(found.places + found.labels + found.paths + found.lifetimes)


@both_ways
def test_with_many_features_no_track_has_a_shape_of_its_own(describe):
    rows = np.random.default_rng(0).normal(size=(90, 80))
    points = Points.gather(list(np.split(rows, 3)), [np.ones(30)] * 3, np.arange(3.0))
    tracks = Tracks.gather(points, np.zeros(90, dtype=int))
    assert tracks.scatters.shape == (1, 0, 0)
    assert noise.own_shapes(tracks, 1.0) == -math.inf
    assert describe(points, np.zeros(90, dtype=int)).shape != "own"


def assert_alike(found, expected, n_points):
    assert found.shape == expected.shape
    for part in ("places", "labels", "paths", "lifetimes"):
        # Each part is a sum over points that may cancel.
        assert getattr(found, part) == pytest.approx(
            getattr(expected, part), rel=1e-12, abs=1e-12 * n_points
        )


def random_stream(seed, n_features, kind):
    """Identities come and go, batches at uneven times, and in tails some labels are wrong."""
    rng = np.random.default_rng(seed)
    places = rng.normal(scale=4.0, size=(9, n_features))
    batches, labels = [], []
    for _ in range(8):
        ids = rng.choice(9, size=rng.integers(1, 9), replace=False)
        truth = rng.choice(ids, size=rng.integers(1, 90))
        noise = rng.normal(size=(len(truth), n_features))
        wrong = rng.random(len(truth)) < (0.05 if kind == "student" else 0.0)
        if kind == "student":
            noise /= np.sqrt(rng.chisquare(2, size=(len(truth), 1)))
        if kind == "own":
            noise *= np.where((truth % 2 == 0)[:, None], [9.0, 0.3], [0.3, 9.0])
        batches.append(places[truth] + noise)
        labels.append(np.where(wrong, rng.choice(ids), truth))
    weights = [None if t % 2 else rng.uniform(0.1, 3.0, len(b)) for t, b in enumerate(batches)]
    points = Points.gather(batches, weights, np.cumsum(rng.uniform(0.5, 2.0, 8)))
    return points, 1 + 3 * np.concatenate(labels)


STREAMS = [
    *[(n_features, "gaussian") for n_features in (1, 2, 3, 7, 8, 16, 70)],
    *[(n_features, "student") for n_features in (1, 2, 3, 8, 70)],
    (2, "own"),
]


@pytest.mark.parametrize(("n_features", "kind"), STREAMS)
@pytest.mark.parametrize("seed", range(3))
def test_the_compiled_description_is_the_plain_one(n_features, kind, seed):
    points, labels = random_stream(seed, n_features, kind)
    expected = describe_slowly(points, labels)
    assert expected.shape == kind or {expected.shape, kind} == {"gaussian", "own"}
    assert_alike(describe(points, labels), expected, len(labels))


@pytest.mark.parametrize("factor", [1e-30, 1e30])
def test_the_compiled_description_is_the_plain_one_at_any_scale(factor):
    points, labels = random_stream(0, 3, "gaussian")
    scaled = Points.gather(
        [factor * b for b in np.split(points.rows, points.starts[1:-1])], [None] * 8, points.times
    )
    assert_alike(describe(scaled, labels), describe_slowly(scaled, labels), len(labels))


def test_identities_lighter_than_one_point_have_a_shape_too():
    """Two rows of a third of a point each leave no free point, yet they lie apart."""
    ids = np.arange(3).repeat([40, 40, 2])
    shapes = np.array([[9.0, 0.3], [0.3, 9.0], [1.0, 1.0]])[ids]
    batches = [np.random.default_rng(t).normal(size=(82, 2)) * shapes for t in range(2)]
    weights = [np.where(ids == 2, 1 / 3, 1.0)] * 2
    points = Points.gather(batches, weights, np.array([1.0, 2.0]))
    expected = describe_slowly(points, np.tile(ids, 2))
    assert expected.shape == "own"
    assert_alike(describe(points, np.tile(ids, 2)), expected, 164)


@both_ways
def test_labels_cost_their_shares_wherever_clusters_lie(describe):
    points = stream_of([[0, 0], [1e6, 0]], 0.5)
    labels = np.tile(np.arange(2).repeat(12), 10)
    shares = life_model.shares(Tracks.gather(points, labels), 10)
    assert describe(points, labels).labels == pytest.approx(shares, rel=1e-13)


def test_every_instruction_set_gives_the_same_bits(monkeypatch):
    streams = [random_stream(1, *kind) for kind in STREAMS]
    found = []
    for name in usable_instruction_sets():
        monkeypatch.setattr(description_length, "compiled", import_module(INSTRUCTION_SETS[name]))
        found.append([describe(*stream) for stream in streams])
    assert all(descriptions == found[0] for descriptions in found)
