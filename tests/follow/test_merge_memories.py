"""Two memories as one: matched identities, new numbers, and the evidence of both."""

from dataclasses import replace

import numpy as np
import pytest

from dynmeans import DynamicMeans, Memory, merge_memories


def bar(rng, start):
    return np.column_stack([rng.uniform(start, start + 3, 60), rng.normal(0, 0.1, 60)])


def follow(starts, seed, **parameters):
    rng = np.random.default_rng(seed)
    model = DynamicMeans(0.5, families=True, random_state=seed, **parameters)
    for _ in range(6):
        model.partial_fit(np.vstack([bar(rng, start) for start in starts]))
    return model


def test_what_is_at_the_same_place_is_one_identity(tmp_path):
    here, there = follow([0, 20], 0), follow([20, 60], 1)
    merged, new_ids = merge_memories(here.memory_, there.memory_)
    shared = there.cluster_centers_[:, 0] < 40
    ids = new_ids[there.cluster_ids_]
    assert np.isin(ids[shared], here.cluster_ids_).sum() >= shared.sum() - 1
    assert (ids[~shared] >= here.memory_.clusters.next_id).all()
    assert len(np.unique(new_ids)) == len(new_ids)
    model = DynamicMeans.from_memory(merged, families=True)
    assert model.families_.n_families == 3
    rows = np.array([[1.5, 0.0], [21.5, 0.0], [61.5, 0.0]])
    labels = model.families_.map_labels(model.predict(rows))
    assert len(set(labels)) == 3
    merged.save(tmp_path / "memory")
    assert Memory.load(tmp_path / "memory").clusters.next_id == merged.clusters.next_id
    assert model.partial_fit(rows).n_steps_ == 7


def test_a_memory_with_one_of_the_same_rows_changes_no_identity():
    model = follow([0, 20], 0)
    merged, new_ids = merge_memories(model.memory_, model.memory_)
    np.testing.assert_array_equal(new_ids[model.cluster_ids_], model.cluster_ids_)
    np.testing.assert_allclose(merged.clusters.centers, model.cluster_centers_)
    np.testing.assert_allclose(merged.clusters.weights, 2 * model.cluster_weights_)
    once, twice = model.memory_.evidence.copy(), merged.evidence
    once.settle()
    np.testing.assert_allclose(twice.n, 2 * once.n)
    np.testing.assert_allclose(twice.pairs, 2 * once.pairs)


def test_merged_evidence_is_that_of_the_rows_of_both():
    rng = np.random.default_rng(0)
    batches = [np.vstack([bar(rng, 0), bar(rng, 20) + 0.01]) for _ in range(6)]
    start = DynamicMeans(0.5, families=True, random_state=0).partial_fit(batches[0])
    parts = []
    for side in (slice(0, 60), slice(60, 120)):
        model = DynamicMeans.from_memory(start.memory_, families=True)
        for batch in batches[1:]:
            model.partial_fit(batch[side])
        parts.append(model)
    merged, _ = merge_memories(parts[0].memory_, parts[1].memory_)
    model = DynamicMeans.from_memory(merged, families=True)
    left, right = (model.families_.map_labels(part.labels_) for part in parts)
    assert len(set(left)) == len(set(right)) == 1
    assert left[0] != right[0]


def test_on_the_sphere_centers_stay_on_it():
    rng = np.random.default_rng(0)
    rows = np.repeat(np.eye(3), 20, axis=0) + rng.normal(0, 0.05, (60, 3))
    here, there = (
        DynamicMeans(0.5, space="cosine", random_state=0).partial_fit(part)
        for part in (rows[:40], rows[20:])
    )
    merged, _ = merge_memories(here.memory_, there.memory_)
    assert merged.clusters.n_clusters == 3
    np.testing.assert_allclose(np.linalg.norm(merged.clusters.centers, axis=1), 1.0)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: DynamicMeans(0.7).partial_fit([[0.0, 0.0]]), "the same penalties"),
        (lambda: DynamicMeans(0.5).partial_fit([[0.0]]), "the same n_features"),
        (lambda: DynamicMeans(0.5, space="standard").partial_fit(np.eye(2)), "the same space"),
    ],
)
def test_memories_of_another_kind_are_refused(other, message):
    memory = DynamicMeans(0.5).partial_fit([[0.0, 0.0]]).memory_
    with pytest.raises(ValueError, match=message):
        merge_memories(memory, other().memory_)


def test_a_memory_without_points_is_refused():
    memory = DynamicMeans(0.5).partial_fit([[0.0, 0.0]]).memory_
    with pytest.raises(ValueError, match="have seen points"):
        merge_memories(memory, replace(memory, penalties=None))
