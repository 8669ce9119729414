"""Flows, their map and their counts."""

import numpy as np
import pytest
from flights import made_trajectories
from matplotlib.figure import Figure

from paper.flights.trajectories import Trajectories
from paper.flows.flow_counts import _shades, plot_flow_counts
from paper.flows.flow_map import _one_sigma, beside, plot_flow_map
from paper.flows.flows import Flow, even_places, find_flows
from paper.flows.outlines import usa_outline


def sfo_to_lax(n=4, n_points=30):
    """Flights from San Francisco to Los Angeles, each a little farther East than the last."""
    share = np.tile(np.linspace(0, 1, n_points), n)
    east = np.repeat(0.1 * np.arange(n), n_points)
    return Trajectories(
        [f"N{i}" for i in range(n)],
        n_points * np.arange(n + 1),
        np.tile(60.0 * np.arange(n_points), n),
        37.62 + share * (33.94 - 37.62),
        -122.38 + share * (-118.41 + 122.38) + east,
        np.zeros(n * n_points),
        np.zeros(n * n_points),
    )


@pytest.fixture
def flow():
    flights = sfo_to_lax()
    labels = [np.array([7, 7]), np.array([7, 7])]
    (found,) = find_flows(flights, labels, [np.array([0, 1]), np.array([2, 3])])
    return found


def test_flow_is_named_by_the_airports_at_its_ends(flow):
    assert (flow.name, flow.region, flow.n_flights) == ("SFO → LAX", "Pacific", 4)


def test_mean_way_is_the_mean_of_its_flights(flow):
    # The flights lie 0, 0.1, 0.2 and 0.3 degrees East of the first.
    np.testing.assert_allclose(flow.way[0], [37.62, -122.38 + 0.15])
    np.testing.assert_allclose(flow.deviations[0], [0.0, np.std([0, 0.1, 0.2, 0.3])], atol=1e-9)
    assert flow.takeoff_covariance[1, 1] == pytest.approx(np.var([0, 0.1, 0.2, 0.3], ddof=1))


def test_counts_are_of_each_window(flow):
    assert flow.counts.tolist() == [2, 2]


def test_largest_clusters_come_first_and_no_more_than_asked_for():
    flights = made_trajectories(6)
    labels = [np.array([3, 1, 1, 1]), np.array([3, 2])]
    windows = [np.arange(4), np.array([4, 5])]
    found = find_flows(flights, labels, windows, n_flows=2)
    assert [flow.cluster_id for flow in found] == [1, 3]
    assert [flow.counts.tolist() for flow in found] == [[3, 0], [1, 1]]


def test_places_are_even_in_distance_not_in_time():
    flights = sfo_to_lax(1)
    uneven = flights.select([0])
    share = np.linspace(0, 1, 30) ** 3
    uneven.latitudes[:] = 37.62 + share * (33.94 - 37.62)
    uneven.longitudes[:] = -122.38 + share * (-118.41 + 122.38)
    np.testing.assert_allclose(even_places(uneven, 5), even_places(flights, 5), atol=0.02)


def test_flow_comes_back_from_json(flow):
    again = Flow.from_dict(flow.to_dict())
    assert (again.name, again.n_flights) == (flow.name, flow.n_flights)
    np.testing.assert_allclose(again.way, flow.way, atol=5e-4)
    np.testing.assert_array_equal(again.counts, flow.counts)


def test_way_is_moved_to_the_right_of_its_direction():
    northward = np.column_stack([np.linspace(30, 40, 5), np.full(5, -100.0)])
    moved = beside(northward, 1.0)
    assert (moved[:, 1] > -100.0).all()
    np.testing.assert_allclose(moved[:, 0], northward[:, 0], atol=1e-12)


def test_ellipse_is_one_standard_deviation_along_each_axis():
    # Latitude varies by 0.5 and longitude by 2: half axes of 0.5 upwards and 2 sideways.
    ellipse = _one_sigma(np.array([40.0, -100.0]), np.diag([0.25, 4.0]), "red")
    assert sorted([ellipse.width, ellipse.height]) == pytest.approx([1.0, 4.0])
    box = ellipse.get_extents().transformed(ellipse.get_transform().inverted())
    assert box is not None
    path = ellipse.get_patch_transform().transform(ellipse.get_path().vertices)
    assert np.ptp(path[:, 0]) == pytest.approx(4.0, rel=0.01)
    assert np.ptp(path[:, 1]) == pytest.approx(1.0, rel=0.01)


def test_map_names_the_flow_in_its_legend_and_the_airports_on_it(flow):
    ax = plot_flow_map([flow], ax=Figure().subplots())
    (entry,) = ax.get_legend().get_texts()
    assert entry.get_text() == "1  SFO → LAX  (4)"
    names = {text.get_text() for text in ax.texts}
    assert {"SFO", "LAX", "1"} <= names


def test_window_without_takeoffs_is_white_and_the_fullest_has_the_full_color(flow):
    counts = np.array([0, 1, 4])
    changed = Flow.from_dict({**flow.to_dict(), "counts": counts.tolist()})
    shades = _shades([changed])
    np.testing.assert_allclose(shades[0, 0], 1.0)
    np.testing.assert_allclose(shades[0, 2], [0, 0x72 / 255, 0xB2 / 255])


def test_counts_have_a_row_for_each_flow_and_name_the_days(flow):
    ax = plot_flow_counts([flow], 1_575_158_400.0, 86400.0, ax=Figure().subplots())
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["SFO → LAX  1"]
    assert ax.get_xticklabels()[0].get_text() == "Sun 1 Dec"


def test_nothing_to_draw_is_drawn_empty():
    assert plot_flow_map([], ax=Figure().subplots()).get_title()
    assert plot_flow_counts([], 0.0, 1800.0, ax=Figure().subplots()).get_title()


def test_outline_lies_in_the_area_of_the_contiguous_states():
    points = np.concatenate([line for lines in usa_outline().values() for line in lines])
    assert points[:, 0].min() == pytest.approx(-124.7, abs=0.2)
    assert points[:, 0].max() == pytest.approx(-66.95, abs=0.2)
    assert points[:, 1].min() == pytest.approx(24.6, abs=0.6)
    assert points[:, 1].max() == pytest.approx(49.38, abs=0.1)
