"""The panel to try another scale: what a reader drags, and what the page then shows."""

from dataclasses import replace

import numpy as np
import pytest
from report_pages import PHONE, Page
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from dynmeans import DynamicMeans, Penalties
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import compiled
from dynmeans.engine.sequence import step_sequence
from dynmeans.records.orders import VisitingOrders
from dynmeans.report import render_page, report_data, write_report
from dynmeans.report.recluster_settings import ReclusterSettings
from dynmeans.spaces.cosine import unit_rows

RUN = ReclusterSettings(
    Penalties(1.0, max_gap=5, reach=1.2), random_state=3, command="dynmeans cluster a.csv"
)


@pytest.fixture(scope="module")
def data(stream):
    given = report_data(stream.history, points=stream.batches, feature_names=["east", "north"])
    return given.with_recluster(RUN)


@pytest.fixture(scope="module")
def trial_path(data, tmp_path_factory):
    return write_report(data, tmp_path_factory.mktemp("trial") / "report.html")


@pytest.fixture
def trial(driver, trial_path):
    page = Page(driver)
    page.show_as()
    page.open(trial_path)
    page.settle()
    page.click("#trial summary")
    return page


def give(page, field, value):
    """Set a field of the panel, and wait for what the engine says."""
    page.run(
        "document.getElementById('trial-status').textContent = '';"
        "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
        "field.dispatchEvent(new Event('input', { bubbles: true }));",
        field,
        value,
    )
    wait_for(page, "found in")


def wait_for(page, words):
    WebDriverWait(page.driver, 20).until(lambda _: words in page.text("#trial-status"))
    page.settle()


def shown(page):
    return page.run(
        "return window.dynmeansReport.store.batches.map((batch) => ({"
        "points: batch.points.map((axis) => [...axis]), ids: [...batch.ids], "
        "slots: [...batch.slots], "
        "cost: batch.cost, remembered: batch.nRemembered}))"
    )


def test_the_run_is_shown_until_somebody_tries_another_scale(trial, stream):
    assert trial.text("#trial-sample").startswith("On all ")
    assert [batch["ids"] for batch in shown(trial)] == [r.ids.tolist() for r in stream.history]
    assert not trial.find("#trial-mark").is_displayed()


def test_another_scale_gives_the_labels_of_the_package_on_the_rows_of_the_page(trial):
    rows = [np.array(batch["points"]).T for batch in shown(trial)]
    give(trial, "#trial-distance", "7")
    entropy = compiled.entropy_of_seed(RUN.random_state)
    orders = VisitingOrders(entropy, RUN.n_init, search=RUN.search)
    batches = [Batch(np.ascontiguousarray(points), None) for points in rows]
    penalties = Penalties(49.0, max_gap=5, reach=1.2)
    expected = step_sequence(batches, penalties, orders, [1.0] * len(batches))
    for batch, (state, clustering) in zip(shown(trial), expected, strict=True):
        assert batch["ids"] == clustering.ids.tolist()
        assert [batch["ids"][slot] for slot in batch["slots"]] == clustering.labels.tolist()
        assert batch["cost"] == clustering.cost
        assert batch["remembered"] == state.n_clusters
    assert trial.find("#trial-mark").is_displayed()
    assert trial.messages() == []


def test_another_cosine_gives_the_labels_of_the_package_on_the_sphere(driver, tmp_path):
    rng = np.random.default_rng(2)
    directions = rng.normal(size=(4, 2))
    batches = [
        (directions[rng.integers(4, size=60)] + 0.15 * rng.normal(size=(60, 2)))
        * rng.uniform(0.5, 9.0, size=(60, 1))
        for _ in range(5)
    ]
    model = DynamicMeans(0.5, max_gap=5, reach=1.2, space="cosine", n_init=1, random_state=3)
    _, history = model.fit_sequence(batches)
    run = ReclusterSettings(
        model.memory_.plan.penalties,
        random_state=3,
        n_init=1,
        search="paper",
        learned=model.space_,
        space="cosine",
    )
    data = report_data(history, points=batches).with_recluster(run)
    page = Page(driver)
    page.show_as()
    page.open(write_report(data, tmp_path / "sphere.html"))
    page.settle()
    page.click("#trial summary")
    assert page.text("#trial-unit") == "(cosine 0.75)"
    assert not page.find("#trial-search").is_enabled()
    assert not page.find("#trial-motion").is_enabled()
    rows = [np.array(batch["points"]).T for batch in shown(page)]
    give(page, "#trial-distance", "0.2")
    penalties = Penalties(0.2**2, max_gap=5, reach=1.2).with_centers("sphere")
    orders = VisitingOrders(compiled.entropy_of_seed(3), 1)
    expected = step_sequence(
        [Batch(unit_rows(np.ascontiguousarray(points))) for points in rows],
        penalties,
        orders,
        [1.0] * len(rows),
    )
    for batch, (_, clustering) in zip(shown(page), expected, strict=True):
        assert batch["ids"] == clustering.ids.tolist()
        assert [batch["ids"][slot] for slot in batch["slots"]] == clustering.labels.tolist()
        assert batch["cost"] == clustering.cost
    assert page.messages() == []


