"""A history small enough to see, axes without a window, and a switch to Agg that is undone."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from dynmeans import Event, History
from dynmeans.records.step_record import StepRecord


def _record(step, time, labels, centers, cost_trace, n_remembered, events):
    ids, counts = np.unique(labels, return_counts=True)
    return StepRecord(
        step=step,
        time=time,
        labels=np.array(labels, dtype=np.int64),
        ids=ids.astype(np.int64),
        counts=counts.astype(np.float64),
        centers=np.array(centers, dtype=np.float64).reshape(len(ids), 2),
        weights=np.ones(len(ids)),
        ages=np.ones(len(ids)),
        cost_trace=np.array(cost_trace, dtype=np.float64),
        n_remembered=n_remembered,
        events=tuple(Event(kind, k) for kind, k in events),
    )


RECORDS = (
    _record(0, 1.0, [0, 0, 1], [[0, 0], [5, 5]], [5, 3], 2, [("born", 0), ("born", 1)]),
    _record(1, 2.0, [0, 0, 0], [[1, 0]], [4, 4], 2, [("moved", 0), ("vanished", 1)]),
    _record(2, 3.0, [0, 0, 1, 1], [[2, 0], [5, 6]], [2], 2, [("moved", 0), ("returned", 1)]),
    _record(3, 5.0, [2, 1], [[5, 7], [9, 9]], [3, 1, 0.5], 3, [("born", 2), ("vanished", 0)]),
    _record(4, 6.0, [], [], [0], 2, [("vanished", 1), ("vanished", 2), ("forgotten", 0)]),
)


def _history(records, window=None):
    history = History(window)
    for record in records:
        history.add(record)
    return history


@pytest.fixture
def history():
    """Four batches: 0 leaves in the last, 1 is away in the second, 2 is born in the last."""
    return _history(RECORDS[:4])


@pytest.fixture
def longer_history():
    """The same, and an empty batch in which 0 is forgotten."""
    return _history(RECORDS)


@pytest.fixture
def windowed_history():
    """The last two of the four: the births of 0 and 1 are out of sight."""
    return _history(RECORDS[:4], window=2)


@pytest.fixture
def points():
    """The points of the last of the four batches, the second cluster's first."""
    return np.array([[9.0, 9.0], [5.0, 7.0]])


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture
def agg():
    before = matplotlib.get_backend()
    plt.switch_backend("agg")
    yield
    plt.switch_backend(before)
