"""Levels in a real browser: small pictures, the tree, and the whole page regrouped."""

import json

import numpy as np
import pandas as pd
import pytest

import dynmeans
from dynmeans import DynamicMeans, find_families
from dynmeans.records.families import Families
from dynmeans.report import report_data, write_report
from dynmeans.report.encode import pack_chunk

CENTERS = np.array([[0.0, 0.0], [1.0, 0.0], [20.0, 0.0], [21.0, 0.0], [60.0, 0.0], [61.0, 0.0]])


def pairs(n_steps=5):
    """Three pairs of clusters, each pair one family."""
    rng = np.random.default_rng(0)
    return [np.repeat(CENTERS, 12, axis=0) + rng.normal(0, 0.03, (72, 2)) for _ in range(n_steps)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    batches = pairs()
    labels, history = DynamicMeans(0.3, max_gap=3, random_state=0).fit_sequence(batches)
    data = report_data(history, points=batches, feature_names=["east", "north"])
    data = data.with_families(find_families(batches, labels))
    return write_report(data, tmp_path_factory.mktemp("levels") / "levels.html")


@pytest.fixture
def shown(page, path):
    page.open(path)
    page.settle()
    return page


def pairs_of(page):
    """The clusters from left to right, two of a pair together, the older first."""
    ids, places = page.run(
        "const {ids, centers} = dynmeansReport.view.batch; return [[...ids], [...centers[0]]]"
    )
    order = [ids[at] for at in np.argsort(places)]
    return [sorted(order[at : at + 2]) for at in (0, 2, 4)]


def levels_of(page):
    """Options of the run itself, set on a page as its header would; returns the pairs."""
    found = pairs_of(page)
    joined = {str(young): old for old, young in found}
    noise = {str(k): -1 for k in found[2]}
    options = [
        ("fine", "6 subclusters as found.", 0.0, {}),
        ("default", "3 clusters.", 0.0, joined),
        ("coarse", "2 clusters.", 0.33, joined | noise),
    ]
    names = ("name", "sentence", "noise", "clusters")
    told = [dict(zip(names, one, strict=True)) for one in options]
    fields = {"levels": {"chosen": "default", "options": told}}
    page.run("dynmeansReport.update(JSON.parse(arguments[0]))", json.dumps(fields))
    page.settle()
    return found


def test_a_page_with_families_offers_three_small_pictures(shown):
    assert shown.texts("#level-pictures strong") == ["fine", "default", "coarse"]
    assert shown.text("#level-fine span") == "6 clusters, 6 in a batch."
    inked = shown.run(
        "return [...document.querySelectorAll('#level-pictures canvas')].map((canvas) =>"
        " canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data"
        " .some((value) => value > 0))"
    )
    assert inked == [True] * 3


def test_a_page_without_families_offers_none(page):
    assert not page.find("#levels-part").is_displayed()


def test_choosing_a_level_changes_all_of_the_page(shown):
    old = sorted(first for first, _ in levels_of(shown))
    assert shown.find("#level-fine").get_attribute("aria-pressed") == "true"
    shown.click("#level-default")
    store = "const {store, view} = dynmeansReport;"
    ids, counts, slots = shown.run(
        store + "const {ids, counts, slots} = view.batch;"
        "return [[...ids], [...counts], [...new Set(slots)]]"
    )
    assert (ids, counts, sorted(slots)) == (old, [24, 24, 24], [0, 1, 2])
    assert len(shown.texts("#lives [data-row]")) == 3
    assert shown.text("#scene-title").endswith("3 clusters · 72 points")
    centers = shown.run("return dynmeansReport.view.batch.centers.map((axis) => [...axis])")
    np.testing.assert_allclose(sorted(centers[0]), [0.5, 20.5, 60.5], atol=0.1)
    assert len(shown.texts(".sizes .row-name")) == 3
    assert shown.text("#chart-clusters-high") == "3"
    kinds = shown.run(store + "return store.events.map(({kind, id}) => [kind, id])")
    assert sorted(kinds) == [["born", k] for k in old]
    shown.click("#level-fine")
    assert len(shown.texts("#lives [data-row]")) == 6


def test_noise_of_a_level_is_drawn_as_points_of_no_cluster(shown):
    kept = sorted(first for first, _ in levels_of(shown)[:2])
    shown.click("#level-coarse")
    ids, n = shown.run(
        "const {ids, slots} = dynmeansReport.view.batch;"
        "return [[...ids], slots.filter((slot) => slot === 65535).length]"
    )
    assert (ids, n) == (kept, 24)
    assert "33 % noise" in shown.text("#level-coarse")


def test_batches_that_come_later_are_shown_at_the_chosen_level(shown, path):
    levels_of(shown)
    shown.click("#level-default")
    batches = pairs(6)
    _, history = DynamicMeans(0.3, max_gap=3, random_state=0).fit_sequence(batches)
    chunk = pack_chunk(report_data(history.last(1), points=batches[-1:]))
    shown.run("dynmeansReport.append(JSON.parse(arguments[0]))", json.dumps(chunk))
    shown.settle()
    assert shown.run("return dynmeansReport.store.batches.map(({ids}) => ids.length)") == [3] * 6


def test_the_level_is_copied_as_python_and_as_a_command(shown):
    levels_of(shown)
    shown.click("#level-coarse")
    shown.click("#level-python")
    assert shown.text("#level-copied") == 'found = dynmeans.cluster(frame, ..., level="coarse")'
    shown.click("#level-command")
    assert shown.text("#level-copied") == "dynmeans cluster INPUT --level coarse"


def test_a_row_of_the_tree_sets_the_level_of_families(shown):
    shown.run("document.querySelector('#level-tree').scrollIntoView({block: 'center'})")
    shown.settle()
    last = shown.run(
        "const tree = document.querySelector('#level-tree'); tree.setPointerCapture = () => {};"
        "const {left, top} = tree.getBoundingClientRect();"
        "tree.dispatchEvent(new PointerEvent('pointerdown', {pointerId: 1, clientX: left + 9,"
        " clientY: top + 1, bubbles: true}));"
        "const {view} = dynmeansReport; return [view.level, view.tree.levels.length - 1]"
    )
    assert last[0] == last[1] > 0


def test_a_page_with_levels_has_no_barriers(shown):
    assert shown.barriers() == []


def test_a_warning_about_touching_clusters_is_remedied_by_the_level_that_joins_them(shown):
    warning = [{"text": "Clusters touch.", "advises": {"families": "True"}}]
    shown.run("dynmeansReport.describe({ warnings: arguments[0] })", warning)
    shown.click(".warnings .plain")
    assert shown.find("#level-default").get_attribute("aria-pressed") == "true"


@pytest.fixture(scope="module")
def joined(tmp_path_factory):
    """A run at its default level, whose groups come, go and return; and its page."""
    rng = np.random.default_rng(3)
    rows = []
    for window in range(40):
        for place in range(6):
            # Two subclusters each, of which now one and now the other is seen; or neither.
            seen = [side for side in (0.0, 1.0) if rng.random() < 0.7 and (window + place) % 9 < 6]
            for side in seen:
                found = rng.normal((20.0 * place + side, 0.0), 0.2, (15, 2))
                rows += [(window, *point) for point in found.tolist()]
    frame = pd.DataFrame(rows, columns=["n", "east", "north"])
    folder = tmp_path_factory.mktemp("joined") / "run"
    found = dynmeans.cluster(
        frame, features=["east", "north"], window_column="n", new_penalty=0.4, max_gap=2.5,
        level="default", run_folder=folder,
    )  # fmt: skip
    return found, found.report(folder.parent / "joined.html")


def test_events_of_joined_clusters_are_those_of_the_run(page, joined):
    found, path = joined
    page.open(path)
    page.settle()
    shown = page.run(
        "return dynmeansReport.store.events.map(({batch, kind, id, other, gap}) =>"
        " [batch.step, kind, id, other, Number.isFinite(gap) ? gap : -1])"
    )
    columns = ["step", "kind", "cluster_id", "other_id", "gap"]
    events = found.events[found.events["kind"] != "moved"][columns].fillna(-1)
    assert {"born", "returned", "vanished", "forgotten"} <= set(events["kind"])
    assert len(found.clusters) < len(found.subclusters)
    expected = events.to_numpy().tolist()
    assert sorted(shown) == sorted(expected)
    assert page.run("return dynmeansReport.store.batches.map((one) => one.nRemembered)") == [
        record.n_remembered for record in found.open_run().history(labels=False, joined=True)
    ]


def test_a_page_of_joined_clusters_opens_on_the_last_batch_with_nearly_the_most(page, joined):
    _, path = joined
    page.open(path)
    page.settle()
    sizes = page.run("return dynmeansReport.store.batches.map(({ids}) => ids.length)")
    last = max(at for at, size in enumerate(sizes) if size >= 0.9 * max(sizes))
    assert page.run("return dynmeansReport.view.index") == last < len(sizes) - 1


def test_a_warning_that_advises_a_level_has_a_button_for_it(shown):
    levels_of(shown)
    warning = [{"text": "Few are many.", "advises": {"level": "'coarse'"}}]
    shown.run("dynmeansReport.describe({ warnings: arguments[0] })", warning)
    assert shown.text("#warnings .plain") == "Show the level coarse"
    shown.click("#warnings .plain")
    assert shown.find("#level-coarse").get_attribute("aria-pressed") == "true"


def test_the_number_of_a_subcluster_finds_the_cluster_that_it_is_part_of(shown):
    left, *_, right = levels_of(shown)
    shown.click("#level-default")
    shown.find("#lives-find").send_keys(str(left[1]))
    shown.settle()
    assert shown.text("#found") == f"{left[1]} is a part of Cluster {left[0]}"
    assert shown.text("#details-name") == f"Cluster {left[0]}"
    shown.click("#level-coarse")
    shown.find("#lives-find").clear()
    shown.find("#lives-find").send_keys(str(right[0]))
    shown.settle()
    assert shown.text("#found") == f"{right[0]} is noise at this level"


def test_a_cluster_that_is_seen_after_it_was_forgotten_is_not_said_to_be_forgotten(shown):
    status = shown.run(
        "const {store} = dynmeansReport; const one = store.clusters.get(0);"
        "Object.assign(one, {batches: [0, 3], slots: [0, 0]});"
        "one.events.push({kind: 'forgotten', batch: store.batches[2], id: 0});"
        "return [0, 1, 2, 3, 4].map((index) => one.status(index))"
    )
    assert status == ["seen", "unseen", "forgotten", "seen", "unseen"]


def test_a_level_of_the_tree_is_copied_as_calls_that_exist(shown):
    shown.click("#level-coarse")
    assert shown.text("#level-coarse span") == "3 clusters, 3 in a batch."
    shown.click("#level-python")
    text = shown.text("#level-copied")
    assert text.endswith("found.families.cut_to(3)")
    assert callable(Families.cut_to)
    shown.click("#level-command")
    assert shown.text("#level-copied") == "dynmeans families RUN --n-families 3"


def test_the_noise_in_the_header_is_that_of_the_level_shown(shown):
    levels_of(shown)
    counts = {"n_rows": 360, "n_noise": 7, "n_unconfirmed": 2, "n_left_out": 5}
    shown.run("dynmeansReport.describe({ counts: arguments[0] })", counts)

    def numbers():
        return dict(zip(shown.texts("#numbers dt"), shown.texts("#numbers dd"), strict=True))

    assert numbers()["rows of noise"] == "7 (1.9 %)"
    assert numbers()["unconfirmed clusters"] == "2"
    assert numbers()["rows left out"] == "5"
    shown.click("#level-coarse")
    assert numbers()["rows of noise"] == "119 (33 %)"
    shown.click("#level-default")
    assert numbers()["rows of noise"] == "7 (1.9 %)"


CALLS = {
    "folder": "'a run'",
    "run": {
        "python": "dynmeans.cluster('a.csv', time='when', every='1d', features=['x'])",
        "command": "dynmeans cluster a.csv --time when --every 1d --features x -o 'a run'",
    },
    "detections": {"python": "dynmeans.cluster(1)", "command": "dynmeans cluster 1"},
}


def test_what_is_copied_has_the_arguments_of_the_run(shown):
    shown.run("dynmeansReport.store.header.calls = arguments[0]", CALLS)
    shown.click("#level-coarse")
    shown.click("#level-python")
    first, second = shown.find("#level-copied").text.split("\n")
    assert first == f"found = {CALLS['run']['python'][:-1]}, families=True)"
    assert second == "found.families.cut_to(3)"
    shown.click("#level-command")
    assert shown.text("#level-copied") == "dynmeans families 'a run' --n-families 3"
    shown.click("#level-fine")
    levels_of(shown)
    shown.click("#level-default")
    shown.click("#level-python")
    expected = f'found = {CALLS["run"]["python"][:-1]}, level="default")'
    assert shown.text("#level-copied") == expected
    shown.click("#level-command")
    assert shown.text("#level-copied") == f"{CALLS['run']['command']} --level default"


def test_a_warning_that_advises_detections_shows_and_copies_the_calls(shown):
    warning = {"text": "All have one point.", "advises": {"method": "'detections'"}}
    shown.run(
        "Object.assign(dynmeansReport.store.header, {calls: arguments[1]});"
        "window.copied = []; Object.defineProperty(navigator, 'clipboard', {configurable: true,"
        " value: {writeText: async (text) => { copied.push(text); }}});"
        "dynmeansReport.describe({ warnings: arguments[0] })",
        [warning],
        CALLS,
    )
    assert shown.text("#warnings .plain") == "Treat rows as detections"
    shown.click("#warnings .plain")
    assert shown.find("#remedy-calls").text == "dynmeans.cluster(1)\ndynmeans cluster 1"
    assert shown.run("return copied") == ["dynmeans.cluster(1)"]
    assert shown.barriers() == []
