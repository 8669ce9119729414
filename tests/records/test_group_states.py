"""The states of many keys: one checked file."""

import numpy as np
import pandas as pd
import pytest

from dynmeans import fit_groups
from dynmeans.files.archive import write_archive
from dynmeans.groups import GroupStates

ARRAYS = ("starts", "ids", "centers", "weights", "ages", "counts")
ARRAYS += ("next_ids", "n_steps", "times", "last_batches")


@pytest.fixture(scope="module")
def states():
    frame = pd.DataFrame({"k": [3, 1, 3, 1], "x": [0.0, 5.0, 9.0, 5.2]})
    return fit_groups(frame, by="k", new_penalty=1.0, random_state=0).states


def test_saved_states_load_to_the_same_bits(states, tmp_path):
    states.save(tmp_path / "states")
    assert GroupStates.load(tmp_path / "states") == states


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("starts", [0, 1, 2], "starts must hold"),
        ("starts", [0, 4, 3], "row for each cluster"),
        ("ids", [0, 1, 0], "ids of each key must be increasing"),
        ("ids", [0.0, 0.0, 1.0], "ids must be of int64"),
        ("next_ids", [1, 1], "next_ids must be above every id"),
        ("next_ids", [1, 2**63 - 1], "next_ids must be from 0 to 2\\*\\*62"),
        ("n_steps", [1, -1], "n_steps must be from 0"),
        ("times", [np.nan, 1.0], "times must be at least 0"),
        ("weights", [0.0, 1.0, 1.0], "weights must be greater than 0"),
        ("centers", [[np.nan], [1.0], [1.0]], "centers must be finite"),
        ("last_batches", [0], "last_batches must have 2 values"),
        ("wings", [1.0], "wings"),
    ],
)
def test_states_that_no_call_could_have_made_are_refused(states, tmp_path, name, value, reason):
    arrays = {n: getattr(states, n) for n in ARRAYS}
    header = {"settings": states.settings, "keys": [1, 3]}
    write_archive(tmp_path / "s", "GroupStates", 1, arrays | {name: np.array(value)}, header)
    with pytest.raises(ValueError, match=f"is not a dynmeans GroupStates file.*{reason}"):
        GroupStates.load(tmp_path / "s")


@pytest.mark.parametrize("keys", [[3, 1], [1, "3"], [[1], [1]]])
def test_keys_out_of_order_are_refused(states, tmp_path, keys):
    arrays = {n: getattr(states, n) for n in ARRAYS}
    header = {"settings": states.settings, "keys": keys}
    write_archive(tmp_path / "s", "GroupStates", 1, arrays, header)
    with pytest.raises(ValueError, match="is not a dynmeans GroupStates file"):
        GroupStates.load(tmp_path / "s")


def test_wide_unsigned_keys_are_saved(tmp_path):
    frame = pd.DataFrame({"k": np.array([2**63 + 5, 7], dtype=np.uint64), "x": [0.0, 1.0]})
    states = fit_groups(frame, by="k", new_penalty=1.0, random_state=0).states
    states.save(tmp_path / "states")
    assert GroupStates.load(tmp_path / "states").key_list == [7, 2**63 + 5]
