"""lambda, Q and tau, and the reparameterization (Eq. 16)."""

import math

import numpy as np
import pytest

from dynmeans import DynamicMeans, Penalties
from dynmeans.inputs.input_error import InputError


def test_max_gap_and_reach_give_revival_penalty_and_drift():
    # Q = 2/4; tau = (4 * (1.5 - 1) + 1) / (4 - 1) = 1
    penalties = Penalties(2.0, max_gap=4, reach=1.5)
    assert penalties.revival_penalty == 0.5
    assert penalties.drift == 1.0


def test_revival_penalty_and_drift_give_max_gap_and_reach():
    # N_Q = 2/0.5; k_tau = (1 + 1) * (1 - 1/4)
    penalties = Penalties(2.0, revival_penalty=0.5, drift=1.0)
    assert penalties.max_gap == 4.0
    assert penalties.reach == 1.5


def test_unknown_revival_rule_is_refused():
    with pytest.raises(ValueError, match="revival must be one of paper, exact, got 'fuzzy'"):
        Penalties(1.0, max_gap=2, reach=1, revival="fuzzy")
    with pytest.raises(ValueError, match="revival must be one of paper, exact, got 'fuzzy'"):
        Penalties(1.0, max_gap=2, reach=1).with_revival("fuzzy")


def test_infinite_max_gap_means_revival_is_free_forever():
    # The limit of tau as N_Q grows is k_tau - 1.
    penalties = Penalties(2.0, max_gap=math.inf, reach=1.5)
    assert penalties.revival_penalty == 0.0
    assert penalties.drift == 0.5


def test_free_revival_gives_infinite_max_gap():
    penalties = Penalties(2.0, revival_penalty=0.0, drift=0.5)
    assert penalties.max_gap == math.inf
    assert penalties.reach == 1.5


def test_reach_is_the_farthest_revival_after_one_step():
    # k_tau lambda = 3 lies at Q + 3 / (tau + 1) = lambda
    penalties = Penalties(2.0, max_gap=4, reach=1.5)
    assert penalties.revival_penalty + 3.0 / (penalties.drift + 1) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"new_penalty": 0, "max_gap": 2, "reach": 1}, ValueError, "new_penalty must be greater"),
        ({"new_penalty": -1.0, "max_gap": 2, "reach": 1}, ValueError, "got -1.0"),
        (
            {"new_penalty": math.nan, "max_gap": 2, "reach": 1},
            ValueError,
            "must be finite",
        ),
        (
            {"new_penalty": math.inf, "max_gap": 2, "reach": 1},
            ValueError,
            "must be finite",
        ),
        ({"new_penalty": "1", "max_gap": 2, "reach": 1}, TypeError, "new_penalty must be a real"),
        ({"new_penalty": True, "max_gap": 2, "reach": 1}, TypeError, "new_penalty must be a real"),
        (
            {"new_penalty": 1, "max_gap": 1, "reach": 1},
            ValueError,
            "max_gap must be greater",
        ),
        ({"new_penalty": 1, "max_gap": 2, "reach": 0.9}, ValueError, "reach must be at least 1"),
        ({"new_penalty": 1, "revival_penalty": -1, "drift": 0}, ValueError, "revival_penalty must"),
        (
            {"new_penalty": 1, "revival_penalty": 0, "drift": -0.1},
            ValueError,
            "drift must be",
        ),
        (
            {"new_penalty": 1, "max_gap": np.array([2.0, 3.0]), "reach": 1},
            TypeError,
            "max_gap must be a real number",
        ),
        ({"new_penalty": 1}, ValueError, "either revival_penalty and drift, or max_gap and reach"),
        ({"new_penalty": 1, "max_gap": 2}, ValueError, "either revival_penalty and drift"),
        ({"new_penalty": 1, "max_gap": 2, "drift": 1}, ValueError, "not both pairs"),
        (
            {"new_penalty": 1, "max_gap": 2, "reach": 1, "revival_penalty": 1, "drift": 1},
            ValueError,
            "not both pairs",
        ),
    ],
)
def test_bad_values_are_refused_by_name(arguments, error, message):
    with pytest.raises(error, match=message):
        Penalties(**arguments)


@pytest.mark.parametrize("reach", [1.0, 1.2, 1e6])
def test_drift_of_an_enormous_gap_is_that_of_an_infinite_one(reach):
    endless = Penalties(0.04, max_gap=math.inf, reach=reach)
    assert Penalties(0.04, max_gap=1e308, reach=reach).drift == pytest.approx(endless.drift)


def test_enormous_reach_has_the_drift_of_the_formula_or_is_refused():
    # (3 * (1e308 - 1) + 1) / 2 = 1.5e308, although 3e308 is no double; for 1.5 it is 3e308.
    assert Penalties(1.0, max_gap=3, reach=1e308).drift == pytest.approx(1.5e308)
    with pytest.raises(InputError, match=r"reach must be smaller for max_gap=1.5: drift would be"):
        Penalties(1.0, max_gap=1.5, reach=1e308)


@pytest.mark.parametrize(("max_gap", "missed"), [(6.8, 5), (5.0, 3), (2.0, 0)])
def test_max_gap_counts_the_step_of_the_return(max_gap, missed):
    def returns(n_empty):
        model = DynamicMeans(1.0, max_gap=max_gap, reach=1.0, random_state=0)
        model.fit_sequence([[[0.0]], *[np.empty((0, 1))] * n_empty, [[0.1]]])
        return model.labels_[0] == 0

    assert [n for n in range(9) if returns(n)] == list(range(missed + 1))


@pytest.mark.parametrize(
    "pair",
    [
        {"max_gap": 5, "reach": 1.5},
        {"max_gap": 1 + 1e-12, "reach": 1.1},
        {"revival_penalty": 0.3, "drift": 0.1},
        {"revival_penalty": 7.0, "drift": 0.0},
    ],
)
def test_what_is_printed_can_be_typed(pair):
    penalties = Penalties(
        0.7, **pair, revival="exact", motion="constant_velocity", moving_features=[1]
    )
    assert eval(repr(penalties)) == penalties
