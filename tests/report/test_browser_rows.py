"""Rows and columns of a page in a real browser: filters, colors, search, what is in a cluster."""

import numpy as np
import pandas as pd
import pytest
from report_pages import Page

import dynmeans

WORDS = ("harbour ferry arrives late", "coalition wins the vote", "harvest saved by rain")


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(3)
    n = 480
    kind = np.arange(n) % 3
    frame = pd.DataFrame(
        rng.normal(0, 0.2, (n, 2)) + 9.0 * np.c_[kind, kind % 2], columns=["x", "y"]
    )
    frame["when"] = pd.date_range("2026-03-02", periods=n, freq="30min")
    frame["port"] = np.array(["Kiel", "Oslo", "Riga"])[kind]
    frame["note"] = [f"{WORDS[k]} {row}" for row, k in enumerate(kind)]
    frame["speed"] = rng.uniform(0, 10, n)
    return dynmeans.cluster(
        frame, features=["x", "y"], time="when", every="1d", random_state=0, penalties=4.0
    )


@pytest.fixture(scope="module")
def path(found, tmp_path_factory):
    describe = ["port", "note", "speed"]
    return found.report(tmp_path_factory.mktemp("rows") / "rows.html", describe=describe)


@pytest.fixture
def shown(driver, path):
    page = Page(driver)
    page.show_as()
    page.open(path)
    page.driver.execute_async_script("dynmeansReport.rowsLoaded.then(arguments[0])")
    page.settle()
    return page


def test_the_page_carries_columns_of_the_rows_it_draws(shown, found):
    columns = shown.run(
        "return dynmeansReport.view.rows.carried.map(({name, kind}) => [name, kind])"
    )
    assert columns == [
        ["port", "category"],
        ["note", "text"],
        ["speed", "number"],
        ["when", "time"],
    ]
    ids, ports = shown.run(
        "const {rows} = dynmeansReport.view; return [[...rows.owner], rows.column('port').values]"
    )
    ours = pd.DataFrame({"id": ids, "port": ports}).drop_duplicates()
    assert len(ours) == 3, "each cluster has the port of its rows"


def test_histograms_are_offered_of_numbers_values_hours_and_weekdays(shown):
    names = shown.texts("#histograms figcaption")
    assert names == ["port", "speed", "x", "y", "hour of day", "weekday"]


def test_brushing_a_histogram_filters_picture_lists_and_timeline(shown):
    before = shown.run("return scene.toDataURL()")
    shown.run(
        "const figure = [...document.querySelectorAll('#histograms figure')][2];"
        "const svg = figure.querySelector('svg'); svg.scrollIntoView();"
        "const {left, width, top} = svg.getBoundingClientRect();"
        "svg.setPointerCapture = () => {}; svg.hasPointerCapture = () => true;"
        "const at = (share, type) => svg.dispatchEvent(new PointerEvent(type, {pointerId: 1,"
        " clientX: left + share * width, clientY: top + 9, bubbles: true}));"
        "at(0.02, 'pointerdown'); at(0.2, 'pointermove');"
    )
    shown.settle()
    assert shown.text("#filter-now") == "160 of 480 rows"
    shown.wait("document.querySelectorAll('#lives [data-row]').length === 1")
    assert shown.run("return scene.toDataURL()") != before
    shown.click("#filter-clear")
    assert shown.text("#filter-now") == "480 rows"
    shown.wait("document.querySelectorAll('#lives [data-row]').length === 3")


def test_a_value_of_a_category_keeps_its_rows_and_the_others_are_counted(shown):
    shown.click("#histograms .value-row")
    assert shown.text("#filter-now") == "160 of 480 rows"
    values = shown.texts("#histograms .value-row")
    assert len(values) == 3
    assert shown.find("#histograms .value-row").get_attribute("aria-pressed") == "true"
    shown.click("#histograms .value-row")
    assert shown.text("#filter-now") == "480 rows"


