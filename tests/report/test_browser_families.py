"""Families, unconfirmed clusters and courses on the page, in a real browser."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from selenium.webdriver.support.ui import Select

from dynmeans import DynamicMeans, find_families
from dynmeans.plots.identity_colors import PALETTE, UNASSIGNED_COLOR
from dynmeans.report import report_data, write_report


def ring_batches(n_steps=6):
    """A ring that falls into several identities, a ship far away, and stray points."""
    rng = np.random.default_rng(4)
    batches = []
    for step in range(n_steps):
        angles = rng.uniform(0, 2 * np.pi, 240)
        ring = np.column_stack([np.cos(angles), np.sin(angles)]) + rng.normal(0, 0.03, (240, 2))
        ship = rng.normal([10.0 + 0.5 * step, 4.0], 0.05, (40, 2))
        strays = [[5.0, 7.0 + 3 * step]] if step % 3 == 0 else np.empty((0, 2))
        batches.append(np.vstack([ring, ship, strays]))
    return batches


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    """The page, its families, and the identities that are confirmed."""
    batches = ring_batches()
    model = DynamicMeans(0.3, max_gap=4, reach=3, motion="constant_velocity", random_state=0)
    labels, history = model.fit_sequence(batches)
    dates = [datetime(2026, 3, 1) + timedelta(hours=k) for k in range(len(batches))]
    data = report_data(history, points=batches, times=dates, feature_names=["east", "north"])
    families = find_families(batches, labels)
    data = data.with_families(families).with_confirmed(min_cluster_size=2)
    path = write_report(data, tmp_path_factory.mktemp("families") / "families.html")
    ids = np.unique(np.concatenate(history.confirmed_labels(min_cluster_size=2)))
    return path, families, ids[ids >= 0]


@pytest.fixture
def family_page(page, ring):
    page.open(ring[0])
    page.settle()
    page.go_to(5)
    return page


def colors(page, selector):
    return set(page.run(f"return [...document.querySelectorAll('{selector}')].map((at) =>"
                        " at.getAttribute('fill'))"))  # fmt: skip


def slide(page, position):
    page.run(
        "level.value = arguments[0]; level.dispatchEvent(new Event('input'))", position
    )  # fmt: skip
    page.settle()


def palette(ids):
    return {PALETTE[k % len(PALETTE)] for k in ids.tolist()}


def test_a_slider_through_the_levels_gives_members_the_color_of_their_family(family_page, ring):
    page, (_, families, ids) = family_page, ring
    n_families = len(np.unique(families.map_labels(ids)))
    assert n_families < len(ids)
    assert page.text("#level-now").endswith(f": {n_families} families")
    assert colors(page, "#lives .stretch") == palette(families.map_labels(ids))
    picture = page.run("return scene.toDataURL()")
    slide(page, 0)
    assert "not merged" in page.text("#level-now")
    assert colors(page, "#lives .stretch") == palette(ids)
    assert page.run("return scene.toDataURL()") != picture
    assert page.messages() == []


def test_at_the_highest_level_everything_has_one_color(family_page):
    slide(family_page, family_page.run("return Number(level.max)"))
    for part in ("#lives .stretch", "#events .mark", "#details .mark"):
        assert colors(family_page, part) == {PALETTE[0]}


def test_the_family_of_a_chosen_cluster_is_told(family_page):
    family_page.click("#lives-0")
    assert "Family 0, " in family_page.text(".facts")
    slide(family_page, 0)
    assert "Family none" in family_page.text(".facts")


def test_clusters_too_small_are_gray_and_in_no_list_until_they_are_wanted(family_page):
    page = family_page
    page.go_to(3)
    strays = page.run(
        "return [...dynmeansReport.store.clusters.values()].filter((c) => c.total < 2)"
        ".map((c) => c.id)"
    )
    assert len(strays) == 2
    assert page.text("#unconfirmed") == "2 unconfirmed"
    assert page.run("return dynmeansReport.player.looks.color(arguments[0])", strays[0]) == (
        UNASSIGNED_COLOR
    )
    names = page.texts("#lives .row-name")
    assert not set(names) & set(map(str, strays))
    page.run("dynmeansReport.view.select(arguments[0])", strays[0])
    page.settle()
    assert page.text(".status") == "unconfirmed"
    page.run("document.getElementById('min-size').value = 1;"
             "document.getElementById('min-size').dispatchEvent(new Event('input'))")  # fmt: skip
    page.settle()
    assert page.text("#unconfirmed") == ""
    assert set(map(str, strays)) <= set(page.texts("#lives .row-name"))


def test_a_cluster_on_its_course_has_an_arrow_and_a_speed(family_page):
    page = family_page
    ship = page.run(
        "const {view, store} = dynmeansReport; const slot = view.batch.centers[0].findIndex("
        "(x) => x > 9); return view.batch.ids[slot];"
    )
    page.run("dynmeansReport.view.select(arguments[0])", ship)
    page.settle()
    told = page.text(".facts").split("Speed ")[1].split(" per hour")[0]
    assert float(told) == pytest.approx(0.5, abs=0.15)  # east, in an hour
    with_arrows = page.run("return scene.toDataURL()")
    page.run("dynmeansReport.view.batch.velocities = null; dynmeansReport.player.draw()")
    assert page.run("return scene.toDataURL()") != with_arrows


def test_only_one_family_is_listed_and_the_link_keeps_it(family_page, ring):
    page, (_, families, ids) = family_page, ring
    members = ids[families.map_labels(ids) == 0]
    assert 1 < len(members) < len(ids)
    Select(page.find("#only-family")).select_by_visible_text(f"family 0 ({len(members)})")
    page.settle()
    assert sorted(map(int, page.texts("#lives .row-name"))) == members.tolist()
    rows = page.run("return dynmeansReport.downloads.clusters().slice(1).map((row) => row[0])")
    assert sorted(rows) == members.tolist()
    page.wait("location.hash.includes('family=0')")
    slide(page, 2)
    page.wait("location.hash.includes('level=')")
    level = page.run("return new URLSearchParams(location.hash.slice(1)).get('level')")
    assert float(level) == pytest.approx(families.levels[1], rel=1e-6)
