"""Time on the page in a real browser: windows of time, loops, the order of events and lives."""

import numpy as np
import pytest
from selenium.webdriver.support.ui import Select

from dynmeans import DynamicMeans
from dynmeans.records.events import Event
from dynmeans.records.history import History
from dynmeans.records.step_record import StepRecord
from dynmeans.report import report_data, write_report


def inked(page):
    return page.run(
        "const {player} = dynmeansReport; player.draw();"
        "return player.drawing.stamps.layer.pixels.filter((pixel) => pixel).length"
    )


def test_points_of_earlier_batches_are_drawn_in_a_sliding_and_a_growing_window(page):
    page.go_to(8)
    one = inked(page)
    Select(page.find("#span")).select_by_value("5")
    page.settle()
    five = inked(page)
    Select(page.find("#span")).select_by_value("all")
    page.settle()
    assert one < five < inked(page)


def test_a_window_that_grows_as_the_page_plays_is_drawn_as_at_once(page):
    sums = (
        "const {player, view} = dynmeansReport; const {stamps} = player.drawing;"
        "player.from = null; view.set({selected: arguments[0]}); player.draw();"
        "const grown = stamps.layer.pixels.reduce((a, b) => a + b, 0);"
        "stamps.pastKey = null; player.draw();"
        "return [grown, stamps.layer.pixels.reduce((a, b) => a + b, 0)]"
    )
    Select(page.find("#span")).select_by_value("all")
    page.settle()
    seen = set()
    for index, chosen in ((2, None), (3, None), (9, None), (9, 1), (5, 1), (6, None)):
        page.go_to(index)
        grown, at_once = page.run(sums, chosen)
        assert grown == at_once > 0
        seen.add(grown)
    assert len(seen) > 4


def test_playing_begins_again_at_the_end_where_it_loops(page):
    Select(page.find("#speed")).select_by_value("60")
    page.find("#loop").click()
    page.go_to(10)
    page.find("#play").click()
    page.wait("dynmeansReport.view.index < 10")
    assert page.run("return dynmeansReport.view.isPlaying")
    page.find("#play").click()


def history_of(events, counts):
    """Batches in which the same clusters are seen, and these events."""
    history, n = History(), len(counts)
    for step in range(4):
        history.add(
            StepRecord(
                step=step, time=step + 1.0, ids=np.arange(n),
                labels=np.repeat(np.arange(n), counts),
                counts=np.array(counts, dtype=float), centers=np.arange(2.0 * n).reshape(n, 2),
                weights=np.ones(n), ages=np.ones(n), cost_trace=np.ones(1), n_remembered=n,
                events=events.get(step, ()),
            )
        )  # fmt: skip
    return history


@pytest.fixture
def eventful(page, tmp_path):
    counts = [100, 50, 3, 2]
    events = {0: tuple(Event("born", k) for k in range(4))}
    events |= {2: (Event("returned", 2, gap=1.0),), 3: (Event("split", 1, other_id=0),)}
    page.open(write_report(report_data(history_of(events, counts)), tmp_path / "events.html"))
    page.settle()
    return page


def test_the_list_of_events_starts_with_what_matters(eventful):
    rows = [row.split("\n")[1:3] for row in eventful.texts("#events [data-row]")]
    kinds = [(name, kind) for name, kind in rows]
    assert kinds[:3] == [("1", "split"), ("0", "born"), ("1", "born")]
    assert kinds.index(("2", "returned")) < kinds.index(("3", "born"))


def test_events_can_be_listed_in_order_of_time(eventful):
    Select(eventful.find("#events-order")).select_by_value("time")
    eventful.settle()
    times = [int(row.split("\n")[0]) for row in eventful.texts("#events [data-row]")]
    assert times == sorted(times)


def test_lives_can_be_ordered_by_last_activity(page):
    Select(page.find("#lives-order")).select_by_value("last")
    page.settle()
    last = page.run(
        "const {store} = dynmeansReport; return [...document.querySelectorAll('#lives [data-row]')]"
        ".map((row) => store.clusters.get(Number(row.id.slice(6))).batches.at(-1))"
    )
    assert last == sorted(last, reverse=True)
    assert last[0] > last[-1]


def test_a_hundred_thousand_lives_are_listed_without_a_long_task(page, tmp_path):
    n = 100_000
    history = History()
    ids = np.arange(n)
    for step in range(4):
        own = ids[step * n // 4 : (step + 1) * n // 4]
        ones = np.ones(len(own))
        history.add(
            StepRecord(
                step=step, time=step + 1.0, labels=own, ids=own, counts=ones, weights=ones,
                centers=np.c_[own % 313, own // 313].astype(float), ages=ones,
                cost_trace=np.ones(1), n_remembered=len(own), events=(),
            )
        )  # fmt: skip
    data = report_data(history)
    assert data.n_clusters == n
    page.open(write_report(data, tmp_path / "many.html"))
    page.settle()
    shown = page.run("return dynmeansReport.store.clusters.size")
    # A task of the page is long in every round, that of another program is not.
    longest = min(longest_frame(page) for _ in range(3))
    assert shown >= 10_000
    assert longest < 100
    assert len(page.find_all("#lives [data-row]")) < 60


def longest_frame(page):
    """Milliseconds of the longest frame while the list of lives is scrolled."""
    return page.driver.execute_async_script(
        "const done = arguments[0]; const list = document.querySelector('#lives');"
        "let [longest, last, n] = [0, performance.now(), 0];"
        "const scroll = (now) => { longest = Math.max(longest, now - last); last = now; n += 1;"
        " list.scrollTop = n * 9001; n < 60 ? requestAnimationFrame(scroll) : done(longest); };"
        "requestAnimationFrame((now) => { last = now; scroll(now); });"
    )


@pytest.mark.parametrize(("n_clusters", "tail"), [(30, "10"), (150, "0")])
def test_tails_are_drawn_at_first_where_clusters_are_few(page, tmp_path, n_clusters, tail):
    places = 9.0 * np.column_stack(np.divmod(np.arange(n_clusters), 12))
    batches = [places + 0.1 * step for step in range(3)]
    _, history = DynamicMeans(4.0, random_state=0).fit_sequence(batches)
    page.open(write_report(report_data(history, points=batches), tmp_path / "many.html"))
    assert page.run("return document.querySelector('#tail').value") == tail


def test_a_batch_lists_what_changed_most_since_the_one_before(page):
    page.go_to(0)
    assert page.find_all("#changes") == []
    page.go_to(5)  # cluster 3 comes, cluster 1 is away
    assert page.texts("#changes .value")[0].startswith("0 → 10 (+10)")
    page.go_to(4)
    assert page.texts("#changes .value")[0].startswith("20 → 0 (\u221220)")
    page.click("#changes button")
    assert page.text("#details-name") == "Cluster 1"


def test_a_batch_of_very_many_clusters_does_not_glide(page, tmp_path):
    batches = [np.c_[np.arange(4100) % 71, np.arange(4100) // 71] * 9.0 for _ in range(3)]
    _, history = DynamicMeans(1.0, random_state=0, n_init=1).fit_sequence(batches)
    page.open(write_report(report_data(history, points=batches), tmp_path / "crowd.html"))
    page.settle()
    page.run("dynmeansReport.view.goTo(0)")
    assert page.run("dynmeansReport.view.goTo(1); return dynmeansReport.player.from") is None
