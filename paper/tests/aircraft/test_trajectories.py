"""Areas, trajectories and the report."""

import numpy as np
import pytest
from flights import made_trajectories

from paper.flights.trajectories import Area, FilterReport, Trajectories
from paper.flights.trajectory_filter import TrajectoryBounds


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ((50, 24, -126, -66), "the area is empty: south must be below north, got 50.0 and 24.0"),
        ((24, 50, 170, -170), "the area is empty: west must be below east"),
        ((24, 95, -126, -66), "north must be at most 90 degrees, got 95.0"),
        ((24, float("nan"), -126, -66), "north must be finite"),
    ],
)
def test_impossible_area_is_refused(limits, message):
    with pytest.raises(ValueError, match=message):
        Area(*limits)


def test_selected_trajectories_keep_their_points():
    flights = made_trajectories(4)
    chosen = flights.select([2, 0])
    assert chosen.ids == ["N2", "N0"]
    second = slice(flights.starts[2], flights.starts[3])
    np.testing.assert_array_equal(chosen.north[: chosen.starts[1]], flights.north[second])


def test_parts_joined_are_in_order_of_takeoff_then_id():
    flights = made_trajectories(3)
    joined = Trajectories.join([flights.select([2]), flights.select([0, 1])])
    assert joined.ids == ["N0", "N1", "N2"]
    np.testing.assert_array_equal(joined.east, flights.east)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"max_gap": -1}, "max_gap must be at least 0"),
        ({"min_points": 1}, "min_points must be at least 2"),
        ({"max_duration": 10.0}, "max_duration must be greater than min_duration"),
    ],
)
def test_bounds_that_nothing_can_keep_are_refused(bounds, message):
    with pytest.raises(ValueError, match=message):
        TrajectoryBounds(**bounds)


def test_report_names_the_largest_loss_first():
    report = FilterReport(5, 3, 1, dropped_trajectories={"a": 1, "b": 2, "c": 0})
    assert report.lines()[-2:] == [
        "  2 trajectories dropped: b",
        "  1 trajectories dropped: a",
    ]
