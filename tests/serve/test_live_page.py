"""The live page in a real browser: it grows, takes edits, and needs no reload."""

import re

import numpy as np
import pytest
from browser import find_browser, open_browser
from report_pages import PHONE, Page
from run_cases import RECIPE
from serving import served, windows

from dynmeans import ModelConfig, Run
from dynmeans.report import write_report
from dynmeans.report.from_run import run_report
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.levels import write_levels
from dynmeans.runs.reading.window import Window

pytestmark = pytest.mark.slow
EXPECTED = ("favicon", " 422 ")  # what a browser says of names that are refused


@pytest.fixture
def folder(tmp_path):
    with Run.create(tmp_path / "run", RunConfig(("x", "y"), RECIPE)) as run:
        run.process(windows(3))
    return tmp_path / "run"


@pytest.fixture
def page(folder, tmp_path):
    with served(folder) as address, open_browser(find_browser(), tmp_path / "browser") as driver:
        driver.get(address)
        page = Page(driver)
        page.wait("window.dynmeansReport && dynmeansReport.store.batches.length === 3")
        yield page
        assert [
            text for text in page.messages() if not any(word in text for word in EXPECTED)
        ] == []


def choose(page, k):
    page.run("dynmeansReport.view.select(arguments[0])", k)
    page.wait("document.querySelector('#rename') !== null")
    page.settle()


def type_name(page, text):
    page.click("#rename")
    page.run("document.querySelector('#edit-text').value = ''")
    page.find("#edit-text").send_keys(text)


def test_a_live_page_grows(page, folder):
    with Run.open(folder) as run:
        run.process(windows(4, first=3))
    page.wait("dynmeansReport.store.batches.length === 7")
    assert page.run("return dynmeansReport.view.index") == 6


def test_a_page_shows_the_run_that_replaced_its_own(page, folder):
    with Run.create(folder, RunConfig(("x", "y"), RECIPE), overwrite=True) as run:
        run.process(windows(5, first=40))
    page.wait("window.dynmeansReport && dynmeansReport.store.batches.length === 5")
    assert "window 40" in page.run("return document.body.textContent")
    with Run.open(folder) as run:
        run.process(windows(1, first=45))
    page.wait("dynmeansReport.store.batches.length === 6")


def test_a_live_page_has_no_barriers(page):
    choose(page, 1)
    assert page.barriers() == []


def test_a_name_typed_on_one_page_is_on_every_page(page, folder):
    first, address = page.driver.current_window_handle, page.driver.current_url
    page.driver.switch_to.new_window("tab")
    page.driver.get(address)
    page.wait("window.dynmeansReport && dynmeansReport.store.batches.length === 3")
    choose(page, 1)
    type_name(page, "<b>tug</b>\n")
    page.wait("document.querySelector('#details-name').textContent === 'Cluster 1, <b>tug</b>'")
    page.driver.switch_to.window(first)
    page.wait("dynmeansReport.store.label(1) === '<b>tug</b>'")
    page.settle()
    assert page.run("return document.querySelectorAll('b').length") == 0
    with Run.open(folder) as run:
        assert run.edits.names == {1: "<b>tug</b>"}


def test_what_is_typed_outlives_a_window_that_comes_meanwhile(page, folder):
    choose(page, 0)
    type_name(page, "harb ")
    with Run.open(folder) as run:
        run.process(windows(1, first=3))
    page.wait("dynmeansReport.store.batches.length === 4")
    page.settle()
    page.driver.switch_to.active_element.send_keys("or")
    assert page.find("#edit-text").get_attribute("value") == "harb or"
    assert page.run("return dynmeansReport.view.isPlaying") is False  # the blank is no command
    page.click("#edit-save")
    page.wait("dynmeansReport.store.label(0) === 'harb or'")


def test_a_name_that_is_refused_is_told_and_an_escape_saves_nothing(page, folder):
    choose(page, 1)
    page.click("#rename")
    page.run("const i = document.querySelector('#edit-text'); i.maxLength = 999;"
             "i.value = 'x'.repeat(300)")  # fmt: skip
    page.click("#edit-save")
    page.wait("document.querySelector('.edits').textContent.includes('at most 200 characters')")
    page.find("#edit-text").send_keys("\ue00c")
    page.wait("document.querySelector('#edit-text') === null")
    assert page.run("return dynmeansReport.view.selected") == 1
    with Run.open(folder) as run:
        assert run.edits.log == ()


def test_an_answer_of_a_proxy_is_told_by_its_number(page):
    choose(page, 0)
    type_name(page, "TUG")
    page.run("window.fetch = async () => new Response('<html>Bad gateway', { status: 502 })")
    page.click("#edit-save")
    page.wait("document.querySelector('.edits .hint').textContent.includes('answered 502')")


def test_a_page_says_that_its_connection_is_lost_until_it_is_back(folder, tmp_path):
    lost = "document.querySelector('#connection-lost').textContent"
    with open_browser(find_browser(), tmp_path / "browser") as driver:
        with served(folder) as address:
            driver.get(address)
            page = Page(driver)
            page.wait("window.dynmeansReport && dynmeansReport.store.batches.length === 3")
            assert page.run(f"return {lost}") == ""
        page.wait(f"{lost}.startsWith('Connection lost, trying again')")
        assert page.find("#connection-lost").is_displayed()
        with served(folder, port=int(address.rpartition(":")[2])), Run.open(folder) as run:
            page.wait(f"{lost} === ''")
            run.process(windows(1, first=3))
            page.wait("dynmeansReport.store.batches.length === 4")


