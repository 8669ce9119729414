"""Warnings, their remedies and the summary: nothing makes the answer worse without saying so."""

import re

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.support.ui import WebDriverWait

import dynmeans
from dynmeans import DynamicMeans
from dynmeans.report import report_data, write_report

ADVICE = [
    {"families": "True"}, {"method": "'hdbscan'", "new_penalty": ""}, {"method": "'detections'"},
    {"min_cluster_size": ""}, {"level": "'coarse'"}, {"suggested_matches": "", "max_gap": "40"},
    {"new_penalty": ""}, {"n_clusters": ""},
]  # fmt: skip


def rows_of(n_windows=30):
    """Six places of two subclusters each; most are away for long and come again."""
    rng = np.random.default_rng(3)
    rows = []
    for window in range(n_windows):
        for place in range(6):
            is_there = place == 0 or (window + 5 * place) % 15 < 8
            for side in (0.0, 1.0):
                if is_there:
                    found = rng.normal((20.0 * place + side, 0.0), 0.2, (15, 2))
                    rows += [(window, *point) for point in found.tolist()]
    return pd.DataFrame(rows, columns=["n", "east", "north"])


def page_of(tmp_path_factory, level):
    folder = tmp_path_factory.mktemp(level) / "run"
    found = dynmeans.cluster(
        rows_of(), features=["east", "north"], window_column="n", new_penalty=0.4, max_gap=2.5,
        level=level, run_folder=folder,
    )  # fmt: skip
    return found, found.report(folder.parent / "page.html")


@pytest.fixture(scope="module")
def joined(tmp_path_factory):
    return page_of(tmp_path_factory, "default")


@pytest.fixture(scope="module")
def fine(tmp_path_factory):
    return page_of(tmp_path_factory, "fine")


@pytest.fixture
def shown(page, joined):
    page.open(joined[1])
    page.settle()
    return page


def warn(page, advises, text="Something.", **more):
    page.run(
        "dynmeansReport.describe({ warnings: [arguments[0]] })",
        {"text": text, "advises": advises, **more},
    )
    page.settle()


def numbers(page):
    names, values = page.texts("#numbers dt"), page.texts("#numbers dd")
    found = dict(zip(names, values, strict=True))
    return {name: int(value.split(" ")[0].replace(",", "")) for name, value in found.items()}


def lead(page):
    return page.text("#summary-lead")


def check_lead(page):
    """The numbers of the summary are those of the header."""
    n = numbers(page)
    text = lead(page)
    assert text.startswith(f"{n['points']:,} points in {n['batches']:,} batches: ")
    assert re.search(rf": {n['clusters']:,} (sub)?clusters?[ ,]", text)
    assert f" {n['in the last batch']:,} in the last batch. " in text
    largest = page.run(
        "const all = [...dynmeansReport.store.clusters.values()];"
        "return Math.round(Math.max(...all.map(({total}) => total)))"
    )
    assert f"with {largest:,} points" in text


@pytest.mark.parametrize("level", ["joined", "fine"])
def test_no_remedy_raises_the_number_of_clusters_without_saying_so(page, request, level):
    path = request.getfixturevalue(level)[1]
    for advises in ADVICE:
        page.open(path)
        page.settle()
        before = numbers(page)["clusters"]
        warn(page, advises)
        for row in range(len(page.find_all("#warnings .plain"))):
            page.find_all("#warnings .plain")[row].click()
            page.settle()
            if page.find_all("#trial[open]"):
                waiting = WebDriverWait(page.driver, 20)
                waiting.until(lambda _: "found in" in page.text("#trial-status"))
            after = numbers(page)["clusters"]
            assert after <= before or "more than" in page.text("#trial-status"), advises
            check_lead(page)
            if page.find_all("#trial[open]"):
                page.click("#trial-back")
                page.run("document.querySelector('#trial').open = false")
    assert page.messages() == []


def test_a_preview_is_no_remedy_for_a_run_that_joins_subclusters(shown):
    warn(shown, {"max_gap": "40"})
    assert shown.texts("#warnings .plain") == ["Copy a call with max_gap=40"]
    shown.click("#warnings .plain")
    python, command = shown.find("#remedy-calls").text.split("\n")
    assert python.endswith("max_gap=40)")
    assert python.count("max_gap") == command.count("max-gap") == 1
    warn(shown, {"new_penalty": ""})
    assert shown.texts("#warnings .plain") in ([], ["Show the level coarse"])


