"""What may lie on a cluster, and what is refused there."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

from dynmeans import (
    ClusterState,
    DPMeans,
    DynamicMeans,
    Penalties,
    VisitingOrders,
    step,
)
from dynmeans.algorithm.visiting_orders import visiting_orders
from dynmeans.engine.dask import prepare_batch

RNG = np.random.default_rng(0)
POINTS = np.vstack([RNG.normal(size=(40, 2)), RNG.normal(size=(50, 2)) + 9])
PENALTIES = Penalties(20.0, max_gap=3, reach=1.2)
EXPECTED = step(POINTS, ClusterState.empty(2), PENALTIES, orders=VisitingOrders(1, 2))


def call(points, **changes):
    arguments = {"orders": VisitingOrders(1, 2), **changes}
    return step(points, ClusterState.empty(2), PENALTIES, **arguments)


def assert_expected(found):
    state, clustering = found
    assert state == EXPECTED[0]
    np.testing.assert_array_equal(clustering.labels, EXPECTED[1].labels)


def test_array_in_chunks_of_columns_is_taken(client):
    assert_expected(call(da.from_array(POINTS, chunks=(25, 1))))


def test_array_with_unknown_chunk_sizes_is_taken(client):
    rows = da.from_array(POINTS, chunks=(25, 2))
    found = call(rows[rows[:, 0] > -np.inf])
    assert_expected(found)
    assert found[1].labels.chunks == ((25, 25, 25, 15),)


def test_frame_of_numeric_columns_is_taken(client):
    frame = pd.DataFrame({"x": POINTS[:, 0], "y": POINTS[:, 1]})
    assert_expected(call(dd.from_pandas(frame, npartitions=3)))


def test_list_of_futures_is_taken(client):
    assert_expected(call(client.scatter([POINTS[:31], POINTS[31:60], POINTS[60:]])))


def test_chunks_of_different_precision_are_taken_as_on_one_machine(client):
    halves = [POINTS[:40].astype(np.float32), POINTS[40:]]
    expected, _ = step(
        np.vstack(halves), ClusterState.empty(2), PENALTIES, orders=VisitingOrders(1, 2)
    )
    assert call(client.scatter(halves))[0] == expected


def test_integers_are_taken_like_floats(client):
    whole = np.round(POINTS * 2).astype(int)
    expected, _ = step(whole, ClusterState.empty(2), PENALTIES, orders=VisitingOrders(1, 2))
    assert call(da.from_array(whole, chunks=(25, 2)))[0] == expected


def test_batch_of_nothing_lets_time_pass(client):
    state, clustering = step(
        da.empty((0, 2), chunks=(5, 2)),
        EXPECTED[0],
        PENALTIES,
        orders=VisitingOrders(0),
        elapsed=2.0,
    )
    assert state.ages.tolist() == [3.0, 3.0]
    assert clustering.labels.shape == (0,)


def test_weights_may_be_a_plain_array_or_lie_in_other_chunks(client):
    weights = RNG.choice([0.0, 1.0, 2.0], size=90)
    expected, _ = step(
        POINTS,
        ClusterState.empty(2),
        PENALTIES,
        orders=VisitingOrders(1, 2),
        sample_weight=weights,
    )
    rows = da.from_array(POINTS, chunks=(25, 2))
    assert call(rows, sample_weight=weights)[0] == expected
    assert call(rows, sample_weight=da.from_array(weights, chunks=40))[0] == expected


def with_bad_value(value):
    bad = POINTS.copy()
    bad[61, 1] = value
    return da.from_array(bad, chunks=(25, 2))


@pytest.mark.parametrize(
    ("points", "changes", "error", "message"),
    [
        (with_bad_value(np.nan), {}, ValueError, r"got nan in row 11 of chunk 2 \(row 61 of the"),
        (with_bad_value(1e101), {}, ValueError, "at most 1e[+]100 in magnitude, got 1e[+]101"),
        (da.zeros((9, 3), chunks=(4, 3)), {}, ValueError, "points has 3 features, but the state"),
        (da.zeros(9, chunks=4), {}, ValueError, "points must have two dimensions"),
        (da.from_array(np.array([["a", "b"]])), {}, TypeError, "points must be numeric"),
        (with_bad_value(0.0), {"sample_weight": -np.ones(90)}, ValueError, "at least 0"),
        (with_bad_value(0.0), {"sample_weight": np.ones(9)}, ValueError, "each of 90 points"),
        (with_bad_value(0.0), {"orders": [[0, 1]]}, ValueError, "orders must have shape"),
        (with_bad_value(0.0), {"backend": "reference"}, ValueError, "backend must be native"),
        (with_bad_value(0.0), {"elapsed": 0.0}, ValueError, "elapsed must be greater than 0"),
    ],
)
def test_bad_batch_is_refused_by_name(client, points, changes, error, message):
    with pytest.raises(error, match=message):
        call(points, **changes)


def test_bad_weight_on_the_cluster_is_named_with_its_chunk(client):
    weights = np.ones(90)
    weights[30] = -2.0
    with pytest.raises(ValueError, match=r"got -2\.0 in row 5 of chunk 1"):
        call(da.from_array(POINTS, chunks=(25, 2)), sample_weight=da.from_array(weights, chunks=25))


def test_chunks_of_different_widths_are_refused(client):
    with pytest.raises(ValueError, match="2 in chunk 0 and 1 in chunk 1"):
        call(client.scatter([POINTS, POINTS[:, :1]]))


def frames(*columns):
    """Halves of the points as data frames with their columns in these orders."""
    halves = (
        pd.DataFrame(POINTS[:40], columns=["x", "y"]),
        pd.DataFrame(POINTS[40:], columns=["x", "y"]),
    )
    return [half[list(names)] for half, names in zip(halves, columns, strict=True)]


def test_futures_of_frames_are_matched_by_the_names_of_their_columns(client):
    assert_expected(call(client.scatter(frames("xy", "yx"))))


def test_futures_of_frames_with_other_columns_are_refused_by_name(client):
    first, second = frames("xy", "xy")
    batch = client.scatter([first, second.rename(columns={"y": "z"})])
    with pytest.raises(
        ValueError, match=r"got \['x', 'y'\] in chunk 0 and \['x', 'z'\] in chunk 1"
    ):
        call(batch)
    with pytest.raises(ValueError, match="in chunk 0 and an array without names in chunk 1"):
        call(client.scatter([first, second.to_numpy()]))


def test_feature_names_of_futures_are_those_of_the_first_frame(client):
    batch = prepare_batch(client.scatter(frames("yx", "xy")), None, None)
    assert batch.feature_names == ["y", "x"]


def test_frame_with_a_column_of_text_is_refused_by_its_name(client):
    frame = pd.DataFrame({"x": [1.0, 2.0], "name": ["a", "b"]})
    with pytest.raises(TypeError, match="numeric columns, got name"):
        call(dd.from_pandas(frame, npartitions=1))


def test_error_of_the_users_own_data_is_passed_on(client):
    def fail(block):
        if block.size:
            raise FileNotFoundError(2, "no such file")
        return block

    rows = da.from_array(POINTS, chunks=(25, 2)).map_blocks(fail, dtype=float)
    with pytest.raises(FileNotFoundError, match="no such file"):
        call(rows)


def test_without_a_client_the_way_to_start_one_is_told():
    with pytest.raises(ValueError, match=r"needs a running Dask client\. Start one first"):
        call(da.from_array(POINTS, chunks=(25, 2)))


def test_client_that_is_not_the_default_one_is_found_by_its_futures(two_workers):
    with Client(two_workers, set_as_default=False) as client:
        rows = client.persist(da.from_array(POINTS, chunks=(25, 2)))
        state, clustering = call(rows * 1.0)
        labels = client.compute(clustering.labels).result()
    assert state == EXPECTED[0]
    np.testing.assert_array_equal(labels, EXPECTED[1].labels)


def test_default_client_of_another_cluster_is_not_asked(client, two_workers):
    with Client(two_workers, set_as_default=False) as other:
        rows = other.persist(da.from_array(POINTS, chunks=(25, 2)))
        assert prepare_batch(rows, None, 2).client is other


def test_many_small_chunks_need_no_task_each(client, monkeypatch):
    points = np.tile(POINTS, (20, 1))
    rows = client.persist(da.from_array(points, chunks=(6, 2)))
    weights = client.persist(da.ones(len(points), chunks=6))
    calls, submit = [], Client.submit
    monkeypatch.setattr(Client, "submit", lambda *a, **k: calls.append(a) or submit(*a, **k))
    monkeypatch.setattr(Client, "compute", None)
    state, clustering = call(rows, sample_weight=weights)
    monkeypatch.undo()
    assert rows.npartitions == 300
    assert len(calls) <= 12
    expected = call(points, sample_weight=np.ones(len(points)))
    assert state == expected[0]
    np.testing.assert_array_equal(clustering.labels, expected[1].labels)


def in_frames(points):
    return dd.from_pandas(pd.DataFrame(points, columns=["x", "y"]), npartitions=2)


def test_estimator_continues_on_a_cluster_as_on_one_machine(client):
    parameters = {"new_penalty": 20.0, "random_state": 3}
    here, there = DynamicMeans(**parameters), DynamicMeans(**parameters)
    for t in range(3):
        batch = POINTS + 0.3 * t
        here.partial_fit(batch, elapsed=1.5)
        there.partial_fit(da.from_array(batch, chunks=(37, 2)), elapsed=1.5)
        assert here.state_ == there.state_
        np.testing.assert_array_equal(there.labels_, here.labels_)
    assert [event.kind for event in here.events_] == [event.kind for event in there.events_]


def test_estimator_predicts_a_dask_array_lazily(client):
    model = DynamicMeans(20.0, random_state=0).fit(da.from_array(POINTS, chunks=(37, 2)))
    found = model.predict(da.from_array(POINTS, chunks=(50, 2)))
    assert found.chunks == ((50, 40),)
    np.testing.assert_array_equal(found, model.labels_)


@pytest.mark.parametrize("space", ["standard", "robust", "cosine"])
def test_rows_on_a_cluster_are_mapped_into_the_space_where_they_lie(client, space):
    rows = POINTS * [1.0, 300.0] + 5.0
    alone = DynamicMeans(0.5, space=space, random_state=0).fit(rows)
    spread = DynamicMeans.from_memory(alone.memory_)
    batch = da.from_array(rows[::-1], chunks=(37, 2))
    expected = alone.partial_fit(rows[::-1])
    spread.partial_fit(batch)
    np.testing.assert_array_equal(spread.labels_, expected.labels_)
    assert spread.memory_.clusters == expected.memory_.clusters
    np.testing.assert_array_equal(spread.predict(batch), expected.predict(rows[::-1]))
    np.testing.assert_array_equal(spread.transform(batch), expected.transform(rows[::-1]))


def test_a_space_is_not_learned_on_a_cluster(client):
    with pytest.raises(ValueError, match="space='standard' needs a first batch in memory"):
        DynamicMeans(0.5, space="standard").fit(da.from_array(POINTS, chunks=(37, 2)))


def test_distances_of_a_dask_array_stay_in_its_chunks(client):
    model = DynamicMeans(20.0, random_state=0).fit(POINTS)
    found = model.transform(da.from_array(POINTS, chunks=(50, 1)))
    assert found.chunks == ((50, 40), (2,))
    np.testing.assert_array_equal(found, model.transform(POINTS))
    np.testing.assert_array_equal(model.transform(in_frames(POINTS)), found)


@pytest.mark.parametrize("estimator", [DynamicMeans, DPMeans])
def test_fit_refuses_weights_that_are_all_zero(client, estimator):
    rows, zeros = da.from_array(POINTS, chunks=(37, 2)), da.zeros(90, chunks=37)
    model = estimator(20.0, random_state=0)
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match="sample_weight must have a value above 0, got only zero"):
        model.fit(rows, sample_weight=zeros)
    assert model.__dict__ == before


def test_fit_refuses_a_batch_without_rows(client):
    with pytest.raises(ValueError, match="X must have at least one row, got none"):
        DynamicMeans(20.0).fit(da.empty((0, 2), chunks=(5, 2)))


def test_sequence_of_dask_batches_has_a_history(client):
    batches = [da.from_array(POINTS + t, chunks=(37, 2)) for t in range(2)]
    labels, history = DynamicMeans(20.0, random_state=0).fit_sequence(batches)
    assert [chunk.chunks for chunk in labels] == [((37, 37, 16),)] * 2
    frame = history.to_frame("labels")
    assert frame["cluster_id"].tolist() == np.concatenate([np.asarray(x) for x in labels]).tolist()


def test_dp_means_takes_a_dask_array(client):
    model = DPMeans(20.0, random_state=0).fit(da.from_array(POINTS, chunks=(37, 2)))
    assert len(model.cluster_centers_) == 2


def test_columns_must_keep_their_names(client):
    model = DynamicMeans(20.0, random_state=0).partial_fit(in_frames(POINTS))
    assert model.feature_names_in_.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match=r"columns of the first batch, \['x', 'y'\]"):
        model.partial_fit(in_frames(POINTS)[["y", "x"]])


def test_failed_batch_leaves_the_estimator_as_it_was(client):
    model = DynamicMeans(20.0, random_state=0).partial_fit(POINTS)
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match="got nan in row 11 of chunk 2"):
        model.partial_fit(with_bad_value(np.nan))
    assert model.__dict__ == before


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((-1, 1), ValueError, "seed must be from 0 to"),
        ((0.5, 1), TypeError, "seed must be an integer"),
        ((0, 0), ValueError, "n_init must be from 1"),
    ],
)
def test_impossible_orders_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        VisitingOrders(*arguments)


def test_orders_by_content_are_listed_alike_in_memory():
    listed = visiting_orders(POINTS, None, 1, 0, 2)
    assert step(POINTS, ClusterState.empty(2), PENALTIES, orders=listed)[0] == EXPECTED[0]
