"""Streams that are stopped and read again: nothing is taken in twice, or differently."""

import json

import pytest
from attack.targets.messages import _read

from dynmeans.runs.reading.window import WindowOptions


def rows(*values):
    return [json.dumps({"t": t, "x": x, "y": 0.0, "name": name}) for t, x, name in values]


@pytest.mark.parametrize("stops", [[1], [3], [4], [4, 5]])
def test_a_row_sent_twice_stays_so_when_its_first_window_is_closed_by_then(tmp_path, stops):
    bodies = rows((0, 0.0, "a"), (11, 0.0, "d"), (12, 5.0, "a"), (16, 0.0, "c"), (30, 0.0, "e"))
    options = WindowOptions(
        ("x", "y"), time="t", every="10", allowed_lateness="5", id="name", deduplicate=True
    )
    whole = _read(tmp_path / "whole", options, bodies, "raw", [])
    assert whole["labels"][1] == ["a", "d", "c", "e"]
    assert _read(tmp_path / "stopped", options, bodies, "raw", stops) == whole


def test_a_row_without_a_number_is_dropped_also_where_it_is_the_first_after_a_stop(tmp_path):
    bodies = rows((0, 0.0, "a"), (11, 0.0, "b"), (12, "-", "c"), (30, 0.0, "e"))
    options = WindowOptions(("x", "y"), rows_per_window=1, on_missing="drop")
    whole = _read(tmp_path / "whole", options, bodies, "raw", [])
    assert whole["counts"] == (3, 1, 0, 0)
    assert _read(tmp_path / "stopped", options, bodies, "raw", [1, 2]) == whole
