"""Looking closer, in a real browser: zoom, selection, links, search, files, two reports."""

import csv
import html
import io
import re
import time

import numpy as np
import pytest
from report_pages import PHONE, make_stream
from selenium.webdriver.common.action_chains import ActionChains, ScrollOrigin
from selenium.webdriver.common.keys import Keys

from dynmeans import DynamicMeans, find_families
from dynmeans.report import report_data, write_report
from dynmeans.report.encode import pack_report


def domain(page):
    """Return the limits of what is in sight: x low and high, y low and high."""
    return page.run("const {domain} = dynmeansReport.player; return [...domain.x, ...domain.y];")


def spans(page):
    x_low, x_high, y_low, y_high = domain(page)
    return np.array([x_high - x_low, y_high - y_low])


def wait_for_file(folder, ending):
    """Wait until a download is complete."""
    for _ in range(200):
        found = [path for path in folder.iterdir() if path.name.endswith(ending)]
        if found and found[0].stat().st_size:
            return found[0]
        time.sleep(0.05)
    raise AssertionError(f"no file {ending} among {list(folder.iterdir())}")


def touch(page, kind, *fingers):
    left, top = page.run("const {left, top} = scene.getBoundingClientRect(); return [left, top]")
    points = [{"x": left + x, "y": top + y, "id": k} for k, (x, y) in enumerate(fingers)]
    page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_the_wheel_zooms_about_the_pointer_and_a_double_click_shows_all(page):
    page.run("scrollTo(0, 0)")
    whole = domain(page)
    at = page.run("return dynmeansReport.player.fromPixel(scene.clientWidth / 2, "
                  "scene.clientHeight / 2)")  # fmt: skip
    canvas = page.find("#scene")
    origin = ScrollOrigin.from_element(canvas)
    page.wait("performance.now() - dynmeansReport.player.pointer.lastScroll > 300")
    ActionChains(page.driver).scroll_from_origin(origin, 0, -300).perform()
    page.wait("dynmeansReport.view.camera !== null")
    page.settle()
    x_low, x_high, *_ = domain(page)
    assert x_high - x_low < 0.75 * (whole[1] - whole[0])
    share = (at[0] - x_low) / (x_high - x_low)
    assert share == pytest.approx((at[0] - whole[0]) / (whole[1] - whole[0]), abs=0.01)
    assert page.run("return scrollY") == 0
    ActionChains(page.driver).double_click(canvas).perform()
    page.settle()
    assert domain(page) == pytest.approx(whole)


def test_dragging_moves_a_zoomed_picture_and_chooses_nothing(page):
    page.run("dynmeansReport.player.zoom(0.3)")
    page.settle()
    before = domain(page)
    canvas = page.find("#scene")
    ActionChains(page.driver).drag_and_drop_by_offset(canvas, 60, 30).perform()
    page.settle()
    box = page.run("return dynmeansReport.player.box")
    moved = 60 / (box["right"] - box["left"]) * (before[1] - before[0])
    assert domain(page)[0] == pytest.approx(before[0] - moved, rel=0.02)
    assert page.run("return dynmeansReport.view.selected") is None


def test_two_fingers_zoom_on_a_phone(page):
    page.show_as(PHONE)
    page.run("document.getElementById('scene').scrollIntoView({block: 'center'})")
    page.settle()
    before = spans(page)
    touch(page, "touchStart", (150, 150), (200, 150))
    for way in range(10, 60, 10):  # A browser may keep the first few pixels to itself.
        touch(page, "touchMove", (150 - way, 150), (200 + way, 150))
    touch(page, "touchEnd")
    page.settle()
    across, up = before / spans(page)
    assert 1.5 < across <= 3.01  # from 50 to 150 pixels apart
    assert up == pytest.approx(across)


def test_keys_zoom_in_and_out(page):
    before = spans(page)
    page.run("document.activeElement.blur()")
    ActionChains(page.driver).send_keys("+", "+").perform()
    page.settle()
    np.testing.assert_allclose(spans(page), before / 1.4**2, rtol=1e-3)
    ActionChains(page.driver).send_keys("0").perform()
    page.settle()
    np.testing.assert_allclose(spans(page), before)


