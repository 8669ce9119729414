"""Cost per batch and per pass."""

import dataclasses

import numpy as np
import pytest

from dynmeans import History
from dynmeans.plots import plot_costs
from dynmeans.plots.costs import _cost_data


def test_cost_of_a_batch_is_that_of_its_last_pass(history):
    data = _cost_data(history)
    assert data.times.tolist() == [1, 2, 3, 5]
    assert data.costs.tolist() == [3, 4, 2, 0.5]


def test_fall_begins_at_the_first_pass(history):
    assert _cost_data(history).first_costs.tolist() == [5, 4, 2, 3]


def test_every_pass_has_the_time_of_its_batch(history):
    data = _cost_data(history)
    assert data.pass_times.tolist() == [1, 1, 2, 2, 3, 5, 5, 5]
    assert data.pass_costs.tolist() == [5, 3, 4, 4, 2, 3, 1, 0.5]


def test_passes_and_costs_are_both_drawn(history, ax):
    passes, costs = plot_costs(history, ax).get_lines()
    assert passes.get_ydata().tolist() == [5, 3, 4, 4, 2, 3, 1, 0.5]
    assert costs.get_ydata().tolist() == [3, 4, 2, 0.5]
    assert ax.get_xlabel() == "time"


@pytest.mark.parametrize("trace", [[], [np.nan], [2.0, np.inf]])
def test_cost_that_is_missing_or_not_finite_is_refused(history, trace):
    broken = History()
    broken.add(dataclasses.replace(history[0], cost_trace=np.array(trace)))
    with pytest.raises(ValueError, match=r"finite cost for every pass, got .* of time 1\."):
        _cost_data(broken)
