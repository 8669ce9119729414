"""The page in a real browser: what a reader does, and what is then on the screen."""

import re
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from matplotlib.colors import to_hex
from report_pages import DESKTOP, FEATURES, PHONE, TITLE, make_stream
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from dynmeans import DynamicMeans
from dynmeans.plots.identity_colors import DARK_PALETTE, PALETTE
from dynmeans.report import report_data, write_report
from dynmeans.report.encode import pack_chunk


def press(page, *keys):
    """Press keys with the focus nowhere in particular."""
    page.run("document.activeElement.blur()")
    ActionChains(page.driver).send_keys(*keys).perform()
    page.settle()


def facts(page):
    return dict(zip(page.texts(".facts dt"), page.texts(".facts dd"), strict=True))


def seen_in(history, cluster_id):
    return [record for record in history if cluster_id in record.ids]


def test_the_page_opens_without_a_message_and_without_a_request(page, report_path):
    assert page.messages() == []
    assert page.requests() == [report_path.as_uri()]


def test_the_page_cannot_make_a_request_even_if_told_to(page):
    answer = page.driver.execute_async_script(
        "const done = arguments[0];"
        "fetch('http://127.0.0.1:9/').then(() => done('sent'), (error) => done(String(error)));"
    )
    assert "Failed to fetch" in answer
    assert any("Content Security Policy" in message for message in page.messages())


def test_the_page_opens_on_the_last_batch_with_nearly_the_most_clusters(page, tmp_path):
    numbers = (1, 3, 2, 3, 1)
    batches = [np.arange(0.0, 9.0 * n, 9.0)[:, None] for n in numbers]
    _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    page.open(write_report(report_data(history, points=batches), tmp_path / "full.html"))
    page.settle()
    assert page.text("#scene-title") == "Time 4 · 3 clusters · 3 points"
    assert page.find("#slider").get_attribute("value") == "3"