def test_numbers_typed_beside_a_histogram_are_kept_exactly(shown):
    shown.run(
        "const field = document.querySelector('[aria-label=\"speed from\"]'); field.value = 5;"
        "field.dispatchEvent(new Event('change'))"
    )
    shown.settle()
    n = shown.run(
        "return dynmeansReport.view.rows.column('speed').values.filter((v) => v >= 5).length"
    )
    assert shown.text("#filter-now") == f"{n} of 480 rows"


def test_points_take_the_colors_of_a_column(shown):
    before = shown.run("return scene.toDataURL()")
    shown.run("color = document.querySelector('#color-by'); color.value = 'speed';"
              "color.dispatchEvent(new Event('change'))")  # fmt: skip
    shown.settle()
    assert shown.run("return scene.toDataURL()") != before
    assert shown.run("return dynmeansReport.view.colorBy") == "speed"


def test_a_search_finds_rows_by_their_text_and_counts_them(shown):
    shown.find("#lives-find").send_keys("coalition")
    shown.settle()
    assert shown.text("#found") == "160 of 480 rows in 1 cluster · in the name of 1"
    assert shown.text("#filter-now") == "160 of 480 rows"
    shown.run("const find = document.querySelector('#lives-find'); find.value = '';"
              "find.dispatchEvent(new Event('input'))")  # fmt: skip
    shown.settle()
    assert shown.text("#filter-now") == "480 rows"


def test_a_cluster_shows_its_typical_border_and_most_recent_rows(shown):
    shown.run("dynmeansReport.view.select(1)")
    shown.settle()
    rows = "const {view, store} = dynmeansReport;"
    away = (
        "const cells = [...document.querySelectorAll('#examples tbody tr')].map((row) =>"
        " row.cells[2].textContent);"
        "const {rows} = dynmeansReport.view;"
        "return cells.map((note) => rows.distances[rows.column('note').values.indexOf(note)]);"
    )
    typical = shown.run(rows + away)
    shown.click("[data-key='rows-border']")
    border = shown.run(rows + away)
    assert len(typical) == len(border) == 6
    assert max(typical) < min(border)
    shown.click("[data-key='rows-recent']")
    first = "return document.querySelector('#examples tbody tr').textContent"
    assert shown.run(first).startswith("11 Mar")


def test_a_cluster_of_texts_is_told_by_words_that_its_rows_share(shown):
    shown.run("dynmeansReport.view.select(0)")
    shown.settle()
    words = set(shown.text("#cluster-words").split(", "))
    assert words in [set(text.split()) - {"the", "by"} for text in WORDS] or words <= set(
        " ".join(WORDS).split()
    )
    assert not any(word.isdecimal() for word in words)
    assert len(shown.find_all(".window-words li")) == 6


def test_columns_of_a_cluster_stand_beside_those_of_everyone(shown):
    shown.run("dynmeansReport.view.select(0)")
    shown.settle()
    first = shown.text(".compared .hint")
    assert first.endswith("100 % of its rows, 33 % of all")


def test_a_cluster_without_a_name_has_the_value_that_its_rows_share(shown):
    names = shown.run("return [0, 1, 2].map((id) => dynmeansReport.store.label(id))")
    assert sorted(names) == ["Kiel", "Oslo", "Riga"]


def test_a_page_with_filters_open_has_no_barriers(shown):
    shown.run("dynmeansReport.view.select(1)")
    shown.settle()
    assert shown.barriers() == []


def test_a_filter_stays_where_more_rows_come(shown):
    shown.click("#histograms .value-row")
    chunk = shown.run(
        "const {store} = dynmeansReport; const plain = (one) => Array.from(one);"
        "const last = store.batches.at(-1); const n = last.slots.length;"
        "return {batches: {steps: [last.step + 1], times: [last.time + 86400], utc_offsets: [0],"
        " clocks: [last.clock + 1], costs: [0], n_points: [n], n_seen: [last.nSeen],"
        " n_remembered: [last.nSeen], names: null}, limits: null,"
        " clusters: {sizes: [last.ids.length], ids: plain(last.ids), counts: plain(last.counts),"
        " places: last.centers.flatMap(plain)}, points: {sizes: [n], slots: plain(last.slots),"
        " places: last.points.flatMap(plain)}, events: {sizes: [0], kinds: [], ids: [], others: [],"
        " gaps: [], displacements: []}}"
    )
    shown.run("dynmeansReport.append(arguments[0])", chunk)
    shown.settle()
    assert shown.text("#filter-now") == f"160 of {480 + len(chunk['points']['slots'])} rows"
    assert shown.find("#histograms .value-row").get_attribute("aria-pressed") == "true"


