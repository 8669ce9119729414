"""Maps and clock faces in a real browser: coasts, the date line, midnight, kilometers."""

import numpy as np
import pytest
from report_pages import DESKTOP, PHONE, Page

from dynmeans import Run
from dynmeans.report.from_run import run_report
from dynmeans.report.render_page import write_report
from dynmeans.runs import ModelConfig, RunConfig, Window

AROUND = np.array([[0.3, 0.3], [-0.3, 0.3], [0.3, -0.3], [-0.3, -0.3]])


@pytest.fixture(scope="module")
def storms(tmp_path_factory):
    """One storm over the date line and one near the pole, which rise by day and by night."""
    folder = tmp_path_factory.mktemp("storms")
    space = "geo(lat,lon) + 5*cyclic:24(hour)"
    model_config = ModelConfig(
        new_penalty=600.0**2, space=space, motion="constant_velocity", random_state=0
    )
    with Run.create(folder / "run", RunConfig(("lat", "lon", "hour"), model_config)) as run:
        for day in range(6):
            places = np.array([[10.0, 177.0 + 2 * day, 23.0 + 0.5 * day], [80.0, 20.0, 12.0]])
            rows = np.concatenate([place + np.c_[AROUND, [0, 0.1, 0.2, 0.3]] for place in places])
            rows[:, 1] = (rows[:, 1] + 180.0) % 360.0 - 180.0
            rows[:, 2] %= 24.0
            run.process(Window(rows))
        yield run, write_report(run_report(run), folder / "report.html")


@pytest.fixture
def page(driver, storms):
    shown = Page(driver)
    shown.show_as()
    shown.open(storms[1])
    shown.settle()
    return shown


def ticks(page, axis, low, high, n=6):
    script = "const [axis, ...more] = arguments; return dynmeansReport.player.frame.ticks"
    script += "(axis, more.slice(0, 2), more[2])"
    return [name for _, name in page.run(script, axis, low, high, n)]


def darkness(page):
    """Share of the picture's pixels that are drawn on, without points and names."""
    page.run("dynmeansReport.player.frame.key = null; dynmeansReport.player.draw()")
    script = """
      const { canvas } = dynmeansReport.player.frame;
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let n = 0;
      for (let k = 3; k < data.length; k += 4) n += data[k] > 0;
      return n / (data.length / 4);
    """
    return page.run(script)


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_land_is_drawn_under_the_clusters_without_a_message(page, size):
    page.show_as(size)
    assert page.messages() == []
    with_land = darkness(page)
    page.run("dynmeansReport.store.header.earth = null")
    assert with_land > darkness(page) + 0.1


def test_a_map_opens_on_longitude_and_latitude_and_is_not_cut_at_the_date_line(page):
    assert page.run("return [dynmeansReport.view.x, dynmeansReport.view.y]") == [1, 0]
    assert page.run("return dynmeansReport.player.isMap")
    places = page.run("return dynmeansReport.store.batches.map((b) => [...b.centers[1]])")
    moving = [max(row) for row in places]
    assert np.all(np.diff(moving) > 1), "177, 179, 181 ..., and never back to -179"


def test_degrees_end_at_the_poles_and_begin_again_at_the_date_line(page):
    assert ticks(page, 0, -120, 120) == ["90° S", "45° S", "0°", "45° N", "90° N"]
    assert ticks(page, 1, 150, 210, 4) == ["150° E", "165° E", "180°", "165° W", "150° W"]


def test_hours_are_read_as_on_a_clock(page):
    assert ticks(page, 2, 18, 30, 4) == ["18:00", "21:00", "00:00", "03:00", "06:00"]
    hours = page.run("return dynmeansReport.store.batches.map((b) => Math.max(...b.centers[2]))")
    assert np.ptp(hours) < 4, "midnight is no seam"


def test_tracks_go_along_great_circles(page):
    script = """
      const { player } = dynmeansReport;
      const path = [];
      const lineTo = (x, y) => path.at(-1).push([x, y]);
      const trace = { moveTo: (x, y) => path.push([[x, y]]), lineTo };
      dynmeansReport.trace(player, trace, arguments[0], arguments[1]);
      return path.map((way) => way.map(([x, y]) => player.fromPixel(x, y)));
    """
    (way,) = page.run(script, [150.0, 50.0], [210.0, 50.0])
    assert max(lat for _, lat in way) > 53, "north of both ends"
    # Over the seam, which lies where no row is.
    seam = page.run("return dynmeansReport.store.header.axes[1].seam")
    ways = page.run(script, [seam + 359.0, 10.0], [seam + 1.0, 10.0])
    assert len(ways) == 2
    assert all(abs(way[0][0] - way[-1][0]) < 3 for way in ways)


def test_the_center_of_a_cluster_is_told_in_the_columns_of_the_data(page):
    page.go_to(5)
    page.run("dynmeansReport.view.select(dynmeansReport.store.batches[5].ids[0])")
    page.settle()
    facts = dict(zip(page.texts(".facts dt"), page.texts(".facts dd"), strict=True))
    assert any(word in facts["Center"] for word in ("lat 10° N, lon 173° W, hour 01:39", "lat 80"))


def test_rows_are_downloaded_as_the_data_write_them(page):
    page.run("dynmeansReport.view.goTo(5)")
    script = """
      const { store } = dynmeansReport;
      const own = (axis) => store.header.axes[axis].start;
      return [own(1), own(2)];
    """
    assert page.run(script) == [-180.0, 0.0]


def test_the_penalty_is_told_in_kilometers_and_hours(storms):
    parameters = dict(run_report(storms[0]).parameters)
    assert parameters["new_cluster_distance"] == "600 km or 120 h"


def test_another_scale_is_tried_in_the_unit_of_the_space(page):
    before = page.run("return dynmeansReport.store.batches.map((b) => [...b.centers[1]])")
    page.click("#trial summary")
    assert page.text("#trial-unit") == "(600 km or 120 h)"
    page.run(
        "const field = document.querySelector('#trial-distance'); field.value = 700;"
        "field.dispatchEvent(new Event('input', { bubbles: true }));"
    )
    page.wait("document.querySelector('#trial-status').textContent.includes('found in')")
    assert page.text("#trial-unit") == "(700 km or 140 h)"
    assert page.text("#trial-status").startswith("2 clusters")
    after = page.run("return dynmeansReport.store.batches.map((b) => [...b.centers[1]])")
    np.testing.assert_allclose(np.array(after), np.array(before), atol=0.5)
    speeds = page.run("return dynmeansReport.store.batches[5].velocities.map((axis) => [...axis])")
    assert max(speeds[1]) == pytest.approx(2.0, abs=0.5), "degrees of longitude in a step"
    page.click("#trial-python")
    assert 'space="geo(lat,lon) + 5*cyclic:24(hour)"' in page.text("#trial-copied")
