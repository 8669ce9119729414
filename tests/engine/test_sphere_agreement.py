"""On the unit sphere compiled code gives what the specification gives, to the bit."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_results import assert_same
from sphere_streams import unit_batches
from streams import run

from dynmeans import ClusterState, DynamicMeans, Penalties, step
from dynmeans.engine import native
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import INSTRUCTION_SETS, usable_instruction_sets
from dynmeans.engine.execution import Execution
from dynmeans.engine.native import predict_labels
from dynmeans.engine.reference import predict_labels as reference_labels
from dynmeans.records.orders import VisitingOrders

sphere_penalties = st.builds(
    lambda cosine, gap, reach: Penalties(2 - 2 * cosine, max_gap=gap, reach=reach).with_centers(
        "sphere"
    ),
    st.floats(-0.2, 0.95),
    st.sampled_from([1.5, 4.0, 6.8, np.inf]),
    st.sampled_from([1.0, 1.05, 1.5]),
)
REVIVALS = st.sampled_from(["paper", "exact"])


@pytest.mark.parametrize("acceleration", ["auto", "none"])
@settings(max_examples=150, deadline=None)
@given(batches=unit_batches(), penalties=sphere_penalties, revival=REVIVALS)
def test_compiled_code_agrees_on_the_sphere(acceleration, batches, penalties, revival):
    found = run(batches, penalties, revival=revival, backend="native", acceleration=acceleration)
    assert_same(found, run(batches, penalties, revival=revival))


@pytest.mark.parametrize("instruction_set", usable_instruction_sets())
@settings(max_examples=30, deadline=None)
@given(batches=unit_batches(), penalties=sphere_penalties, revival=REVIVALS)
def test_every_instruction_set_agrees_on_the_sphere(instruction_set, batches, penalties, revival):
    expected = run(batches, penalties, revival=revival)
    with pytest.MonkeyPatch.context() as patch:
        name = INSTRUCTION_SETS[instruction_set]
        patch.setattr(native, "compiled", importlib.import_module(name))
        assert_same(run(batches, penalties, revival=revival, backend="native"), expected)


@settings(max_examples=40, deadline=None)
@given(batches=unit_batches(), penalties=sphere_penalties)
def test_predictions_agree_on_the_sphere(batches, penalties):
    _, state = run(batches, penalties, backend="native")[-1]
    points = batches[-1].points.astype(float)
    for elapsed in (0.0, 1.0, 3.5):
        found = predict_labels(points, state, penalties, elapsed)
        for mine, expected in zip(
            found, reference_labels(points, state, penalties, elapsed), strict=True
        ):
            np.testing.assert_array_equal(mine, expected)


def crowd(n=3_000, n_features=48, n_topics=90, seed=0):
    rng = np.random.default_rng(seed)
    topics = rng.normal(size=(n_topics, n_features))
    rows = topics[rng.integers(n_topics, size=n)] + 0.6 * rng.normal(size=(n, n_features))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_product_in_blocks_gives_the_labels_of_comparing_everything():
    penalties = Penalties(1.2, max_gap=6, reach=1.05).with_centers("sphere")
    results = []
    for acceleration in ("auto", "none"):
        state = ClusterState.empty(48)
        for seed in range(2):
            state, found = step(
                crowd(seed=seed),
                state,
                penalties,
                orders=VisitingOrders(3, 1),
                acceleration=acceleration,
            )
        results.append([(found, state)])
    assert_same(*results)
    assert len(found.ids) > 64  # enough for the filter


def test_threads_change_nothing_on_the_sphere():
    penalties = Penalties(1.2, max_gap=6, reach=1.05).with_centers("sphere")
    batch, nothing = Batch(crowd(12_000), None), ClusterState.empty(48)
    orders = VisitingOrders(3, 1)
    found = [
        native.step(batch, nothing, penalties, orders, 1.0, Execution(n_threads=n))
        for n in (1, 2, 4)
    ]
    for state, clustering in found[1:]:
        assert_same([(clustering, state)], [(found[0][1], found[0][0])])


def test_a_sequence_of_batches_is_that_of_one_after_the_other():
    batches = [crowd(200, 20, 6, seed) for seed in range(5)]
    at_once = DynamicMeans(1.4, space="cosine", random_state=0)
    found, _ = at_once.fit_sequence(batches)
    one_by_one = DynamicMeans(1.4, space="cosine", random_state=0)
    labels = [one_by_one.partial_fit(batch).labels_ for batch in batches]
    np.testing.assert_array_equal(np.concatenate(found), np.concatenate(labels))
    assert at_once.memory_.clusters == one_by_one.memory_.clusters
    np.testing.assert_array_equal(one_by_one.predict(batches[-1]), labels[-1])


def test_a_memory_on_the_sphere_resumes_to_the_bit(tmp_path):
    batches = [crowd(200, 20, 6, seed) for seed in range(4)]
    whole, begun = (DynamicMeans(1.4, space="cosine", random_state=0) for _ in range(2))
    for batch in batches:
        whole.partial_fit(batch)
    for batch in batches[:2]:
        begun.partial_fit(batch)
    begun.memory_.save(tmp_path / "memory.dm")
    memory = type(begun.memory_).load(tmp_path / "memory.dm")
    assert memory.penalties.is_on_sphere
    resumed = DynamicMeans.from_memory(memory, space="cosine", random_state=0)
    for batch in batches[2:]:
        resumed.partial_fit(batch)
    np.testing.assert_array_equal(resumed.labels_, whole.labels_)
    assert resumed.memory_.clusters == whole.memory_.clusters
