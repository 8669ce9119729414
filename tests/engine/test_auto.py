"""backend="auto": where a step is run, and what it says of it."""

import numpy as np
import pytest

from dynmeans import ClusterState, Penalties, step
from dynmeans.engine import execution

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


def test_auto_asks_for_the_gpu_from_a_million_coordinates_on(monkeypatch):
    asked = []
    monkeypatch.setattr(execution, "_has_gpu", lambda: True)
    monkeypatch.setattr(execution, "_load", asked.append)
    execution.Execution("auto").load(999_999)
    execution.Execution("auto").load(1_000_000)
    assert asked == ["native", "gpu"]