def test_dragging_the_slider_shows_the_batch_under_it(page, stream):
    slider = page.find("#slider")
    page.go_to(11)
    before = page.run("return scene.toDataURL()")
    width = slider.size["width"]
    drag = ActionChains(page.driver).move_to_element_with_offset(slider, width // 2 - 10, 0)
    drag.click_and_hold().move_to_element_with_offset(
        slider, -width // 2 + 10, 0
    ).release().perform()
    page.settle()
    assert slider.get_attribute("value") == "0"
    first = stream.history[0]
    assert page.text("#scene-title") == f"Time 1 · 3 clusters · {len(first.labels)} points"
    assert page.run("return scene.toDataURL()") != before


def test_every_batch_says_its_numbers_as_the_history_does(page, stream):
    for index, record in enumerate(stream.history):
        page.go_to(index)
        clusters = f"{len(record.ids)} cluster{'' if len(record.ids) == 1 else 's'}"
        expected = f"Time {record.time:g} · {clusters} · {len(record.labels)} points"
        assert page.text("#scene-title") == expected
        remembered = f"{len(record.ids)} seen, {record.n_remembered} remembered"
        assert page.text("#chart-clusters-now") == remembered


def test_the_page_reads_back_the_centers_and_the_points_of_the_history(page, stream):
    for index, record in enumerate(stream.history):
        ids, centers, points, labels = page.run(
            "const batch = dynmeansReport.store.batches[arguments[0]];"
            "return [[...batch.ids], batch.centers.map((axis) => [...axis]),"
            " batch.points.map((axis) => [...axis]),"
            " [...batch.slots].map((slot) => batch.ids[slot])];",
            index,
        )
        assert ids == record.ids.tolist()
        assert labels == record.labels.tolist()
        # Places are kept in 65,536 steps of a range of about 6.
        np.testing.assert_allclose(np.transpose(centers), record.centers, atol=1e-4)
        np.testing.assert_allclose(np.transpose(points), stream.batches[index], atol=1e-4)


def test_marks_stand_where_their_centers_are(page, stream):
    page.go_to(11)
    (x_low, x_high), (y_low, y_high) = page.run("return dynmeansReport.player.scene.limits()")
    box = page.run("return dynmeansReport.player.box")
    marks = {mark["id"]: mark for mark in page.run("return dynmeansReport.player.marks")}
    record = stream.history[11]
    for k, (x, y) in zip(record.ids.tolist(), record.centers, strict=True):
        across = (x - x_low) / (x_high - x_low) * (box["right"] - box["left"])
        up = (y - y_low) / (y_high - y_low) * (box["bottom"] - box["top"])
        assert marks[k]["x"] == pytest.approx(box["left"] + across, abs=0.1)
        assert marks[k]["y"] == pytest.approx(box["bottom"] - up, abs=0.1)


def test_clicking_a_life_shows_that_cluster(page, stream):
    page.click("#lives-1")
    seen = seen_in(stream.history, 1)
    assert page.text("#details-name") == "Cluster 1"
    shown = facts(page)
    assert shown["First seen"] == f"{seen[0].time:g}"
    assert shown["Last seen"] == f"{seen[-1].time:g}"
    assert shown["Active in"] == f"{len(seen)} of {len(stream.history)} batches"
    total = sum(int(record.counts[record.ids.tolist().index(1)]) for record in seen)
    assert shown["Points in all"] == str(total)
    assert shown["Returns"] == "1"
    rows = [" ".join(row.split()) for row in page.texts(".event-rows li")]
    assert [re.sub(r"[●⋯○|<>] ?", "", row) for row in rows] == [
        "1 born", "5 vanished", "8 returned after 4 steps"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("index", "status", "here"),
    [
        (0, "active", "20 points, 36 %"),  # of 55
        (5, "inactive", "last seen 2 batches ago"),
        (11, "active", "20 points, 33 %"),  # of 60
    ],
)
def test_the_chosen_cluster_is_followed_through_time(page, index, status, here):
    page.click("#lives-1")
    page.go_to(index)
    assert page.text(".status") == status
    assert facts(page)["In this batch"] == here


def test_clicking_a_center_on_the_picture_shows_that_cluster(page):
    page.go_to(11)
    mark = page.run(
        "return dynmeansReport.player.marks.find((mark) => mark.id === 2 || mark.id === 3)"
    )
    canvas = page.find("#scene")
    x, y = mark["x"] - canvas.size["width"] / 2, mark["y"] - canvas.size["height"] / 2
    ActionChains(page.driver).move_to_element_with_offset(canvas, x, y).click().perform()
    page.settle()
    assert page.text("#details-name") == f"Cluster {mark['id']}"


@pytest.mark.parametrize(("scheme", "palette"), [("light", PALETTE), ("dark", DARK_PALETTE)])
def test_a_center_has_the_color_of_its_identity(page, scheme, palette):
    page.show_as(scheme=scheme)
    page.go_to(11)
    colors = page.run(
        "const context = scene.getContext('2d');"
        "return dynmeansReport.player.marks.filter((mark) => mark.isSeen).map(({id, x, y}) =>"
        " [id, [...context.getImageData(Math.round(x), Math.round(y), 1, 1).data.slice(0, 3)]]);"
    )
    assert len(colors) == 3
    for cluster_id, color in colors:
        assert to_hex(np.array(color) / 255) == palette[cluster_id].lower()


def test_a_dark_page_is_dark(page):
    def brightness():
        color = page.run("return getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", color)[:3]))

    light = brightness()
    page.show_as(scheme="dark")
    assert brightness() < 150 < 600 < light


def test_playing_goes_from_the_first_batch_to_the_last_and_stops(page, stream):
    page.go_to(11)
    Select(page.find("#speed")).select_by_value("30")
    # In one go: on a slow machine it may have ended before another question is asked.
    first, label = page.run(
        "document.getElementById('play').click();"
        "return [dynmeansReport.view.index, play.getAttribute('aria-label')];"
    )
    assert (first, label) == (0, "Pause")
    page.wait("!dynmeansReport.view.isPlaying")
    assert page.find("#play").get_attribute("aria-label") == "Play"
    assert page.text("#now-batch") == f"{len(stream.history)} / {len(stream.history)}"


