"""Families: identities that belong together, from batches and labels."""

import numpy as np
import pytest

from dynmeans import DynamicMeans, find_families
from dynmeans.families import evidence, tree
from dynmeans.families.find import build_families


def bars(rng, n_batches=5):
    """Two long bars far from each other; identities are pieces of one unit."""
    batches, labels = [], []
    for _ in range(n_batches):
        near = rng.uniform([0, 0], [4, 0.2], size=(200, 2))
        far = rng.uniform([0, 30], [4, 30.2], size=(200, 2))
        batches.append(np.vstack([near, far]))
        labels.append(np.append(near[:, 0] // 1, 10 + far[:, 0] // 1).astype(int))
    return batches, labels


def blobs(rng, places, n_batches=6, n_points=30):
    batches = [
        np.repeat(places, n_points, axis=0) + rng.normal(size=(len(places) * n_points, 2))
        for _ in range(n_batches)
    ]
    return batches, [np.repeat(np.arange(len(places)), n_points)] * n_batches


def test_pieces_of_a_bar_are_one_family():
    batches, labels = bars(np.random.default_rng(0))
    families = find_families(batches, labels)
    assert families.map_labels([0, 1, 2, 3]).tolist() == [0, 0, 0, 0]
    assert families.map_labels([10, 11, 12, 13]).tolist() == [10, 10, 10, 10]


def test_separate_clusters_stay_separate():
    batches, labels = blobs(np.random.default_rng(1), np.array([[0, 0], [9, 0], [0, 9], [9, 9]]))
    assert find_families(batches, labels).n_families == 4


def test_pieces_that_move_together_touch_wherever_they_are():
    rng = np.random.default_rng(2)
    batches, labels = [], []
    for t in range(8):
        bar = rng.uniform([0, 0], [2, 0.2], size=(200, 2))
        labels.append((bar[:, 0] // 1).astype(int))
        batches.append(bar + np.array([3.0 * t, 0]))
    families = find_families(batches, labels)
    assert families.n_families == 1
    assert families.tree.contacts[0] == pytest.approx(6.0, abs=0.5)  # a bar cut in two


def test_a_passer_by_does_not_join_what_it_passes():
    rng = np.random.default_rng(3)
    batches, labels = [], []
    for t in range(20):
        still = rng.normal(size=(40, 2))
        passing = rng.normal([4.0 * (t - 10), 0], 1, size=(40, 2))
        batches.append(np.vstack([still, passing]))
        labels.append(np.repeat([0, 1], 40))
    assert find_families(batches, labels).n_families == 2


def test_one_seen_between_two_for_a_batch_is_no_bridge():
    rng = np.random.default_rng(4)
    places = np.array([[0.0, 0.0], [7.0, 0.0]])
    batches, labels = blobs(rng, places, n_batches=12)
    batches[5] = np.vstack([batches[5], rng.normal([3.5, 0], 1.0, size=(20, 2))])
    labels = [*labels[:5], np.append(labels[5], np.full(20, 2)), *labels[6:]]
    of = find_families(batches, labels).cut(0).map_labels([0, 1])
    assert of[0] != of[1]


def test_every_level_is_coarser_than_the_one_below():
    batches, labels = bars(np.random.default_rng(5))
    families = find_families(batches, labels)
    numbers = [families.cut(level).n_families for level in (-8, *families.levels)]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] == 8
    assert numbers[-1] == 1


def test_about_so_many_families_in_a_batch():
    batches, labels = bars(np.random.default_rng(6))
    families = find_families(batches, labels, n_families=2)
    assert families.mean_per_batch == 2
    assert families.cut_to(8).n_families == 8


def test_family_is_named_after_its_oldest_member():
    batches, labels = bars(np.random.default_rng(7))
    labels = [np.where(part < 10, 3 - part, part) for part in labels]
    assert find_families(batches, labels).map_labels([3, 0]).tolist() == [0, 0]


def test_family_labels_have_the_form_of_labels():
    batches, labels = bars(np.random.default_rng(8))
    families = find_families(batches, labels)
    found = families.map_labels(labels)
    assert [part.shape for part in found] == [part.shape for part in labels]
    np.testing.assert_array_equal(families.map_labels(labels[0]), found[0])


def test_noise_and_later_identities_keep_their_label():
    batches, labels = bars(np.random.default_rng(9))
    assert find_families(batches, labels).map_labels([-1, 99, 1]).tolist() == [-1, 99, 0]


def test_rows_without_a_cluster_are_left_out():
    batches, labels = bars(np.random.default_rng(10))
    noisy = [np.vstack([batch, [[2.0, 15.0]]]) for batch in batches]
    named = [np.append(part, -1) for part in labels]
    assert find_families(noisy, named).n_families == find_families(batches, labels).n_families


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(11)
    batches, labels = bars(rng)
    orders = [rng.permutation(len(batch)) for batch in batches]
    shuffled = find_families(
        [b[o] for b, o in zip(batches, orders, strict=True)],
        [part[o] for part, o in zip(labels, orders, strict=True)],
    )
    plain = find_families(batches, labels)
    np.testing.assert_array_equal(shuffled.family_of_cluster, plain.family_of_cluster)


def test_tree_shows_the_evidence_of_every_join():
    batches, labels = bars(np.random.default_rng(12))
    frame = find_families(batches, labels).to_frame("tree")
    touching = frame[frame.level < 0]
    assert len(touching) == 6
    assert (touching.contact < 8).all()
    assert (touching.n_shared_batches == 5).all()
    # Neighboring pieces of a bar lie one unit apart.
    np.testing.assert_allclose(touching.distance, 1.0, rtol=0.15)


def test_frame_of_identities_has_points_and_batches():
    batches, labels = bars(np.random.default_rng(13))
    frame = find_families(batches, labels).to_frame()
    assert frame.n_points.sum() == sum(map(len, batches))
    assert (frame.n_batches == 5).all()


def test_history_finds_the_families_of_its_batches():
    batches, _ = bars(np.random.default_rng(14))
    labels, history = DynamicMeans(0.3, random_state=0).fit_sequence(batches)
    direct = find_families(batches, labels)
    np.testing.assert_array_equal(
        find_families(batches, history).family_of_cluster, direct.family_of_cluster
    )


def test_nothing_gives_no_families():
    families = find_families([np.empty((0, 2))], [np.empty(0, dtype=int)])
    assert families.n_families == 0


def test_points_that_are_all_alike_are_one_cluster_each():
    assert find_families([np.zeros((4, 2))], [[0, 0, 0, 0]]).n_families == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": "fine"}, 'level must be a number or "auto"'),
        ({"n_families": 0}, "n_families must be greater than 0"),
        ({"level": 1.0, "n_families": 3}, "n_families cannot be combined with level, got 3"),
        ({"labels": [[0, 0]]}, "labels must have one array for each of 5 batches"),
        ({"labels": [np.zeros(3, dtype=int)] * 5}, r"labels\[0\] must have an integer"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, message):
    batches, labels = bars(np.random.default_rng(15))
    with pytest.raises(ValueError, match=message):
        find_families(batches, **{"labels": labels, **arguments})


def outliers(rng, n_batches, n_each):
    """Two clusters, and single points that never come back under the same name."""
    places, batches, labels = np.array([[0.0, 0.0], [20.0, 0.0]]), [], []
    for t in range(n_batches):
        blobs_now = np.repeat(places, 10, axis=0) + rng.normal(size=(20, 2))
        batches.append(np.vstack([blobs_now, rng.uniform(-100, 100, size=(n_each, 2))]))
        labels.append(np.append(np.repeat([0, 1], 10), 2 + t * n_each + np.arange(n_each)))
    return batches, labels


def test_an_identity_too_small_for_a_name_goes_with_the_nearest_or_is_an_outlier():
    rng = np.random.default_rng(5)
    batches, labels = blobs(rng, np.array([[0.0, 0.0], [30.0, 0.0]]))
    batches[3] = np.vstack([batches[3], [[1.0, 3.0], [500.0, 0.0]]])
    labels[3] = np.append(labels[3], [7, 8])
    families = find_families(batches, labels)
    assert families.map_labels([0, 1, 7, 8]).tolist() == [0, 1, 0, -1]
    everyone = find_families(batches, labels, min_cluster_size=0, min_batches=1, level=-8)
    assert everyone.map_labels([7, 8]).tolist() == [7, 8]


def test_one_seldom_seen_has_no_name_of_its_own():
    rng = np.random.default_rng(6)
    batches, labels = blobs(rng, np.array([[0.0, 0.0], [30.0, 0.0]]), n_batches=60)
    for t in (3, 30, 55):
        batches[t] = np.vstack([batches[t], [[4.0, 4.0]]])
        labels[t] = np.append(labels[t], 9)
    assert find_families(batches, labels).map_labels([9]).tolist() == [0]


def test_in_a_single_batch_every_cluster_has_a_name():
    batches, labels = blobs(np.random.default_rng(7), np.array([[0.0, 0.0], [30.0, 0.0]]), 1)
    assert find_families(batches, labels).n_families == 2


def test_single_points_that_hold_much_make_the_level_climb():
    rng = np.random.default_rng(8)
    batches, labels, n_born = [], [], 2
    for _ in range(10):
        middle = np.repeat([[0.0, 0.0], [60.0, 0.0]], 20, axis=0) + rng.normal(size=(40, 2))
        single = rng.normal(0, 6, size=(6, 2))
        batches.append(np.vstack([middle, single]))
        labels.append(np.append(np.repeat([0, 1], 20), n_born + np.arange(6)))
        n_born += 6
    kept = evidence.Evidence()
    for points, names in zip(batches, labels, strict=True):
        kept.add(points, names)
    assert build_families(kept, threshold=8.0).level > 1


def test_evidence_of_a_long_stream_is_bounded(monkeypatch):
    monkeypatch.setattr(evidence, "_MAX_KEPT", 64)
    monkeypatch.setattr(evidence, "_MAX_WAITING", 100)
    kept = evidence.Evidence()
    numbers = []
    for points, names in zip(*outliers(np.random.default_rng(9), 300, 3), strict=True):
        kept.add(points, names)
        kept.settle()
        numbers.append((len(kept.ids), len(kept.pair_ids)))
    assert max(n for n, _ in numbers) <= 2 * 64 + 5
    assert max(n for _, n in numbers[200:]) <= max(n for _, n in numbers[:100]) + 64
    families = build_families(kept)
    assert families.map_labels([0, 1]).tolist() == [0, 1]
    assert families.map_labels([5]).tolist() in ([5], [-1], [0], [1])


def test_more_groups_than_are_linked_all_with_all_still_join(monkeypatch):
    monkeypatch.setattr(tree, "_MAX_LINKED", 3)
    places = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0], [90.0, 0.0], [0.0, 90.0]])
    families = find_families(*blobs(np.random.default_rng(10), places), level=np.inf)
    assert families.n_families == 1
    assert families.cut(0).n_families == 5