def test_a_preview_states_that_it_does_not_join(shown, joined):
    n_subclusters = len(joined[0].subclusters)
    shown.click("#trial summary")
    assert "does not join" in shown.text("#trial-joined")
    shown.run(
        "const field = document.querySelector('#trial-distance'); field.value = '0.5';"
        "field.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    WebDriverWait(shown.driver, 20).until(lambda _: "found in" in shown.text("#trial-status"))
    shown.settle()
    said = shown.text("#trial-status")
    assert re.match(r"[\d,]+ subclusters, (more than|fewer than|as many as) the ", said)
    assert f"the {n_subclusters:,} of the run before it joins them" in said
    assert "subclusters in this preview with other parameters" in lead(shown)
    check_lead(shown)


def test_the_advised_method_is_the_remedy(shown):
    warn(shown, {"new_penalty": "", "method": "'hdbscan'"})
    assert shown.texts("#warnings .plain") == ["Use HDBSCAN"]
    shown.click("#warnings .plain")
    python, command = shown.find("#remedy-calls").text.split("\n")
    assert python.endswith("method='hdbscan')")
    assert "--method hdbscan" in command
    assert "cannot cluster rows with HDBSCAN" in shown.text("#remedy-hint")


def test_matches_are_shown_as_pairs_and_apart_again(shown):
    assert shown.run("return dynmeansReport.store.header.suggested_matches.length") > 2
    warn(shown, {"suggested_matches": ""})
    sizes = "return [...dynmeansReport.store.clusters].map(([id, {total}]) => [id, total])"
    before = dict(shown.run(sizes))
    pairs = shown.run("return [...dynmeansReport.levels.pairs]")
    both = [k for pair in pairs for k in pair]
    assert len(both) == len(set(both)) > 0
    n_pairs = f"{len(pairs)} pair{'s' * (len(pairs) > 1)}"
    assert shown.text("#warnings .plain") == f"Show {n_pairs} as one"
    shown.click("#warnings .plain")
    after = dict(shown.run(sizes))
    assert len(after) == len(before) - len(pairs) == numbers(shown)["clusters"]
    assert {old: after[old] for _, old in pairs} == {
        old: before[old] + before[young] for young, old in pairs
    }
    assert f"with {n_pairs} of clusters shown as one" in lead(shown)
    check_lead(shown)
    assert shown.text("#warnings .plain") == "Show separately"
    shown.click("#warnings .plain")
    assert dict(shown.run(sizes)) == before


def test_a_chain_of_matches_or_clusters_seen_together_are_no_pairs(shown):
    pairs = shown.run(
        "const {store, levels} = dynmeansReport; const base = levels.base.clusters;"
        "levels.choose('fine');"
        "const byEnd = [...base.values()].sort((a, b) => a.batches[0] - b.batches[0]);"
        "const next = (one) => byEnd.find((other) => other.batches[0] > one.batches.at(-1));"
        "const a = byEnd[0].batches.length < 30 ? byEnd[0] : byEnd.find((one) => next(one));"
        "const b = next(a); const c = next(b) ?? b;"
        "const both = byEnd.find((one) => one !== a && one.batches[0] <= a.batches.at(-1));"
        "store.header.suggested_matches ="
        " [[a.id, b.id, 3], [b.id, c.id, 3], [both.id, a.id, 3]];"
        "return [[...levels.pairs], [b.id, a.id]]"
    )
    assert pairs[0] == [pairs[1]]


def test_the_summary_follows_the_level(shown, joined):
    found, _ = joined
    assert f"{len(found.clusters)} clusters at the level default" in lead(shown)
    check_lead(shown)
    rest = shown.run("return document.querySelector('#summary-rest').textContent")
    for name in ("fine", "coarse"):
        shown.click(f"#level-{name}")
        assert f"at the level {name}" in lead(shown)
        check_lead(shown)
        other = shown.run("return document.querySelector('#summary-rest').textContent")
        assert "At the level default, which the run has:" in other
    shown.click("#level-default")
    assert shown.run("return document.querySelector('#summary-rest').textContent") == rest


def test_the_three_levels_are_drawn_as_a_tree_and_chosen_in_it(shown):
    assert shown.find("#level-tree").is_displayed()
    colors = shown.run(
        "const canvas = document.querySelector('#level-tree');"
        "const at = (share) => { const y = Math.round(canvas.height * share);"
        " const {data} = canvas.getContext('2d').getImageData(0, y, canvas.width, 1);"
        " return new Set(Array.from({length: canvas.width}, (_, x) =>"
        " data.slice(4 * x, 4 * x + 3).join())).size; };"
        "return [at(0.95), at(0.62)]"
    )
    assert min(colors) > 3
    for share, name in ((0.05, "coarse"), (0.5, "default"), (0.95, "fine")):
        shown.run(
            "const tree = document.querySelector('#level-tree');"
            "tree.scrollIntoView({block: 'center'}); tree.setPointerCapture = () => {};"
            "const {left, top, height} = tree.getBoundingClientRect();"
            "tree.dispatchEvent(new PointerEvent('pointerdown', {pointerId: 1, bubbles: true,"
            " clientX: left + 9, clientY: top + arguments[0] * height}))",
            share,
        )
        shown.settle()
        assert shown.run("return dynmeansReport.levels.name") == name
    assert shown.barriers() == []


def test_a_warning_is_short_until_it_is_opened(shown):
    warn(
        shown, {}, "clusters touch. Try families=True or dynmeans families run.",
        short="clusters touch.",
    )  # fmt: skip
    assert shown.text(".warning-text") == "Clusters touch."
    shown.click(".warning-text")
    assert shown.text(".warning-text").endswith("families=True or dynmeans families run.")


def test_warnings_of_a_run_have_no_calls_in_their_first_line(shown):
    told = shown.texts(".warning-text")
    assert any("appeared near a forgotten one" in text for text in told)
    assert not any("result." in text or "max_gap=" in text or "--" in text for text in told)


def test_the_page_of_a_frame_is_named_after_its_columns(shown, tmp_path):
    assert shown.driver.title == "Clusters of run"
    found = dynmeans.cluster(
        rows_of(6), features=["east", "north"], window_column="n", new_penalty=0.4
    )
    shown.open(found.report(tmp_path / "frame.html"))
    assert shown.driver.title == "Clusters of east, north"


def test_kinds_of_rows_that_are_not_shown_do_not_look_disabled(shown):
    shown.run("dynmeansReport.view.select([...dynmeansReport.store.clusters.keys()][0])")
    shown.settle()
    line = "return getComputedStyle(document.querySelector(arguments[0])).textDecorationLine"
    assert shown.run(line, "[data-key='rows-border']") == "none"
    shown.click("#event-kinds .chip")
    assert shown.run(line, "#event-kinds .chip") == "line-through"


def test_events_name_the_other_cluster(page, tmp_path):
    rng = np.random.default_rng(0)
    batches = [rng.normal([[0.0, 0.0], [9.0, 0.0]], 0.1, (2, 2)) for _ in range(3)]
    _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    data = report_data(history, points=batches).with_names({0: "harbor", 1: "anchorage"})
    page.open(write_report(data, tmp_path / "named.html"))
    page.settle()
    page.run(
        "const {store, view} = dynmeansReport; const {batch} = view;"
        "const event = { batch, id: 1, other: 0, gap: NaN, displacement: NaN };"
        "for (const kind of ['split', 'merged']) {"
        " batch.events.push({ ...event, kind }); store.events.push({ ...event, kind }); }"
        "store.notify()"
    )
    page.settle()
    assert {"from harbor", "into harbor"} <= set(page.texts("#details .event .hint"))
    assert {"from harbor", "into harbor"} <= set(page.texts("#events .event .hint"))


def test_the_timeline_begins_with_the_largest_cluster(shown):
    largest = shown.run(
        "const all = [...dynmeansReport.store.clusters.values()];"
        "return all.reduce((a, b) => (b.total > a.total ? b : a)).id"
    )
    assert shown.texts("#lives .row-name")[0] == str(largest)
