"""Every backend gives the specification's labels, costs and states, to the bit."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_results import assert_same
from streams import batch_lists, light_batches, penalties_strategy, run

from dynmeans import ClusterState, Penalties
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.engine import native
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import INSTRUCTION_SETS, usable_instruction_sets
from dynmeans.engine.execution import DEFAULT, Execution

FAST_BACKENDS = ["native", pytest.param("gpu", marks=pytest.mark.gpu)]
REVIVALS = st.sampled_from(["paper", "exact"])


@pytest.mark.parametrize("backend", FAST_BACKENDS)
@settings(max_examples=150, deadline=None)
@given(batches=batch_lists(), penalties=penalties_strategy, revival=REVIVALS)
def test_backend_agrees_with_specification(backend, batches, penalties, revival):
    expected = run(batches, penalties, revival=revival)
    assert_same(run(batches, penalties, revival=revival, backend=backend), expected)


@pytest.mark.parametrize("instruction_set", usable_instruction_sets())
@settings(max_examples=30, deadline=None)
@given(batches=batch_lists(), penalties=penalties_strategy, revival=REVIVALS)
def test_every_instruction_set_agrees(instruction_set, batches, penalties, revival):
    expected = run(batches, penalties, revival=revival)
    with pytest.MonkeyPatch.context() as patch:
        name = INSTRUCTION_SETS[instruction_set]
        patch.setattr(native, "compiled", importlib.import_module(name))
        assert_same(run(batches, penalties, revival=revival, backend="native"), expected)


@pytest.mark.parametrize("backend", FAST_BACKENDS)
@pytest.mark.parametrize("acceleration", ["auto", "none"])
@settings(max_examples=25, deadline=None)
@given(case=light_batches())
def test_backend_agrees_where_light_points_raise_the_cost(backend, acceleration, case):
    found = run(*case, backend=backend, acceleration=acceleration)
    assert_same(found, run(*case))


@pytest.mark.parametrize("backend", FAST_BACKENDS)
def test_backend_agrees_beyond_one_block_of_points(backend):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20000, 3)) + 20.0 * rng.integers(2, size=(20000, 1))
    order = rng.permutation(20000)[None, :]
    penalties, state = Penalties(200.0, max_gap=3, reach=1.1), ClusterState.empty(3)
    reference, fast = Execution("reference").load(), Execution(backend).load()
    expected = reference.step(Batch(points), state, penalties, order, 1.0, DEFAULT)
    found = fast.step(Batch(points), state, penalties, order, 1.0, DEFAULT)
    assert_same([found[::-1]], [expected[::-1]])


@pytest.mark.parametrize("backend", FAST_BACKENDS)
@settings(max_examples=60, deadline=None)
@given(batches=batch_lists(), penalties=penalties_strategy, revival=REVIVALS)
def test_prediction_agrees_with_specification(backend, batches, penalties, revival):
    state = run(batches, penalties, revival=revival)[-1][1]
    points = np.vstack([batch.points for batch in batches])
    penalties = penalties.with_revival(revival)
    expected = Execution("reference").load().predict_labels(points, state, penalties)
    found = Execution(backend).load().predict_labels(points, state, penalties)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_same_input_gives_the_same_bits_twice():
    stream = moving_gaussians(n_steps=5, rng=np.random.default_rng(3))
    penalties, state = Penalties(0.04, max_gap=6.8, reach=1.01), ClusterState.empty(2)
    order = np.random.default_rng(1).permutation(75)[None, :]
    batch = Batch(stream.batches[0])
    first = native.step(batch, state, penalties, order, 1.0, DEFAULT)
    second = native.step(batch, state, penalties, order, 1.0, DEFAULT)
    assert_same([first[::-1]], [second[::-1]])


def test_unknown_backend_is_refused_by_name():
    with pytest.raises(
        ValueError, match="backend must be one of native, reference, gpu, auto, got 'gpu9'"
    ):
        Execution("gpu9")
