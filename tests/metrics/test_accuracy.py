"""Accuracy: by hand, and against every possible match of small streams."""

from itertools import chain, permutations

import numpy as np
import pytest

from dynmeans.metrics import accuracy_frozen, accuracy_global, accuracy_per_step

MEASURES = [accuracy_per_step, accuracy_frozen, accuracy_global]

# Cluster 0 is called 5 at first and 6 later; cluster 1 the other way round, with one slip.
TRUE = [[0, 0, 1, 1], [0, 0, 1, 1, 1, 1]]
FOUND = [[5, 5, 6, 5], [6, 6, 5, 5, 5, 5]]


def test_per_step_matches_every_step_by_itself():
    # (3/4 + 6/6) / 2 = 7/8
    assert accuracy_per_step(TRUE, FOUND) == 0.875


def test_frozen_keeps_the_matches_of_the_first_step():
    # 5 stands for 0 and 6 for 1: (3/4 + 0/6) / 2 = 3/8
    assert accuracy_frozen(TRUE, FOUND) == 0.375


def test_global_takes_the_match_that_serves_all_steps_best():
    # 5 for 1 and 6 for 0: 1 + 0 points in the first step, 4 + 2 in the second, of 10.
    assert accuracy_global(TRUE, FOUND) == 0.7


def test_global_weighs_points_and_the_others_weigh_steps():
    # One point wrong of 1 + 9: (0/1 + 9/9) / 2 = 1/2 by step, 9/10 of all.
    true, found = [[0], [1] * 9], [[-1], [3] * 9]
    assert [measure(true, found) for measure in MEASURES] == [0.5, 0.5, 0.9]


def test_frozen_match_stays_while_its_found_label_is_away():
    # 0 is 5 for good; found again as 6, it is wrong: (1 + 0) / 2
    assert accuracy_frozen([[0, 0], [0, 0]], [[5, 5], [6, 6]]) == 0.5


def test_frozen_found_label_on_a_matched_cluster_stays_free_for_another():
    # 6 is wrong for 0, which is 5, and right for 1 from the third step: (1 + 0 + 1 + 1) / 4
    true, found = [[0], [0], [1], [1]], [[5], [6], [6], [6]]
    assert accuracy_frozen(true, found) == 0.75


def test_frozen_found_label_is_never_given_to_a_second_true_label():
    # 5 stands for 0, which is gone; 1 cannot have it.
    assert accuracy_frozen([[0, 0], [1, 1]], [[5, 5], [5, 5]]) == 0.5


def test_frozen_makes_no_match_between_labels_that_share_no_points():
    # In the first step 5 is best given to 0; 1 has no other point to share, and stays free.
    true, found = [[0, 0, 1], [1, 1]], [[5, 5, 5], [6, 6]]
    # (2/3 + 2/2) / 2
    assert accuracy_frozen(true, found) == pytest.approx(5 / 6, rel=1e-15)


@pytest.mark.parametrize("measure", MEASURES)
def test_names_of_labels_do_not_matter(measure):
    assert measure([["b", "b", "a"]], [[3, 3, 40]]) == 1.0


@pytest.mark.parametrize("measure", MEASURES)
def test_point_in_no_cluster_is_never_correct(measure):
    assert measure([[0, 0, 0, 0]], [[-1, -1, -1, 2]]) == 0.25


@pytest.mark.parametrize("measure", MEASURES)
def test_nothing_found_is_accuracy_zero(measure):
    assert measure([[0, 1], [1]], [[-1, -1], [-1]]) == 0.0


@pytest.mark.parametrize("measure", MEASURES)
def test_unlabeled_points_are_left_out(measure):
    assert measure([[0, -1, -1], [-1]], [[5, 5, 6], [7]]) == 1.0


@pytest.mark.parametrize("measure", MEASURES)
def test_empty_steps_count_for_nothing(measure):
    assert measure([[], [0, 0], []], [[], [1, 2], []]) == 0.5


@pytest.mark.parametrize("measure", MEASURES)
def test_confidence_weights_give_the_share_of_correct_weight(measure):
    # 0 is best called 6, for its one sure point: 0.9 / (0.2 + 0.3 + 0.9)
    weights = [[0.2, 0.3, 0.9]]
    assert measure([[0, 0, 0]], [[5, 5, 6]], weights) == pytest.approx(0.9 / 1.4, rel=1e-15)


@pytest.mark.parametrize("measure", MEASURES)
def test_point_of_weight_two_counts_as_two_points(measure):
    rng = np.random.default_rng(1)
    true = [rng.integers(3, size=12) for _ in range(4)]
    found = [rng.integers(3, size=12) for _ in range(4)]
    weights = [rng.integers(0, 4, size=12) for _ in range(4)]
    repeated = [
        [np.repeat(labels, w) for labels, w in zip(side, weights, strict=True)]
        for side in (true, found)
    ]
    assert measure(true, found, weights) == measure(*repeated)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e308])