def shared_names(page, values):
    """What clusters 0, 1 and 2 are called where these are the values of a carried column."""
    return page.run(
        "const {store, view} = dynmeansReport; const {rows} = view; const values = arguments[0];"
        "rows.carried = [{name: 'berth', kind: 'category',"
        " values: Array.from(rows.owner, (id) => values[id])}];"
        "store.sharedValues = undefined; view.notify(new Set(['rows']));"
        "return [0, 1, 2].map((id) => store.label(id))",
        values,
    )


def test_clusters_that_share_a_value_have_their_numbers_beside_it(shown):
    assert shared_names(shown, ["Kiel", "Kiel", "Oslo"]) == ["Kiel (0)", "Kiel (1)", "Oslo"]


def test_a_value_of_nearly_all_clusters_names_none(shown):
    assert shared_names(shown, ["ship", "ship", "ship"]) == ["0", "1", "2"]


def test_a_value_of_many_clusters_names_none_of_them(shown):
    """A place that most flights leave from does not tell clusters of flights apart."""
    names = shown.run(
        "const {store, view} = dynmeansReport; const n = 12; const [first] = store.batches;"
        "const rows = { owner: Int32Array.from({length: 2 * n}, (_, at) => at >> 1), carried: ["
        "{name: 'origin', kind: 'category', values: Array.from({length: 2 * n}, (_, at) =>"
        " ['A', 'B', 'C', 'D'][at >> 1] ?? 'SFO')}] };"
        "const eachRow = (call) => rows.owner.forEach((_, at) => call(null, 0, at));"
        "const named = dynmeansReport.sharedValues({ header: {}, eachRow }, rows);"
        "return [...named.values()]"
    )
    assert names == ["A", "B", "C", "D"]


def test_the_parts_of_the_panel_have_their_full_height_on_a_desktop(shown):
    shown.run("dynmeansReport.view.select(1)")
    shown.settle()
    assert shown.run("return document.querySelector('#examples').clientHeight") > 100


def test_hours_and_weekdays_of_a_cluster_are_compared_however_many_columns_there_are(shown):
    shown.run(
        "const {view, store} = dynmeansReport; const {rows} = view;"
        "const more = Array.from({length: 9}, (_, k) => ({ ...rows.own[0], name: `c${k}`,"
        " value: (batch) => batch.index }));"
        "const clocks = rows.columns.filter(({kind}) => kind === 'hour' || kind === 'weekday');"
        "rows.columns = [...more, ...clocks]; view.select([...store.clusters.keys()][0]);"
        "view.notify(new Set(['examples']))"
    )
    shown.settle()
    names = shown.texts(".compared figcaption")
    assert names[-2:] == ["hour of day", "weekday"]
    assert len(names) == 8


def test_a_number_as_a_name_stands_behind_its_column(shown):
    assert shared_names(shown, ["7", "8", "9"]) == ["berth 7", "berth 8", "berth 9"]


def test_the_summary_calls_clusters_as_the_lists_do(shown):
    names = shared_names(shown, ["Kiel", "Oslo", "Riga"])
    largest = shown.run(
        "const all = [...dynmeansReport.store.clusters.values()];"
        "return String(all.reduce((a, b) => (b.total > a.total ? b : a)).id)"
    )
    assert f"{names[int(largest)]} (cluster {largest})" in shown.text("#summary-lead")


def test_contents_begin_with_clusters_that_have_more_of_the_filtered_rows(shown):
    value = shown.text("#histograms .value-row .value-name")
    shown.click("#histograms .value-row")
    shown.click("[data-key='tab-Contents']")
    first, *_ = shown.texts("#contents .entry")
    assert value in first
    assert "160 of 160" in first