def test_time_passes_in_a_trial_as_it_did_in_the_run(driver, tmp_path):
    rng = np.random.default_rng(1)
    batches = [rng.normal([[0.0, 0.0], [9.0, 0.0]], 0.1) for _ in range(8)]
    elapsed = [1.0, 1.0, 4.0, 1.0, 6.0, 1.0, 1.0, 1.0]
    model = DynamicMeans(penalties=RUN.penalties, random_state=RUN.random_state)
    _, history = model.fit_sequence(batches, elapsed=elapsed)
    data = report_data(history, points=batches, times=60.0 * np.cumsum(elapsed))
    page = Page(driver)
    page.show_as()
    page.open(write_report(data.with_recluster(RUN), tmp_path / "minutes.html"))
    page.settle()
    page.click("#trial summary")
    give(page, "#trial-distance", "1")
    assert [batch["ids"] for batch in shown(page)] == [record.ids.tolist() for record in history]


def test_everything_on_the_page_follows_and_comes_back(trial):
    before = trial.texts("#numbers dd"), trial.text("#scene-title"), shown(trial)
    give(trial, "#trial-distance", "50")
    assert trial.texts("#numbers dd")[2] == "1"
    assert trial.text("#scene-title").split(" · ")[1] == "1 cluster"
    trial.find("#trial-back").click()
    trial.settle()
    assert (trial.texts("#numbers dd"), trial.text("#scene-title"), shown(trial)) == before
    assert not trial.find("#trial-mark").is_displayed()


def test_a_cluster_that_is_chosen_and_then_gone_is_no_longer_chosen(trial):
    trial.run("window.dynmeansReport.view.select(3)")
    give(trial, "#trial-distance", "50")
    assert trial.run("return window.dynmeansReport.view.selected") is None
    assert trial.messages() == []


def test_a_number_of_clusters_finds_its_scale(trial):
    give(trial, "#trial-wanted", "1")
    assert "about 1 in a batch" in trial.text("#trial-status")
    assert float(trial.find("#trial-distance").get_attribute("value")) > 2


def test_the_keyboard_moves_the_scale_and_goes_back(trial):
    trial.run("document.getElementById('trial-slide').focus()")
    ActionChains(trial.driver).send_keys(Keys.ARROW_RIGHT * 60).perform()
    wait_for(trial, "found in")
    index = trial.run("return window.dynmeansReport.view.index")
    assert index == trial.run("return window.dynmeansReport.store.lastFull")
    assert float(trial.find("#trial-distance").get_attribute("value")) > 2
    trial.run("document.getElementById('trial-back').focus()")
    ActionChains(trial.driver).send_keys(Keys.ENTER).perform()
    assert trial.text("#trial-status") == "The clusters of the run."


def test_settings_are_copied_as_a_command_and_as_python(trial):
    give(trial, "#trial-distance", "2")
    give(trial, "#trial-motion", "constant_velocity")
    trial.find("#trial-command").click()
    command = (
        "dynmeans cluster a.csv --new-penalty 4 --max-gap 5 --reach 1.2 --motion constant_velocity"
    )
    assert trial.text("#trial-copied").startswith(command)
    assert trial.text("#trial-copied").endswith(" --random-state 3")
    trial.find("#trial-python").click()
    call = 'DynamicMeans(new_penalty=4, max_gap=5, reach=1.2, motion="constant_velocity"'
    assert trial.text("#trial-copied").startswith(call)


def test_a_page_with_a_sample_says_so(driver, data, stream, tmp_path):
    n_points = np.array([2 * len(batch) for batch in stream.batches])
    more = replace(data.batches, n_points=n_points)
    page = Page(driver)
    page.show_as()
    page.open(write_report(replace(data, batches=more), tmp_path / "sample.html"))
    page.settle()
    page.click("#trial summary")
    rows = sum(map(len, stream.batches))
    said = f"On the {rows} rows of this page, a sample of {2 * rows:,}."
    assert page.text("#trial-sample") == said


def test_the_panel_fits_a_phone(trial):
    trial.show_as(PHONE)
    trial.settle()
    width = trial.run("return document.documentElement.scrollWidth")
    assert width <= PHONE[0]


def test_the_page_grows_by_less_than_300_kb_and_not_at_all_without_the_engine(data):
    plain = render_page.render_report(data, recluster=False)
    assert len(render_page.render_report(data)) - len(plain) < 300_000
    assert plain == render_page.render_report(replace(data, trial=None))
    assert "wasm" not in plain


def test_a_page_that_lacks_features_says_why_there_is_nothing_to_try(driver, tmp_path):
    rng = np.random.default_rng(0)
    batches = [rng.normal(size=(20, 12)) for _ in range(3)]
    _, history = DynamicMeans(9.0, random_state=0).fit_sequence(batches)
    page = Page(driver)
    page.show_as()
    data = report_data(history, points=batches).with_recluster(RUN)
    page.open(write_report(data, tmp_path / "wide.html"))
    page.settle()
    assert page.find_all("#trial") == []
    assert "8 of the 12 features" in page.text("#notes")