def test_a_cloud_inside_a_ring_is_not_joined_with_it():
    rng = np.random.default_rng(0)
    batches = []
    for _ in range(25):
        angles = rng.uniform(0, 2 * np.pi, 150)
        ring = 6.0 * np.column_stack([np.cos(angles), np.sin(angles)])
        batches.append(np.concatenate([ring, np.zeros((80, 2))]) + rng.normal(size=(230, 2)))
    model = DynamicMeans(families=True, random_state=0)
    model.fit_sequence(batches)
    assert model.families_.n_families == 2


def test_what_a_long_stream_waits_with_is_bounded_in_batches():
    rng = np.random.default_rng(0)
    gathered, sizes = evidence.Evidence(), []
    for t in range(1280):
        places = 100.0 * (t // 10 + np.arange(3))
        rows = np.column_stack([np.repeat(places, 6), np.zeros(18)]) + rng.normal(0, 0.1, (18, 2))
        gathered.add(rows, np.repeat(t // 10 + np.arange(3), 6))
        if t in (767, 1279):
            sizes.append(sum(a.nbytes for a in gathered.to_arrays()[0].values()))
    assert sizes[1] < 1.1 * sizes[0]


def large_batches(n_batches=12, n_rows=400):
    rng = np.random.default_rng(0)
    names = np.repeat(np.arange(3), n_rows)
    places = np.array([[0.0, 0.0], [2.5, 0.0], [20.0, 0.0]])
    return [places[names] + rng.normal(size=(len(names), 2)) for _ in range(n_batches)], names


def test_few_rows_of_a_large_batch_stand_for_well_known_clusters(monkeypatch):
    batches, names = large_batches()
    found = {}
    for known in (evidence._WELL_KNOWN, np.inf):
        monkeypatch.setattr(evidence, "_WELL_KNOWN", known)
        found[known] = evidence.Evidence()
        for rows in batches:
            found[known].add(rows, names)
        found[known].settle()
    few, every = found.values()
    kept = few.to_arrays()[0]
    assert len(kept["waiting_rows"]) == 0
    for name in ("n", "free", "n_batches", "first_times", "last_times", "pair_ids"):
        assert np.array_equal(getattr(few, name), getattr(every, name)), name
    assert not np.array_equal(few.squares, every.squares)
    assert few.squares == pytest.approx(every.squares, rel=0.1)
    assert few.pairs == pytest.approx(every.pairs, rel=0.2, abs=500)
    assert build_families(few).map_labels([0, 1, 2]).tolist() == [0, 0, 2]


def test_chosen_rows_do_not_depend_on_the_order_of_rows_nor_on_a_look():
    batches, names = large_batches()
    once, again, rng = evidence.Evidence(), evidence.Evidence(), np.random.default_rng(1)
    for rows in batches:
        order = rng.permutation(len(rows))
        once.add(rows, names)
        again.add(rows[order], names[order])
        build_families(again)
        again = evidence.Evidence.from_arrays(*again.to_arrays())
    arrays, others = once.to_arrays()[0], again.to_arrays()[0]
    assert len(arrays["waiting_rows"]) > 0
    assert all(np.array_equal(arrays[name], others[name]) for name in arrays)


def test_a_hint_joins_small_clusters_before_two_large_ones():
    rng = np.random.default_rng(2)
    places = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 45.0], [30.0, -45.0]])
    names = np.repeat(np.arange(4), [300, 300, 60, 60])
    kept = evidence.Evidence()
    for _ in range(8):
        kept.add(places[names] + rng.normal(size=(len(names), 2)), names)
    assert build_families(kept).n_families == 4
    assert build_families(kept, hint=2).map_labels([0, 1, 2, 3]).tolist() == [0, 1, 0, 1]
    assert build_families(kept, n_families=2).map_labels([0, 1]).tolist() == [0, 0]
