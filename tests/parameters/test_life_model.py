import math

import numpy as np
import pytest
from description_twin import life_model
from description_twin.tracks import Tracks
from scipy.stats import multivariate_normal, norm, poisson

from dynmeans.parameters.tracks import Points

# Identity 0 is seen in batches 0, 1 and 3; identity 1 in batch 0; identity 2 from batch 2 on.
BATCHES = [[[0.0], [10.0]], [[1.0]], [[20.0]], [[3.0], [20.0]]]
LABELS = [0, 1, 0, 2, 0, 2]
TIMES = np.array([1.0, 2.0, 3.0, 4.0])


def gathered(times=TIMES):
    rows = [np.array(batch) for batch in BATCHES]
    points = Points.gather(rows, [np.ones(len(b)) for b in rows], times)
    return points, Tracks.gather(points, np.array(LABELS))


POINTS, TRACKS = gathered()


def test_moves_go_from_cell_to_cell_of_a_track():
    moves = life_model.moves_of(TRACKS, TIMES)
    assert moves.squares.tolist() == [1.0, 4.0, 0.0]
    assert moves.times.tolist() == [1.0, 2.0, 1.0]
    assert moves.n_skipped.tolist() == [0, 1, 0]
    assert moves.errors.tolist() == [2.0, 2.0, 2.0]


def test_walk_is_the_density_of_the_moves_under_motion_and_error():
    # Moves of length 3 in one step of time: motion 9 - 2 * 0.5 = 8 beside the error 1.
    moves = life_model.Moves(np.full(5, 9.0), np.ones(5), np.zeros(5, int), np.full(5, 2.0))
    assert life_model.walk(moves, 1, 0.5) == pytest.approx(5 * norm.logpdf(3.0, scale=3.0))


def test_walk_over_two_steps_of_time_has_twice_the_variance():
    moves = life_model.Moves(np.full(5, 18.0), np.full(5, 2.0), np.ones(5, int), np.zeros(5))
    assert life_model.walk(moves, 1, 1e-9) == pytest.approx(
        5 * norm.logpdf(math.sqrt(18), scale=18**0.5)
    )


def test_nothing_moved_costs_nothing():
    nothing = np.empty(0)
    assert (
        life_model.walk(life_model.Moves(nothing, nothing, nothing.astype(int), nothing), 2, 1.0)
        == 0.0
    )


def test_clusters_begin_where_points_are():
    rows = np.vstack(BATCHES)
    prior = multivariate_normal(rows.mean(axis=0), np.cov(rows.T, bias=True))
    expected = prior.logpdf([[0.0], [10.0], [20.0]]).sum()
    assert life_model.beginnings(POINTS, TRACKS) == pytest.approx(expected)


def test_labels_of_a_batch_cost_the_number_of_divisions():
    # Batches 0 and 3 divide two points over two clusters as 1 + 1: one of 3 divisions, and one of
    # 2 orders. The others have one cluster.
    assert life_model.shares(TRACKS, 4) == pytest.approx(2 * math.log(1 / 3 / 2))


def test_fates_are_two_continuations_one_break_and_one_end():
    # Identity 1 ends after batch 0; what is seen in the last batch has no fate yet.
    # Rates 1/2 each: (1/2 3/2) (1/2) (1/2) / (3/2 5/2 7/2 9/2)
    moves = life_model.moves_of(TRACKS, TIMES)
    expected = (0.5 * 1.5) * 0.5 * 0.5 / (1.5 * 2.5 * 3.5 * 4.5)
    assert life_model.fates(TRACKS, moves, 4) == pytest.approx(math.log(expected))


def test_births_after_the_first_batch_are_poisson():
    assert life_model.births(TRACKS, 4) == pytest.approx(poisson.logpmf([0, 1, 0], 1 / 3).sum())


def test_no_births_cost_nothing():
    points = Points.gather([np.eye(2)] * 2, [np.ones(2)] * 2, TIMES[:2])
    assert life_model.births(Tracks.gather(points, np.array([0, 1, 0, 1])), 2) == 0.0
