"""The page in a real browser: the story, finding, zooming to who is chosen, rows, and sliders."""

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from dynmeans import DynamicMeans
from dynmeans.report import build, report_data, write_report


@pytest.fixture
def shown(page, tmp_path):
    """Four clusters over ten batches, two of them with names that begin alike."""
    rng = np.random.default_rng(0)
    places = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
    batches = [np.repeat(places, 5, axis=0) + rng.normal(0, 0.1, (20, 2)) for _ in range(10)]
    _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    data = report_data(history, points=batches).with_names({1: "storm", 2: "north storm"})
    page.open(write_report(data, tmp_path / "find.html"))
    page.settle()
    return page


def find(page, text):
    box = page.find("#lives-find")
    box.clear()
    box.send_keys(text)
    page.settle()


def test_finding_counts_ranks_by_the_first_word_and_says_when_nothing_is_found(shown):
    find(shown, "storm")
    assert shown.text("#found") == "2 found"
    assert shown.text("#details-name") == "Cluster 1, storm"
    find(shown, "nor")
    assert shown.text("#found") == "1 found"
    assert shown.text("#details-name") == "Cluster 2, north storm"
    find(shown, "rain")
    assert shown.text("#found") == "nothing found"


def test_zooming_by_key_goes_to_the_cluster_that_is_chosen(shown):
    find(shown, "north")
    shown.run("document.activeElement.blur()")
    ActionChains(shown.driver).send_keys("+", "+").perform()
    shown.settle()
    middle = shown.run(
        "const { x, y } = dynmeansReport.view.camera; return [(x[0] + x[1]) / 2, (y[0] + y[1]) / 2]"
    )
    cluster = shown.run(
        "const { view } = dynmeansReport, { centers, ids } = view.batch;"
        "const slot = Array.from(ids).indexOf(2);"
        "return [centers[view.x][slot], centers[view.y][slot]]"
    )
    np.testing.assert_allclose(middle, cluster, atol=0.3)


def test_rows_of_a_cluster_are_shown_in_its_panel(shown):
    find(shown, "3")
    shown.find(".rows summary").click()
    shown.settle()
    assert shown.text(".rows summary") == "Show these rows (5 rows)"
    assert len(shown.texts(".rows .rows-table tbody tr")) == 5
    assert shown.find("#save-cluster-rows").is_displayed()


def test_headline_counts_are_of_the_whole_run(page, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "MAX_BATCHES", 4)
    batches = [[[0.0], [9.0]], *([[0.0]] for _ in range(3)), *([[0.1], [9.0]] for _ in range(6))]
    _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    data = report_data(history, points=batches)
    page.open(write_report(data, tmp_path / "long.html"))
    page.settle()
    found = dict(zip(page.texts("#numbers dt"), page.texts("#numbers dd"), strict=True))
    assert (found["points"], found["batches"], found["returns"]) == ("17", "10", "1")


def test_arrows_belong_to_the_slider_that_has_the_focus(page):
    before = page.find("#slider").get_attribute("value")
    page.run(
        "const other = document.createElement('input'); other.type = 'range'; other.id = 'other';"
        "other.value = 50; document.body.append(other); other.focus()"
    )
    ActionChains(page.driver).send_keys(Keys.ARROW_LEFT).perform()
    page.settle()
    assert page.find("#slider").get_attribute("value") == before
    assert page.find("#other").get_attribute("value") == "49"


def test_a_whole_word_of_a_name_is_found_before_words_that_begin_so(shown):
    best = shown.run(
        "const {store, view} = dynmeansReport; const [a, b] = [...store.clusters.keys()];"
        "store.header.cluster_names = { [a]: 'iraqi, court', [b]: 'war, iraq' };"
        "const find = document.querySelector('#lives-find'); find.value = 'iraq';"
        "find.dispatchEvent(new Event('input')); return [view.selected, b]"
    )
    assert best[0] == best[1]