def test_pausing_stays_at_the_batch(page):
    Select(page.find("#speed")).select_by_value("1")
    page.find("#play").click()
    # In one go: on a slow machine it may have ended before it is told to pause.
    page.wait(
        "dynmeansReport.view.index > 0 && dynmeansReport.view.index < 11"
        " && (document.getElementById('play').click(), true)"
    )
    assert not page.run("return dynmeansReport.view.isPlaying")
    index = page.run("return dynmeansReport.view.index")
    page.settle()
    assert page.run("return dynmeansReport.view.index") == index < 11


def test_arrow_keys_step_and_shift_takes_ten(page):
    page.go_to(11)
    press(page, Keys.ARROW_LEFT)
    assert page.text("#now") == "11"
    ActionChains(page.driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_LEFT).key_up(
        Keys.SHIFT
    ).perform()
    page.settle()
    assert page.text("#now") == "1"
    press(page, Keys.ARROW_RIGHT)
    assert page.text("#now") == "2"


def test_space_plays_and_pauses(page):
    Select(page.find("#speed")).select_by_value("1")
    press(page, " ")
    assert page.run("return dynmeansReport.view.isPlaying")
    press(page, " ")
    assert not page.run("return dynmeansReport.view.isPlaying")


def test_arrow_keys_in_the_list_of_lives_choose_a_cluster_and_escape_lets_go(page):
    lifetimes = page.find("#lives")
    lifetimes.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    page.settle()
    assert page.text("#details-name") == "Cluster 1"
    assert lifetimes.get_attribute("aria-activedescendant") == "lives-1"
    assert page.find("#lives-1").get_attribute("aria-selected") == "true"
    lifetimes.send_keys(Keys.ESCAPE)
    page.settle()
    assert page.text("#details h2") == "In this batch"


def test_the_tab_key_reaches_every_control_and_the_focus_is_seen(page):
    page.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    reached = set()
    for _ in range(60):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        name, outline = page.run(
            "const at = document.activeElement;return [at.id, getComputedStyle(at).outlineStyle];"
        )
        assert outline != "none", name
        reached.add(name)
        if name == "speed":
            break
    controls = {"axis-x", "axis-y", "tail", "fit", "lives-order", "lives-here", "lives-find"}
    assert controls | {"lives", "events", "back", "play", "forward", "slider", "speed"} <= reached


def test_every_control_has_a_name_for_screen_readers(page):
    tree = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"button", "slider", "combobox", "checkbox", "searchbox", "listbox", "option", "image"}
    found = [node for node in tree if node.get("role", {}).get("value") in roles]
    assert len(found) > 30
    assert [node for node in found if not node.get("name", {}).get("value")] == []


def test_choosing_an_event_goes_to_its_batch_and_cluster(page):
    page.click("#events .event:has(.returned)")
    assert page.text("#now") == "8"
    assert page.text("#details-name") == "Cluster 1"


def test_a_kind_of_event_can_be_hidden(page):
    assert page.text("#event-kinds .born").split()[-1] == "4"
    page.click("#event-kinds .born")
    kinds = page.texts("#events .kind")
    assert kinds
    assert "born" not in kinds
    assert page.find("#event-kinds .born").get_attribute("aria-pressed") == "false"


def test_the_axes_can_be_chosen(page):
    before = page.run("return scene.toDataURL()")
    Select(page.find("#axis-x")).select_by_visible_text("time")
    page.settle()
    assert "Drawn in time and north" in page.find("#scene").get_attribute("aria-label")
    assert page.run("return scene.toDataURL()") != before


def test_names_from_outside_are_shown_as_text(page):
    assert page.text("#title") == TITLE
    assert page.driver.title == TITLE
    options = [option.text for option in Select(page.find("#axis-x")).options]
    assert options == [*FEATURES, "time"]
    assert page.text("#parameters") == "new_penalty 1 <u>name</u> <u>value</u>"
    assert not page.run("return window.broken")
    assert page.find_all("#title b, #axis-x i, #parameters u") == []


def test_scores_are_shown_with_their_meaning(page):
    rows = page.text("#scores")
    assert "accuracy global points that keep one ID over all batches 0.938" in rows
    assert "ID switches times a true cluster got another ID 3" in rows


