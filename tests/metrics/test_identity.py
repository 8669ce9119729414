"""Identities: by hand, and against TrackEval's own classes."""

import numpy as np
import pytest

from dynmeans.metrics import HotaScores, fragmentations, hota, id_switches, idf1

QUIET = {"PRINT_CONFIG": False}


def test_idf1_gives_one_identity_to_each_cluster_for_all_time():
    # 0 is 7, 7, 8 and 1 is 9, 9, 9: IDTP = 2 + 3, of 6 true and 6 found clusters.
    true = [[0, 0, 1, 1]] * 3
    found = [[7, 7, 9, 9], [7, 7, 9, 9], [8, 8, 9, 9]]
    assert idf1(true, found) == pytest.approx(2 * 5 / 12, rel=1e-15)


def test_idf1_counts_an_overlap_of_exactly_one_half():
    # Point sets {1, 2} and {1}: 1 / 2 is enough. IDTP = 1, of 1 true and 2 found clusters.
    assert idf1([[0, 0]], [[5, 6]]) == pytest.approx(2 / 3, rel=1e-15)


def test_idf1_does_not_count_an_overlap_below_one_half():
    # {1, 2, 3} is overlapped by 1/3 three times.
    assert idf1([[0, 0, 0]], [[5, 6, 7]]) == 0.0


def test_deta_is_the_share_of_thresholds_that_the_overlap_reaches():
    # {1, 2, 3} and {1, 2}: overlap 2/3 reaches 0.05 ... 0.65, 13 of 19 thresholds.
    scores = hota([[0, 0, 0]], [[5, 5, -1]])
    assert scores.deta == pytest.approx(13 / 19, rel=1e-12)


def test_assa_averages_the_shares_of_life_spent_together():
    # 0 meets 7 in 2 of 3 steps and 8 in 1 of 3: (2/3 + 2/3 + 1/3) / 3 = 5/9
    scores = hota([[0, 0]] * 3, [[7, 7], [7, 7], [8, 8]])
    assert scores.assa == pytest.approx(5 / 9, rel=1e-12)


def test_hota_is_the_geometric_mean_of_its_parts_at_each_threshold():
    # DetA = 1 and AssA = 5/9 at every threshold: sqrt(5)/3
    scores = hota([[0, 0]] * 3, [[7, 7], [7, 7], [8, 8]])
    assert scores.hota == pytest.approx(np.sqrt(5) / 3, rel=1e-12)


def test_perfect_labels_score_one():
    labels = [[0, 0, 1], [1, 2], [0]]
    assert hota(labels, labels) == pytest.approx(HotaScores(1.0, 1.0, 1.0), rel=1e-12)


def test_each_change_of_identity_is_a_switch():
    # 7 -> 8 -> 7
    assert id_switches([[0, 0]] * 3, [[7, 7], [8, 8], [7, 7]]) == 2


def test_switch_is_noticed_after_steps_unseen():
    assert id_switches([[0], [1], [0]], [[7], [9], [8]]) == 1


def test_match_of_the_step_before_is_kept_against_a_cluster_just_as_similar():
    # In the second step {1, 2, 3, 4} overlaps both {1, 2} and {3, 4} by one half: 8 stays.
    assert id_switches([[0, 0, 0, 0]] * 2, [[8, 8, 8, 8], [7, 7, 8, 8]]) == 0


def test_match_of_two_steps_before_is_no_longer_preferred():
    # The second step matches 0 with nothing; in the third 7 and 8 tie, and 7 comes first.
    true = [[0, 0, 0, 0, 1]] * 3
    found = [[8, 8, 8, 8, 9], [-1, -1, -1, -1, 9], [7, 7, 8, 8, 9]]
    assert id_switches(true, found) == 1


def test_each_return_after_a_gap_is_a_fragmentation():
    # 0 is matched, missed, matched, missed, matched: 2 gaps. 1 is always there.
    true = [[0, 1]] * 5
    found = [[7, 9], [-1, 9], [7, 9], [-1, 9], [7, 9]]
    assert fragmentations(true, found) == 2


def test_first_appearance_and_last_loss_are_no_fragmentations():
    assert fragmentations([[0, 1]] * 3, [[-1, 9], [7, 9], [-1, 9]]) == 0


def test_step_without_found_clusters_interrupts_nothing():
    assert fragmentations([[0]] * 3, [[7], [-1], [7]]) == 0


def test_nothing_found_scores_zero():
    true, found = [[0, 1], [1]], [[-1, -1], [-1]]
    scores = (idf1(true, found), *hota(true, found), id_switches(true, found))
    assert (*scores, fragmentations(true, found)) == (0.0, 0.0, 0.0, 0.0, 0, 0)


def test_found_cluster_of_unlabeled_points_only_is_no_object():
    assert idf1([[0, 0, -1]], [[5, 5, 6]]) == 1.0


