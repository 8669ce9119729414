"""The frame of the picture in a real browser: maps, places of names, and the phone."""

import numpy as np
import pytest
from report_pages import DESKTOP, PHONE

from dynmeans import DynamicMeans
from dynmeans.report import report_data, write_report


def page_of(page, tmp_path, batches, names=None, called=None):
    _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    data = report_data(history, points=batches, feature_names=names)
    data = data.with_names(called or {})
    page.open(write_report(data, tmp_path / "frame.html"))
    page.settle()
    return page


def harbor(n_far=12, n_steps=4):
    """Ships in a harbor of a tenth of a degree, and some up to 3 degrees away."""
    rng = np.random.default_rng(0)
    near = [rng.uniform([-76.4, 36.9], [-76.2, 37.1], (400, 2)) for _ in range(n_steps)]
    far = rng.uniform([-76.4, 36.0], [-73.4, 37.1], (n_far, 2))
    return [np.concatenate([batch, far]) for batch in near]


def test_the_first_view_of_a_map_has_nearly_all_rows_and_not_the_empty_rest(page, tmp_path):
    batches = harbor()
    page_of(page, tmp_path, batches, ["longitude", "latitude"])
    domain, share = page.run(
        "const {player, store} = dynmeansReport; const {x, y} = player.domain;"
        "let [n, inside] = [0, 0];"
        "for (const {points} of store.batches) points[0].forEach((lon, row) => { n += 1;"
        " if (lon >= x[0] && lon <= x[1] && points[1][row] >= y[0] && points[1][row] <= y[1])"
        " inside += 1; });"
        "return [x, inside / n]"
    )
    assert share >= 0.95
    assert domain[1] - domain[0] < 1.5
    page.run("dynmeansReport.player.zoom(100)")
    page.settle()
    whole = page.run("return dynmeansReport.player.domain.x")
    assert whole[0] <= batches[0][:, 0].min()
    assert whole[1] >= batches[0][:, 0].max(), "zoomed out, all rows are in sight"
    assert whole[1] - whole[0] > 1.3 * (domain[1] - domain[0])


@pytest.mark.parametrize(("span", "has_coast"), [(4.0, False), (40.0, True)])
def test_coasts_are_drawn_only_on_maps_that_are_large_enough(page, tmp_path, span, has_coast):
    rng = np.random.default_rng(0)
    middle = np.array([-76.0, 37.0])
    batches = [middle + rng.uniform(-span / 2, span / 2, (200, 2)) for _ in range(2)]
    page_of(page, tmp_path, batches, ["longitude", "latitude"])
    drawn = page.run(
        "const {player} = dynmeansReport; let n = 0;"
        "const context = { beginPath() {}, moveTo() {}, lineTo() { n += 1; }, fill() {},"
        " stroke() {} }; dynmeansReport.drawEarth(player, context); return n"
    )
    assert (drawn > 0) == has_coast


PLACED = (
    "const {player} = dynmeansReport; player.draw(); const found = [];"
    "const context = { strokeText() {}, fillText(text, x, y) {"
    " const half = player.widths.of(text, this.font) / 2;"
    " found.push([text, x, y, x + 2 * half]); } };"
    "player.drawNames(context);"
    "return [found, player.marks.map(({id, x, y}) => [id, x, y])]"
)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_names_cover_few_marks_and_do_not_touch(page, tmp_path, size):
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 60, (150, 2))
    batches = [np.repeat(centers, 3, axis=0) + rng.normal(0, 0.05, (450, 2)) for _ in range(2)]
    page.show_as(size)
    page_of(page, tmp_path, batches, called={k: f"harbor number {k}" for k in range(150)})
    placed, marks = page.run(PLACED)
    assert len(placed) >= 5
    for name, left, y, right in placed:
        own = int(name.split()[-1])
        under = [k for k, mx, my in marks if left <= mx <= right and abs(my - y) <= 7]
        assert len([k for k in under if k != own]) <= 1
    for name, left, y, right in placed:
        for other, other_left, other_y, _ in placed:
            beside = other != name and abs(y - other_y) < 12
            assert not (beside and left <= other_left < right + 4)
    assert len(placed) <= (40 if size == DESKTOP else 14)


def test_the_controls_of_a_phone_take_two_lines_and_cut_no_text(page, tmp_path):
    page.show_as(PHONE)
    page_of(page, tmp_path, [np.random.default_rng(0).normal(0, 9, (30, 2)) for _ in range(9)])
    tops = page.run(
        "return [...document.querySelectorAll('.player .controls > *')]"
        ".filter((one) => one.getClientRects().length)"
        ".map((one) => Math.round(one.getBoundingClientRect().top / 20))"
    )
    assert len(set(tops)) == 2
    page.run("document.querySelector('#now').textContent = '30 Dec 2019, 00:58'")
    is_cut = page.run(
        "return ['now', 'now-batch'].map((id) => document.getElementById(id))"
        ".some((one) => one.scrollWidth > one.clientWidth && one.clientWidth > 0"
        " || one.getBoundingClientRect().right > loop.getBoundingClientRect().left)"
    )
    assert not is_cut
    width = page.run("return document.getElementById('span').getBoundingClientRect().width")
    assert width > 110, "the choice 'of this batch' is readable"
    assert page.barriers() == []