def test_on_a_phone_nothing_is_wider_than_the_screen(page):
    page.show_as(PHONE)
    assert page.run("return document.documentElement.scrollWidth") == PHONE[0]
    wide = page.run(
        "return [...document.querySelectorAll('body *')]"
        ".filter((at) => !at.closest('svg, .skip, .unseen-text'))"
        ".filter((at) => at.getBoundingClientRect().right > innerWidth + 1)"
        ".map((at) => at.outerHTML.slice(0, 80));"
    )
    assert wide == []


def test_no_drawing_leaves_its_card_while_that_becomes_narrower(page):
    # In one go: before the page has had the time to draw again.
    width, edges = page.run(
        "const card = document.querySelector('.lives-part'); card.style.width = '320px';"
        "const right = (at) => Math.round(at.getBoundingClientRect().right);"
        "return [right(card), [...card.querySelectorAll('svg')].map(right)];"
    )
    assert len(edges) > 8
    assert max(edges) <= width


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_no_two_controls_overlap(page, size):
    page.show_as(size)
    page.click("#lives-0")
    overlaps = page.run(
        "const boxes = [...document.querySelectorAll('button, select, input, h1, h2, h3, dt, dd')]"
        ".filter((at) => at.checkVisibility() && !at.closest('.virtual, .details'))"
        ".map((at) => [at, at.getBoundingClientRect()]);"
        "const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1"
        " && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;"
        "const isBar = (at) => at.closest('.transport') !== null;"
        "return boxes.flatMap(([a, p], row) => boxes.slice(row + 1)"
        ".filter(([b, q]) => isBar(a) === isBar(b) && meet(p, q))"
        ".map(([b]) => a.outerHTML.slice(0, 60) + ' | ' + b.outerHTML.slice(0, 60)));"
    )
    assert overlaps == []


def test_a_finger_finds_the_buttons_of_the_phone(page):
    page.show_as(PHONE)
    assert min(page.find(f"#{name}").size["height"] for name in ("back", "play", "forward")) >= 40


def test_with_reduced_motion_nothing_glides(page):
    page.show_as(motion="reduce")
    page.run("dynmeansReport.view.goTo(5)")
    page.run("dynmeansReport.view.goTo(6)")
    assert page.run("return dynmeansReport.player.from") is None


def test_without_that_wish_the_centers_glide_to_the_next_batch(page):
    page.run("dynmeansReport.view.goTo(5)")
    assert page.run("dynmeansReport.view.goTo(6); return dynmeansReport.player.from.index") == 5


def test_a_live_page_follows_the_batches_it_is_given(page):
    # The same stream goes on: what it is given are batches 13 and 14 as a chunk of their own.
    longer = make_stream(14)
    data = report_data(longer.history.last(2), points=longer.batches[-2:], feature_names=FEATURES)
    page.run("dynmeansReport.append(arguments[0])", pack_chunk(data))
    page.settle()
    assert page.text("#now-batch") == "14 / 14"
    assert page.text("#now") == "14"
    page.click("#lives-0")
    assert facts(page)["Active in"] == "14 of 14 batches"
    assert page.messages() == []


def test_a_reader_who_has_gone_elsewhere_stays_there_when_batches_come(page):
    longer = make_stream(14)
    data = report_data(longer.history.last(2), points=longer.batches[-2:], feature_names=FEATURES)
    page.go_to(5)
    page.run("dynmeansReport.append(arguments[0])", pack_chunk(data))
    page.settle()
    assert page.text("#now-batch") == "6 / 14"


def test_a_batch_of_plain_numbers_is_taken_too(page):
    page.run(
        "dynmeansReport.append({"
        "batches: {steps: [12], times: [13], utc_offsets: [0], clocks: [13], costs: [0.5],"
        " n_points: [2], n_seen: [1], n_remembered: [3]}, limits: null,"
        "clusters: {sizes: [1], ids: [9], counts: [2], places: [1.5, 2.5]},"
        "points: {sizes: [2], slots: [0, 0], places: [1, 2, 2, 3]},"
        "events: {sizes: [1], kinds: [0], ids: [9], others: [-1], gaps: [0], displacements: [0]}})"
    )
    page.settle()
    assert page.text("#scene-title") == "Time 13 · 1 cluster · 2 points"
    assert page.run("return [...dynmeansReport.view.batch.centers].map((axis) => axis[0])") == [
        1.5,
        2.5,
    ]


