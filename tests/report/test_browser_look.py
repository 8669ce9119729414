"""The first look at a page in a real browser: picture, summary, warnings, names, contents."""

from dataclasses import replace

import numpy as np
import pytest
from report_pages import DESKTOP, PHONE

from dynmeans import DynamicMeans
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.report import report_data, write_report
from dynmeans.report.axes import in_space
from dynmeans.report.data import Warned
from dynmeans.spaces.raw import RAW

DOUBT = "many clusters hold a single point: their size cannot be estimated. " * 4


def page_of(page, tmp_path, batches, **changes):
    _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    data = report_data(history, points=batches, feature_names=changes.pop("names", None))
    data = in_space(data, changes.pop("space", RAW))
    page.open(write_report(replace(data, **changes), tmp_path / "look.html"))
    page.settle()
    return page


def world(n=40):
    rng = np.random.default_rng(0)
    return [rng.uniform([-179, -70], [179, 75], (n, 2)) for _ in range(4)]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_picture_is_in_sight_without_scrolling(page, tmp_path, size):
    page.show_as(size)
    story = tuple(f"Sentence {n} of a long story about what happened." for n in range(9))
    page_of(page, tmp_path, world(), summary=story, warnings=(Warned(DOUBT, {}),) * 2)
    top, bottom = page.run(
        "const box = scene.getBoundingClientRect(); return [box.top, box.bottom]"
    )
    bar = page.run("return transport.getBoundingClientRect().top")
    assert top < 0.4 * size[1]
    assert min(bottom, bar) - top > 0.3 * size[1]


def test_the_summary_takes_two_lines_until_it_is_opened(page, tmp_path):
    story = tuple(
        f"Sentence {n}, which is long enough to fill a line by itself. " * 2 for n in range(6)
    )
    page_of(page, tmp_path, world(), summary=story)
    height = "document.querySelector('#summary summary').getBoundingClientRect().height"
    line = page.run(
        "return parseFloat(getComputedStyle(document.querySelector('#story')).lineHeight)"
    )
    assert page.run(f"return {height}") <= 2.3 * line
    assert not page.find("#summary-rest").is_displayed()
    page.click("#summary summary")
    assert "Sentence 5" in page.text("#summary-rest")


def test_a_warning_is_one_line_with_a_remedy_that_works_on_the_page(page, tmp_path):
    warned = Warned(DOUBT, {"min_cluster_size": ""})
    page_of(page, tmp_path, world(), warnings=(warned,))
    assert page.run("return document.querySelector('.warnings li').clientHeight") < 45
    page.click(".warnings .plain")
    assert page.find("#min-size").get_attribute("value") == "3"
    assert "unconfirmed" in page.text("#unconfirmed")


def test_a_warning_without_a_remedy_on_the_page_has_no_button(page, tmp_path):
    page_of(page, tmp_path, world(), warnings=(Warned(DOUBT, {"space": "standard"}),))
    assert page.find_all(".warnings .plain") == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_map_of_the_world_fills_its_box(page, tmp_path, size):
    page.show_as(size)
    page_of(page, tmp_path, world(), names=["longitude", "latitude"])
    page.settle()
    domain = page.run("return dynmeansReport.player.domain")
    low, high = domain["y"]
    assert high - low <= 180.5
    assert -90.5 <= low < high <= 90.5
    west, east = domain["x"]
    assert east - west <= 361


def test_pixels_are_drawn_with_y_downward_and_meters_upward(page, tmp_path):
    rng = np.random.default_rng(0)
    pixels = [rng.uniform([0, 0], [1900, 1000], (30, 2)) for _ in range(3)]
    page_of(page, tmp_path, pixels, names=["x", "y"])
    top_of = "const {player} = dynmeansReport; return player.toY(0) < player.toY(1000)"
    assert page.run(top_of)
    page.click("#y-down")
    assert not page.run(top_of)
    page_of(page, tmp_path, [batch / 100 for batch in pixels], names=["x", "y"])
    assert not page.find("#y-down").is_selected()


def test_dragging_moves_a_picture_whose_y_is_downward_with_the_hand(page, tmp_path):
    rng = np.random.default_rng(0)
    page_of(page, tmp_path, [rng.uniform(0, 1000, (30, 2)) for _ in range(3)], names=["u", "v"])
    moved = page.run(
        "const {player, view} = dynmeansReport; player.zoom(0.5);"
        "player.scale(player.width, player.height);"
        "const before = player.fromPixel(200, 200);"
        "const at = (x, y, type) => scene.dispatchEvent(new PointerEvent(type, {clientX:"
        " scene.getBoundingClientRect().left + x, clientY: scene.getBoundingClientRect().top + y,"
        " pointerId: 1, button: 0, pointerType: 'mouse', bubbles: true}));"
        "scene.setPointerCapture = () => {};"
        "at(200, 200, 'pointerdown'); at(220, 230, 'pointermove');"
        "player.scale(player.width, player.height); const after = player.fromPixel(220, 230);"
        "at(220, 230, 'pointerup'); return [before, after];"
    )
    np.testing.assert_allclose(moved[0], moved[1], rtol=0.02)


def test_more_names_stand_on_the_picture_the_closer_one_looks(page, tmp_path):
    rng = np.random.default_rng(0)
    centers = rng.uniform(0, 400, (300, 2))
    batches = [np.repeat(centers, 2, axis=0) + rng.normal(0, 0.05, (600, 2)) for _ in range(2)]
    page_of(page, tmp_path, batches, cluster_names={k: f"place number {k}" for k in range(300)})
    placed = (
        "const {player, store} = dynmeansReport; player.draw(); const named = new Set();"
        "const context = { fillText: (text) => named.add(text), strokeText() {} };"
        "player.drawNames(context); return [...named]"
    )
    far = set(page.run(placed))
    page.run("dynmeansReport.player.zoom(0.25); dynmeansReport.player.zoom(0.5)")
    page.settle()
    near = set(page.run(placed))
    inside = page.run(
        "const {player} = dynmeansReport;"
        "return player.marks.filter((mark) => player.drawing.isInside(mark)).length"
    )
    assert len(near) > len(far & near)
    assert len(near) / inside > len(far) / 300


def test_a_name_has_at_most_thirty_characters_and_whole_words(page, tmp_path):
    name = "inquiry, commission, parliament, government"
    page_of(page, tmp_path, world(), cluster_names={0: name})
    assert page.run("return dynmeansReport.store.label(0)") == "inquiry, commission"
    assert page.run("return dynmeansReport.store.fullName(0)") == f"Cluster 0, {name}"


def test_the_contents_list_all_clusters_and_move_the_picture(page, tmp_path):
    batches = [np.array([[0.0, 0.0]] * 9 + [[50.0, 50.0]] * 5 + [[90.0, 0.0]] * 2)] * 3
    page_of(page, tmp_path, batches)
    page.click("[data-key='tab-Contents']")
    assert [row.split()[0] for row in page.texts("#contents .value")] == ["27", "15", "6"]
    second = page.texts("#contents .row-name")[1].split()[-1]
    page.click(f"[data-key='entry-{second}']")
    camera = page.run("return dynmeansReport.view.camera")
    assert camera["x"][0] < 50 < camera["x"][1] < 90
    assert page.text("#details-name") == f"Cluster {second}"


def test_a_sentence_says_which_arguments_it_advises():
    text = ArgumentText("9 clusters: {max_gap=52}, {families=True} or {reach}.")
    assert text.advises == {"max_gap": "52", "families": "True", "reach": ""}