def test_weights_decide_the_overlap():
    # {1, 2} with weights 3 and 1 against {1}: 3/4 reaches 0.05 ... 0.75, 15 of 19 thresholds.
    scores = hota([[0, 0]], [[5, -1]], [[3, 1]])
    assert scores.deta == pytest.approx(15 / 19, rel=1e-12)


def random_stream(seed):
    """True and found labels of some steps: often empty ones, often labels that appear once."""
    rng = np.random.default_rng(seed)
    n_true, n_found, most_points = rng.integers(1, 8), rng.integers(1, 8), rng.integers(2, 25)
    true, found = [], []
    for step in range(rng.integers(1, 10)):
        n_points = 0 if rng.random() < 0.2 and step else int(rng.integers(1, most_points))
        labels = rng.integers(-1, n_true, size=n_points)
        labels[:1] = 100 + step if rng.random() < 0.3 else 0  # appears once, or is labeled
        is_kept = rng.random(n_points) < rng.random()
        true.append(labels)
        found.append(np.where(is_kept, labels + 1, rng.integers(-1, n_found, size=n_points)))
    return true, found


def trackeval_data(true, found, weights):
    """Build what TrackEval expects of a dataset, one object at a time."""
    steps = [
        [(t, f, w, i) for i, (t, f, w) in enumerate(zip(*step, strict=True)) if t != -1]
        for step in zip(true, found, weights, strict=True)
    ]
    gt_ids = sorted({t for step in steps for t, _, _, _ in step})
    tracker_ids = sorted({f for step in steps for _, f, _, _ in step if f != -1})
    data = {"gt_ids": [], "tracker_ids": [], "similarity_scores": []}
    for step in steps:
        gts = sorted({t for t, _, _, _ in step})
        trackers = sorted({f for _, f, _, _ in step if f != -1})
        similarity = np.zeros((len(gts), len(trackers)))
        for row, gt in enumerate(gts):
            for col, tracker in enumerate(trackers):
                both = sum(w for t, f, w, _ in step if t == gt and f == tracker)
                either = sum(w for t, f, w, _ in step if t == gt or f == tracker)
                similarity[row, col] = both / either
        data["gt_ids"].append(np.array([gt_ids.index(gt) for gt in gts], dtype=int))
        data["tracker_ids"].append(np.array([tracker_ids.index(f) for f in trackers], dtype=int))
        data["similarity_scores"].append(similarity)
    data["num_gt_ids"], data["num_tracker_ids"] = len(gt_ids), len(tracker_ids)
    data["num_gt_dets"] = sum(map(len, data["gt_ids"]))
    data["num_tracker_dets"] = sum(map(len, data["tracker_ids"]))
    data["num_timesteps"] = len(steps)
    return data


def trackeval_scores(true, found, weights):
    metrics = pytest.importorskip("trackeval.metrics")
    data = trackeval_data(true, found, weights)
    higher_order = metrics.HOTA().eval_sequence(data)
    clear = metrics.CLEAR(QUIET).eval_sequence(data)
    return {
        "idf1": metrics.Identity(QUIET).eval_sequence(data)["IDF1"],
        "hota": np.mean(higher_order["HOTA"]),
        "assa": np.mean(higher_order["AssA"]),
        "deta": np.mean(higher_order["DetA"]),
        "id_switches": clear["IDSW"],
        "fragmentations": clear["Frag"],
    }


def our_scores(true, found, weights=None):
    return {
        "idf1": idf1(true, found, weights),
        **hota(true, found, weights)._asdict(),
        "id_switches": id_switches(true, found, weights),
        "fragmentations": fragmentations(true, found, weights),
    }


@pytest.mark.parametrize("seed", range(300))
def test_scores_equal_those_of_trackeval(seed):
    true, found = random_stream(seed)
    expected = trackeval_scores(true, found, [np.ones(len(labels)) for labels in true])
    assert our_scores(true, found) == pytest.approx(expected, rel=0, abs=1e-9)


@pytest.mark.parametrize("seed", range(300, 350))
def test_weighted_scores_equal_those_of_trackeval(seed):
    true, found = random_stream(seed)
    rng = np.random.default_rng(seed)
    weights = [0.1 + rng.random(len(labels)) for labels in true]
    expected = trackeval_scores(true, found, weights)
    assert our_scores(true, found, weights) == pytest.approx(expected, rel=0, abs=1e-9)


def test_random_streams_have_empty_steps_single_appearances_and_every_kind_of_event():
    streams = [random_stream(seed) for seed in range(300)]
    scores = [our_scores(*stream) for stream in streams]
    assert sum(any(len(batch) == 0 for batch in true) for true, _ in streams) > 50
    assert sum(any((batch >= 100).any() for batch in true) for true, _ in streams) > 50
    assert sum(score["id_switches"] > 0 for score in scores) > 50
    assert sum(score["fragmentations"] > 0 for score in scores) > 50