def test_a_mark_is_no_larger_than_its_points_are_spread(page):
    page.go_to(11)
    spread_and_radius = (
        "const {player, view} = dynmeansReport; const {drawing} = player;"
        "view.set({camera: {x: [-arguments[0], arguments[0]], y: [-arguments[0], arguments[0]]}});"
        "player.draw(); const mark = player.marks.at(-1);"
        "return [drawing.spreads[mark.slot], drawing.radius(mark)];"
    )
    for half, expected in ((60, 2.6), (6, None), (0.5, 7.2)):
        spread, radius = page.run(spread_and_radius, half)
        assert radius == pytest.approx(expected or 0.6 * spread)


def test_a_box_selects_the_rows_within_it(page, stream):
    page.go_to(11)
    page.click("#brush")
    box = page.run(
        "const {player} = dynmeansReport; return [...player.pixel([3.2, 0.8]),"
        " ...player.pixel([4.8, -0.8]), scene.clientWidth / 2, scene.clientHeight / 2]"
    )
    x1, y1, x2, y2, middle, half = box
    canvas = page.find("#scene")
    drag = ActionChains(page.driver).move_to_element_with_offset(canvas, x1 - middle, y1 - half)
    drag.click_and_hold().move_by_offset(x2 - x1, y2 - y1).release().perform()
    page.settle()
    n = int(np.sum((stream.batches[11] > [3.2, -0.8]).all(axis=1)
                   & (stream.batches[11] < [4.8, 0.8]).all(axis=1)))  # fmt: skip
    assert n == 20
    assert page.text("#details .hint") == "20 rows in this batch, of 1 cluster."
    assert page.find("#brush").get_attribute("aria-pressed") == "false"
    page.go_to(5)  # It is away there.
    assert page.text("#details .hint").startswith("0 rows")


def test_an_address_opens_the_page_where_it_was_left(page, report_path):
    page.driver.get("about:blank")
    page.driver.get(f"{report_path.as_uri()}#t=7&c=1&box=3,5,-1,1")
    page.settle()
    assert page.text("#now") == "8"
    assert page.text("#details-name") == "Cluster 1"
    assert domain(page) == pytest.approx([3, 5, -1, 1])
    page.run("dynmeansReport.view.set({camera: null, selected: 0}); dynmeansReport.view.goTo(2)")
    page.wait("location.hash === '#t=2&c=0'")


@pytest.mark.parametrize("hash", ["t=99&c=77&level=x", "c=&t=&box=1,2", "%E0%A4%A&x=none"])
def test_an_address_that_means_nothing_is_ignored(page, report_path, hash):
    page.driver.get("about:blank")
    page.driver.get(f"{report_path.as_uri()}#{hash}")
    page.settle()
    assert page.messages() == []
    assert page.text("#details h2") == "In this batch"


def test_clusters_are_found_by_what_describes_them(page, stream, tmp_path):
    data = report_data(stream.history, points=stream.batches)
    data = data.with_descriptions({2: ["speed is high: 12.5"], 3: ["speed is low"]})
    page.open(write_report(data, tmp_path / "described.html"))
    page.settle()
    page.find("#lives-find").send_keys("speed is")
    page.settle()
    assert page.texts("#lives .row-name") == ["3", "2"]
    assert page.text(".described") == "speed is low"
    page.find("#lives-find").send_keys(" low")
    page.settle()
    assert page.text("#details-name") == "Cluster 3"
    page.find("#lives-find").send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.BACKSPACE)
    page.settle()
    assert len(page.texts("#lives .row-name")) == 4


def test_the_picture_and_the_tables_are_downloaded(page, stream, tmp_path):
    page.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    page.go_to(11)
    svg = page.run("return dynmeansReport.downloads.svg()")
    assert svg.startswith("<svg")
    assert len(re.findall("<text", svg)) > 10
    assert page.run("return new DOMParser().parseFromString(arguments[0], 'image/svg+xml')"
                    ".querySelector('parsererror') === null", svg)  # fmt: skip
    for name, ending in (("png", ".png"), ("events", "-events.csv")):
        page.click("#downloads summary")
        page.click(f"#save-{name}")
        path = wait_for_file(tmp_path, ending)
        assert path.name.endswith(f"-11{ending}")
    assert path.read_text().startswith("step,time,kind,cluster_id,other_id,gap\n0,1,born,0,,")
    text = page.run(
        "const {downloads} = dynmeansReport; return [downloads.clusters(), downloads.events()]"
    )
    clusters, events = text
    totals = {row[0]: row[-1] for row in clusters[1:]}
    assert sum(totals.values()) == sum(map(len, stream.batches))
    kinds = [event.kind for record in stream.history for event in record.events]
    assert len(events) - 1 == len([kind for kind in kinds if kind != "moved"])