def test_clusters_are_merged_pinned_and_parted_again(page, folder):
    choose(page, 1)
    page.click("#pin")
    page.wait("document.querySelector('.facts').textContent.includes('Pinned')")
    page.run("dynmeansReport.view.set({minSize: 1000})")
    assert page.run("return [0, 1].map((k) => dynmeansReport.view.isConfirmed(k))") == [False, True]
    page.settle()
    page.click("#merge")
    page.find("#edit-text").send_keys("0\n")
    page.wait("document.querySelector('#details-name').textContent === 'Cluster 1, shown as 0'")
    page.run("dynmeansReport.view.set({minSize: 1})")
    assert page.run("return dynmeansReport.player.looks.bearer(1)") == 0
    page.settle()
    page.click("#undo")
    page.wait("document.querySelector('#details-name').textContent === 'Cluster 1'")
    with Run.open(folder) as run:
        assert (dict(run.edits.merged), run.edits.pinned) == ({}, {1})


def test_a_file_offers_no_edit_and_tells_those_there_are(page, folder, tmp_path):
    with Run.open(folder) as run:
        run.merge_clusters(0, 1)
        run.pin_cluster(0)
        path = write_report(run_report(run), tmp_path / "report.html")
    page.open(path)
    page.run("dynmeansReport.view.select(1)")
    page.settle()
    assert page.find_all(".edits") == []
    assert "Shown as" in page.text("#details")
    notes = page.text("#notes")
    assert "1 cluster merged manually" in notes
    assert "1 cluster pinned" in notes


def test_a_cluster_is_renamed_on_a_phone(page):
    page.show_as(PHONE)
    choose(page, 1)
    type_name(page, "tug\n")
    page.wait("dynmeansReport.store.label(1) === 'tug'")


def test_the_summary_moves_with_the_counters(page, folder):
    assert page.text("#summary-lead").startswith("9 points in 3 batches")
    with Run.open(folder) as run:
        run.process(windows(4, first=3))
    page.wait("document.querySelector('#summary-lead').textContent.startsWith('21 points in 7')")
    numbers = dict(zip(page.texts("#numbers dt"), page.texts("#numbers dd"), strict=True))
    assert (numbers["points"], numbers["batches"]) == ("21", "7")


def header_numbers(page):
    return dict(zip(page.texts("#numbers dt"), page.texts("#numbers dd"), strict=True))


def joined_windows(n, first=0):
    """Three places of 15 rows on each of n days, and a row far away from them."""
    rng = np.random.default_rng(first)
    found = []
    for day in range(first, first + n):
        places = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 15, axis=0)
        points = np.vstack([rng.normal(places, 0.2), [[50.0 + 20 * day, -50.0]]])
        found.append(Window(points, name=f"2026-03-{1 + day:02}", n_dropped_rows=2))
    return found


@pytest.fixture
def joined_run(tmp_path):
    config = RunConfig(("x", "y"), ModelConfig(new_penalty=4.0, families=True, random_state=0))
    with Run.create(tmp_path / "run", config) as run:
        run.process(joined_windows(6))
        run.lock()
        write_levels(run.store, chosen="default")
    return tmp_path / "run"


def test_a_level_is_kept_for_every_reader_of_a_run(joined_run, tmp_path):
    with (
        served(joined_run) as address,
        open_browser(find_browser(), tmp_path / "browser") as driver,
    ):
        driver.get(address)
        page = Page(driver)
        page.wait("window.dynmeansReport && dynmeansReport.store.batches.length === 6")
        assert page.find("#level-default").get_attribute("aria-pressed") == "true"
        page.click("#level-coarse")
        with Run.open(joined_run) as run:
            assert run.levels.chosen == "default"
        page.click("#level-keep")
        page.wait("document.querySelector('#level-copied').textContent.startsWith('Saved.')")
        with Run.open(joined_run) as run:
            assert run.levels.chosen == "coarse"
        driver.refresh()
        page.wait("window.dynmeansReport && dynmeansReport.store.batches.length === 6")
        page.wait("document.querySelector('#level-coarse[aria-pressed=true]') !== null")


def test_a_live_header_counts_noise_rows_left_out_and_the_lag(joined_run, tmp_path):
    with (
        served(joined_run) as address,
        open_browser(find_browser(), tmp_path / "browser") as driver,
    ):
        driver.get(address)
        page = Page(driver)
        page.wait("window.dynmeansReport && dynmeansReport.store.batches.length === 6")
        before = header_numbers(page)
        assert before["rows of noise"] == "6 (2.2 %)"
        assert before["rows left out"] == "12"
        assert re.fullmatch(r"[\d,]+ d", before["behind now"])
        with Run.open(joined_run) as run:
            run.process(joined_windows(3, first=6))
            run.lock()
        write_levels(run.store, chosen="default")
        page.wait("dynmeansReport.store.batches.length === 9")
        page.wait("dynmeansReport.store.header.counts.n_rows === 414")
        after = header_numbers(page)
        assert after["rows left out"] == "18"
        assert after["rows of noise"] == "9 (2.2 %)"