def test_dates_and_names_of_batches_are_shown(page, stream, tmp_path):
    east = timezone(timedelta(hours=2))
    dates = [datetime(2026, 3, 1, 9, 30, tzinfo=east) + timedelta(hours=k) for k in range(12)]
    page.open(write_report(report_data(stream.history, times=dates), tmp_path / "dated.html"))
    page.settle()
    page.go_to(11)
    assert page.text("#now") == "1 Mar, 20:30"
    assert page.text("#scene-title").startswith("1 Mar 2026, 20:30 · ")
    assert page.text("#events time") == "1 Mar, 09:30"
    names = [f"day {k}" for k in range(12)]
    page.open(write_report(report_data(stream.history, times=names), tmp_path / "named.html"))
    page.settle()
    assert page.text("#scene-title").startswith("day 11 · ")
    assert page.messages() == []


def test_clusters_with_names_are_listed_found_and_headed_by_them(page, stream, tmp_path):
    names = {k: f"flow <{k}>" for k in stream.history.cluster_ids if k != 1}
    data = report_data(stream.history, points=stream.batches).with_names(names)
    page.open(write_report(data, tmp_path / "names.html"))
    page.settle()
    assert page.texts("#lives .row-name")[:2] == ["flow <0>", "1"]
    page.find("#lives-find").send_keys("W <2")
    page.settle()
    assert page.text("#details-name") == "Cluster 2, flow <2>"
    assert page.messages() == []


def test_lines_under_the_points_are_drawn_where_the_axes_are_theirs(page, stream, tmp_path):
    data = report_data(stream.history, points=stream.batches, feature_names=["a", "b"])
    low, high = data.points.places.min(axis=0), data.points.places.max(axis=0)
    pictures = []
    for lines in ([], [[low, high]]):
        drawn = data.with_backdrop("a", "b", lines)
        page.open(write_report(drawn, tmp_path / "lines.html"))
        page.settle()
        pictures.append([page.run("return scene.toDataURL()")])
        Select(page.find("#axis-x")).select_by_visible_text("time")
        page.settle()
        pictures[-1].append(page.run("return scene.toDataURL()"))
    assert pictures[0][0] != pictures[1][0]
    assert pictures[0][1] == pictures[1][1]
    assert page.messages() == []


ODD_STREAMS = {
    "one batch": [[[0.0, 0.0], [9.0, 9.0]]],
    "one point": [[[3.0, 3.0]]],
    "nothing at all": [np.empty((0, 2))],
    "an empty batch among others": [[[0.0, 0.0]], np.empty((0, 2)), [[0.1, 0.0]]],
    "one feature": [[[0.0], [9.0]], [[0.1], [9.1]], [[9.2]]],
    "five features": [np.arange(50.0).reshape(10, 5) % 7, np.arange(50.0).reshape(10, 5) % 7 + 0.1],
}


@pytest.mark.parametrize("name", ODD_STREAMS)
def test_odd_streams_are_shown_without_a_message(page, tmp_path, name):
    batches = [np.asarray(batch) for batch in ODD_STREAMS[name]]
    _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    page.open(write_report(report_data(history, points=batches), tmp_path / "odd.html"))
    page.settle()
    press(page, Keys.ARROW_LEFT, *[Keys.ARROW_RIGHT] * len(batches))
    assert page.messages() == []
    assert page.text("#now-batch") == f"{len(batches)} / {len(batches)}"


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_latest_events_are_told_without_cutting_words(page, stream, tmp_path, size):
    dates = [datetime(2026, 3, 21, 9, 30) + timedelta(hours=k) for k in range(12)]
    page.show_as(size)
    page.open(write_report(report_data(stream.history, times=dates), tmp_path / "dated.html"))
    page.go_to(11)
    assert "after 4 steps" in page.texts("#details .event .hint")
    cut = page.run(
        "return [...document.querySelectorAll('#details .event *')]"
        ".filter((at) => at.scrollWidth > at.clientWidth && getComputedStyle(at).overflow !== "
        "'visible').map((at) => at.textContent);"
    )
    assert cut == []