def test_scale_of_the_weights_does_not_matter(measure, scale):
    weights = np.array([1.0, 1.0, 1.0]) * scale
    assert measure([[0, 0, 1]], [[5, 6, 6]], [weights]) == pytest.approx(2 / 3, rel=1e-15)


@pytest.mark.parametrize("measure", MEASURES)
def test_perfect_labels_score_exactly_one_with_uneven_weights(measure):
    rng = np.random.default_rng(2)
    labels = [rng.integers(5, size=40) for _ in range(6)]
    assert measure(labels, labels, [rng.random(40) for _ in range(6)]) == 1.0


# Brute force: labels as dictionaries of matches, every one-to-one match tried.


def overlap(true, found, weights, match):
    return sum(w for t, f, w in zip(true, found, weights, strict=True) if match.get(t, ...) == f)


def all_matches(true_ids, found_ids):
    """Every one-to-one match of some true ids with some found ids."""
    none = [None] * len(true_ids)
    for choice in set(permutations(list(found_ids) + none, len(true_ids))):
        yield {t: f for t, f in zip(true_ids, choice, strict=True) if f is not None}


def best_matches(true, found, weights):
    """All matches that no other beats, without pairs that share no points."""
    shared = set(zip(true, found, strict=True))
    matches = [
        match
        for match in all_matches(sorted(set(true)), sorted(set(found)))
        if set(match.items()) <= shared
    ]
    best = max(overlap(true, found, weights, match) for match in matches)
    return [m for m in matches if overlap(true, found, weights, m) >= best - 1e-12]


def frozen_averages(stream, match):
    """Sums of the step accuracies for every choice between equally good matches."""
    if not stream:
        return {0.0}
    (true, found, weights), *later = stream
    is_free = [t not in match and f not in match.values() for t, f in zip(true, found, strict=True)]
    free = [[x for x, f in zip(row, is_free, strict=True) if f] for row in (true, found, weights)]
    sums = set()
    for made in best_matches(*free):
        frozen = match | made
        score = overlap(true, found, weights, frozen) / sum(weights)
        sums |= {round(score + rest, 12) for rest in frozen_averages(later, frozen)}
    return sums


def random_stream(seed, *, is_weighted):
    rng = np.random.default_rng(seed)
    stream = []
    for _ in range(rng.integers(1, 5)):
        n_points = int(rng.integers(1, 9))
        weights = rng.random(n_points) + 0.01 if is_weighted else np.ones(n_points)
        true, found = rng.integers(0, 3, size=n_points), 10 + rng.integers(0, 3, size=n_points)
        stream.append((true.tolist(), found.tolist(), weights.tolist()))
    return stream


CASES = pytest.mark.parametrize("is_weighted", [False, True])
SEEDS = pytest.mark.parametrize("seed", range(40))


@SEEDS
@CASES
def test_per_step_accuracy_agrees_with_brute_force(seed, is_weighted):
    stream = random_stream(seed, is_weighted=is_weighted)
    expected = np.mean([overlap(*step, best_matches(*step)[0]) / sum(step[2]) for step in stream])
    assert accuracy_per_step(*zip(*stream, strict=True)) == pytest.approx(expected, rel=1e-12)


@SEEDS
@CASES
def test_global_accuracy_agrees_with_brute_force(seed, is_weighted):
    stream = random_stream(seed, is_weighted=is_weighted)
    joined = [list(chain(*parts)) for parts in zip(*stream, strict=True)]
    expected = overlap(*joined, best_matches(*joined)[0]) / sum(joined[2])
    assert accuracy_global(*zip(*stream, strict=True)) == pytest.approx(expected, rel=1e-12)


@SEEDS
@CASES
def test_frozen_accuracy_agrees_with_brute_force(seed, is_weighted):
    stream = random_stream(seed, is_weighted=is_weighted)
    expected = np.array(sorted(frozen_averages(stream, {}))) / len(stream)
    score = accuracy_frozen(*zip(*stream, strict=True))
    assert np.abs(expected - score).min() < 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_frozen_accuracy_does_not_depend_on_the_names_of_labels(seed):
    # Nearly every step of such a stream has equally good matches.
    rng = np.random.default_rng(seed)
    true, found = rng.integers(0, 6, size=(2, 30, 24))
    names = [rng.permutation(6) for _ in range(2)]
    renamed = accuracy_frozen(list(names[0][true]), list(names[1][found]))
    assert renamed == pytest.approx(accuracy_frozen(list(true), list(found)), rel=1e-12)


def test_of_equally_good_matches_that_of_the_longer_course_is_kept():
    # Both 5 and 6 share a point with 0 in the first step; 6 stays with it.
    assert accuracy_frozen([[0, 0], [0], [0]], [[5, 6], [6], [6]]) == pytest.approx(2.5 / 3)


@SEEDS
def test_brute_force_leaves_one_frozen_accuracy_when_weights_break_all_ties(seed):
    assert len(frozen_averages(random_stream(seed, is_weighted=True), {})) == 1
