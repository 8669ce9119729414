"""families_, family_labels_ and confirmed_labels_ of DynamicMeans."""

import numpy as np
import pytest

from dynmeans import DynamicMeans, find_families


def bars(n_batches=6):
    rng = np.random.default_rng(0)
    return [rng.uniform([0, 0], [5, 0.3], size=(150, 2)) for _ in range(n_batches)]


def test_families_batch_by_batch_are_those_of_the_whole_sequence():
    batches = bars()
    model = DynamicMeans(0.3, families=True, random_state=0)
    labels = [model.partial_fit(batch).labels_ for batch in batches]
    found = find_families(batches, labels)
    np.testing.assert_array_equal(model.families_.family_of_cluster, found.family_of_cluster)
    np.testing.assert_array_equal(model.family_labels_, found.map_labels(labels[-1]))


def test_a_sequence_has_its_families_too():
    batches = bars()
    model = DynamicMeans(0.3, families=True, random_state=0)
    labels, _ = model.fit_sequence(batches)
    assert len(np.unique(np.concatenate(labels))) > 3
    assert np.unique(model.family_labels_).tolist() == [0]


def test_families_that_join_later_are_an_event():
    model = DynamicMeans(0.3, families=True, random_state=0)
    joined = []
    for batch in bars():
        model.partial_fit(batch)
        joined += [event for event in model.events_ if event.kind == "joined"]
    assert joined
    assert all(event.other_id < event.cluster_id for event in joined)


def test_reading_events_twice_gives_the_same_events():
    model = DynamicMeans(0.3, families=True, random_state=0)
    n_joined = 0
    for batch in bars():
        model.partial_fit(batch)
        events = model.events_
        n_joined += sum(event.kind == "joined" for event in events)
        assert model.events_ == events
    assert n_joined > 0


def test_another_number_of_clusters_gives_other_families():
    model = DynamicMeans(0.3, families=True, n_clusters=1, random_state=0)
    model.fit_sequence(bars())
    assert len(model.families_.ids) == 1
    model.set_params(n_clusters=4)
    assert model.families_.mean_per_batch == pytest.approx(4, abs=1)


def test_starting_over_forgets_the_evidence():
    model = DynamicMeans(0.3, families=True, random_state=0)
    model.fit_sequence(bars())
    model.fit([[0.0, 0.0], [90.0, 0.0]])
    assert model.families_.tree.ids.tolist() == [0, 1]
    assert model.families_.counts.tolist() == [1, 1]


def test_families_are_not_there_unless_asked_for():
    model = DynamicMeans(0.3, random_state=0).fit([[0.0], [9.0]])
    with pytest.raises(AttributeError, match="families=True"):
        _ = model.families_


def test_about_so_many_families():
    batches = bars()
    model = DynamicMeans(0.3, families=True, n_clusters=3, random_state=0)
    model.fit_sequence(batches)
    assert model.families_.mean_per_batch == pytest.approx(3, abs=1)


def test_an_identity_is_confirmed_once_it_has_lived_and_keeps_its_number():
    model = DynamicMeans(1.0, min_batches=2, min_cluster_size=3, random_state=0)
    model.partial_fit([[0.0], [0.1], [50.0]])
    assert model.confirmed_labels_.tolist() == [-1, -1, -1]
    model.partial_fit([[0.0], [0.1], [50.0]])
    assert model.confirmed_labels_.tolist() == [0, 0, -1]  # 50 has two points, and needs three
    model.partial_fit([[0.0], [50.0]])
    assert model.confirmed_labels_.tolist() == [0, 1]


def test_history_knows_what_was_never_confirmed():
    batches = [[[0.0], [0.1], [50.0]], [[0.0]], [[0.0], [90.0]]]
    _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    found = history.confirmed_labels(min_batches=2)
    assert [labels.tolist() for labels in found] == [[0, 0, -1], [0], [0, -1]]