def test_a_table_holds_no_formula(page):
    text = page.run("return dynmeansReport.csv("
                    "[['=1+1', 'a,b', '-2', -2, 'say \"x\"']])")  # fmt: skip
    assert next(csv.reader(io.StringIO(text))) == ["'=1+1", "a,b", "-2", "-2", 'say "x"']


def test_a_map_is_true_to_scale(page, tmp_path):
    batches = [np.array([[10.0, 60.0], [12.0, 61.0]])] * 2
    _, history = DynamicMeans(0.1, random_state=0).fit_sequence(batches)
    data = report_data(history, points=batches, feature_names=["lon", "lat"])
    page.open(write_report(data, tmp_path / "map.html"))
    page.settle()
    box = page.run("return dynmeansReport.player.box")
    across, up = spans(page) / [box["right"] - box["left"], box["bottom"] - box["top"]]
    assert across * np.cos(np.radians(60.5)) == pytest.approx(up, rel=1e-3)
    page.run("dynmeansReport.player.zoom(0.5)")
    page.settle()
    across, up = spans(page) / [box["right"] - box["left"], box["bottom"] - box["top"]]
    assert across * np.cos(np.radians(60.5)) == pytest.approx(up, rel=0.05)


def test_a_stray_point_does_not_press_the_rest_into_a_corner(page, tmp_path):
    rng = np.random.default_rng(0)
    batches = [rng.uniform(0, 1, (30, 2)) for _ in range(20)]
    batches[7] = np.vstack([batches[7], [[900.0, 900.0]]])
    _, history = DynamicMeans(0.001, random_state=0).fit_sequence(batches)
    page.open(write_report(report_data(history, points=batches), tmp_path / "stray.html"))
    page.settle()
    assert spans(page).max() < 3
    page.run("dynmeansReport.player.zoom(2000)")
    page.settle()
    assert spans(page).min() > 800


def test_two_reports_side_by_side_move_together(page, stream, tmp_path):
    data = report_data(stream.history, points=stream.batches, title="One")
    other = report_data(make_stream(9).history, title="Two")
    page.open(write_report(data, tmp_path / "two.html", compare_with=other))
    page.wait("window.dynmeansReports !== undefined")
    page.run("dynmeansReports[1].view.goTo(4); dynmeansReports[0].player.zoom(0.5)")
    assert page.run("return dynmeansReports.map(({view}) => view.index)") == [4, 4]
    assert page.run("return dynmeansReports.map(({store}) => store.header.title)") == ["One", "Two"]
    cameras = page.run("return dynmeansReports.map(({view}) => view.camera.x)")
    assert cameras[0] == cameras[1]
    assert page.messages() == []
    assert page.requests()[:1] == [(tmp_path / "two.html").as_uri()]


def test_an_open_page_takes_names_and_families_that_come_later(page, stream):
    families = find_families(stream.batches, stream.history).cut(100.0)
    packed = pack_report(report_data(stream.history).with_families(families))
    page.run(
        "dynmeansReport.update({cluster_names: {1: 'ferry'}, families: arguments[0]})",
        packed["families"],
    )
    page.settle()
    assert "ferry" in page.texts("#lives .row-name")
    assert page.text("#level-now").endswith("1 family")
    assert page.messages() == []


def test_the_page_works_in_a_frame_that_is_kept_apart(page, report_path, tmp_path):
    outer = tmp_path / "notebook.html"
    inner = html.escape(report_path.read_text(), quote=True)
    outer.write_text(f'<iframe sandbox="allow-scripts" width="900" height="700" srcdoc="{inner}">')
    page.open(outer)
    page.driver.switch_to.frame(0)
    try:
        page.settle()
        page.run("dynmeansReport.view.select(1); dynmeansReport.player.zoom(0.5)")
        page.settle()
        assert page.text("#details-name") == "Cluster 1"
    finally:
        page.driver.switch_to.default_content()
    assert page.messages() == []
