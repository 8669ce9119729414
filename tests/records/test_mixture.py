"""Parameters and state of the mixture: checked, frozen, saved whole."""

import numpy as np
import pytest

from dynmeans.records.mixture import MixtureParameters, MixtureState

FIELDS = {
    "ids": [3, 7],
    "counts": [5.0, 6.5],
    "centers": [[0.0, 1.0], [2.0, 3.0]],
    "variances": [0.1, 0.2],
    "ages": [1.0, 2.0],
    "next_id": 9,
    "n_steps": 4,
    "time": 4.5,
    "last_counts": [2.0, 3.0],
}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("concentration", 0.0, "concentration must be greater than 0, got 0.0"),
        ("concentration", np.nan, "concentration must be finite, got nan"),
        ("survival", 0.0, "survival must be greater than 0, got 0.0"),
        ("survival", 1.0, "survival must be less than 1, got 1.0"),
        ("survival", -0.5, "survival must be greater than 0, got -0.5"),
        ("noise_variance", 0.0, "noise_variance must be greater than 0, got 0.0"),
        ("noise_variance", np.inf, "noise_variance must be finite, got inf"),
        ("motion_variance", -1.0, "motion_variance must be greater than 0, got -1.0"),
        ("prior_variance", np.nan, "prior_variance must be finite, got nan"),
        ("prior_mean", np.nan, "prior_mean must be finite"),
        ("prior_mean", [[0.0]], "prior_mean must have at most one dimension"),
    ],
)
def test_bad_parameter_is_refused_by_name(name, value, message):
    with pytest.raises(ValueError, match=message):
        MixtureParameters(**{name: value})


@pytest.mark.parametrize("name", ["concentration", "survival", "noise_variance", "prior_mean"])
def test_parameter_that_is_no_number_is_refused(name):
    with pytest.raises(TypeError, match=name):
        MixtureParameters(**{name: "large"})


def test_prior_mean_is_one_number_or_one_for_each_feature():
    assert MixtureParameters(prior_mean=2.0).prior_mean_of(3).tolist() == [2.0, 2.0, 2.0]
    assert MixtureParameters(prior_mean=[1.0, 2.0]).prior_mean_of(2).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="prior_mean must be one number or have 3 values, got 2"):
        MixtureParameters(prior_mean=[1.0, 2.0]).prior_mean_of(3)


def test_state_does_not_change_with_the_arrays_it_was_made_from():
    centers = np.array(FIELDS["centers"])
    state = MixtureState(**{**FIELDS, "centers": centers})
    centers[:] = 99.0
    assert state.centers.tolist() == FIELDS["centers"]
    with pytest.raises(ValueError, match="read-only"):
        state.counts[0] = 1.0


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("ids", [7, 3], "ids must be increasing"),
        ("ids", [3], "must have one row for each of 1 ids"),
        ("centers", [[0.0, np.nan], [2.0, 3.0]], "centers must be finite"),
        ("centers", [0.0, 1.0], "centers two"),
        ("variances", [0.0, 1.0], "variances must be greater than 0"),
        ("counts", [np.nan, 1.0], "counts must be greater than 0 and finite"),
        ("ages", [np.inf, 1.0], "ages must be greater than 0 and finite"),
        ("next_id", 7, "next_id must be above every id"),
    ],
)
def test_bad_rows_are_refused_by_name(field, value, message):
    with pytest.raises(ValueError, match=message):
        MixtureState(**{**FIELDS, field: value})


def test_as_a_cluster_state_confidence_is_noise_over_variance():
    # w = 0.4 / 0.1 and 0.4 / 0.2
    state = MixtureState(**FIELDS).as_cluster_state(noise_variance=0.4)
    np.testing.assert_allclose(state.weights, [4.0, 2.0])
    assert state.counts.tolist() == [2.0, 3.0]
    assert (state.ids.tolist(), state.ages.tolist()) == ([3, 7], [1.0, 2.0])
    assert (state.next_id, state.n_steps) == (9, 4)


def test_saved_state_loads_to_the_same_bits(tmp_path):
    state = MixtureState(**{**FIELDS, "variances": [0.1 + 0.2, 1 / 3]})
    state.save(tmp_path / "state")
    assert MixtureState.load(tmp_path / "state") == state
    assert MixtureState(**{**FIELDS, "time": 5.0}) != MixtureState(**FIELDS)
