"""backend="auto": where a step is run, and what it says of it."""

import os
import sys

import numpy as np
import pytest

from dynmeans import ClusterState, DynamicMeans, Penalties, step
from dynmeans.engine import auto, execution
from dynmeans.engine.batch import Batch, prepare_batch

POINTS, PENALTIES = np.array([[0.0], [0.2], [5.0]]), Penalties(1.0, max_gap=5, reach=1.5)


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_a_clustering_says_what_ran_it(backend):
    start = ClusterState.empty(1)
    _, found = step(POINTS, start, PENALTIES, orders=[[0, 1, 2]], backend=backend)
    assert found.execution == backend


def test_auto_runs_compiled_code_for_a_small_batch(monkeypatch):
    monkeypatch.setattr(execution, "_has_gpu", lambda: True)
    start = ClusterState.empty(1)
    _, found = step(POINTS, start, PENALTIES, orders=[[0, 1, 2]], backend="auto")
    assert found.execution == "native"


def test_auto_runs_compiled_code_where_there_is_no_gpu(monkeypatch):
    monkeypatch.setattr(execution, "_has_gpu", lambda: False)
    assert execution.Execution("auto").load(10**9).__name__ == "dynmeans.engine.native"


def test_auto_asks_for_the_gpu_from_400_000_coordinates_on(monkeypatch):
    asked = []
    monkeypatch.setattr(execution, "_has_gpu", lambda: True)
    monkeypatch.setattr(execution, "_load", asked.append)
    execution.Execution("auto").load(399_999)
    execution.Execution("auto").load(400_000)
    assert asked == ["native", "auto"]


class _NoRoom:
    """A backend on a card that is full, as the driver, CuPy's pool or another error says it."""

    def __init__(self, error):
        self._error = error

    def step(self, *arguments):
        raise self._error

    predict_labels = step


class _CudaError(RuntimeError):
    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status = status


@pytest.mark.parametrize("error", [MemoryError("full"), _CudaError(2)], ids=["pool", "driver"])
def test_auto_goes_back_to_compiled_code_where_the_card_is_full(error, monkeypatch):
    monkeypatch.setitem(sys.modules, "dynmeans.engine.gpu.backend", _NoRoom(error))
    start, orders = ClusterState.empty(1), np.array([[0, 1, 2]])
    arguments = (start, PENALTIES, orders, 1.0, execution.Execution("auto"))
    state, found = auto.step(Batch(POINTS), *arguments)
    assert found.execution == "native"
    assert auto.predict_labels(POINTS, state, PENALTIES)[0].tolist() == [0, 0, 1]


def test_auto_does_not_hide_other_errors_of_the_card(monkeypatch):
    monkeypatch.setitem(sys.modules, "dynmeans.engine.gpu.backend", _NoRoom(_CudaError(700)))
    with pytest.raises(_CudaError, match="700"):
        auto.step(Batch(POINTS), ClusterState.empty(1), PENALTIES)


class _Card:
    """A backend that copies rows, and finds them allowed or not."""

    def __init__(self, copy):
        self._copy = copy

    def maybe_copy_to_device(self, points):
        if isinstance(self._copy, Exception):
            raise self._copy
        return self._copy


@pytest.fixture
def large(monkeypatch):
    """Rows that would go to a GPU, with a value that is not allowed."""
    monkeypatch.setattr(execution, "_has_gpu", lambda: True)
    rows = np.zeros((2**20, 4))
    rows[-1, -1] = np.nan
    return rows


def test_rows_for_a_gpu_are_checked_there_and_not_again(large, monkeypatch):
    monkeypatch.setitem(sys.modules, "dynmeans.engine.gpu.backend", _Card("the copy"))
    assert prepare_batch(large, None, 4, execution=execution.Execution("auto")).there == "the copy"
    assert prepare_batch(large[:9], None, 4, execution=execution.Execution("auto")).there is None
    with pytest.raises(ValueError, match="points must be finite"):
        prepare_batch(large, None, 4)


@pytest.mark.parametrize("copy", [None, MemoryError("full")], ids=["bad value", "no room"])
def test_rows_that_a_gpu_does_not_take_are_checked_in_memory(copy, large, monkeypatch):
    monkeypatch.setitem(sys.modules, "dynmeans.engine.gpu.backend", _Card(copy))
    model = DynamicMeans(1.0, max_gap=5, reach=1.5, backend="auto")
    with pytest.raises(ValueError, match=r"X must be finite .* got NaN"):
        model.partial_fit(large)
    assert not hasattr(model, "memory_")


def test_a_process_forked_after_the_card_was_used_does_without_it(monkeypatch):
    monkeypatch.setattr(execution, "_process_with_gpu", lambda: os.getpid() - 1)
    assert execution.Execution("auto").load(10**9).__name__ == "dynmeans.engine.native"
    monkeypatch.setattr(execution, "_first_process", lambda: os.getpid() - 1)
    with pytest.raises(RuntimeError, match="backend 'gpu' cannot be used in a process forked"):
        execution.Execution("gpu").load()
