"""Pages of long streams and of streams with gaps, in a real browser."""

import numpy as np
import pytest

from dynmeans import DynamicMeans
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.report import report_data, write_report


@pytest.fixture
def gap_page(page, tmp_path):
    """Three batches, seven windows without rows, two batches; a cluster is born after them."""
    times = (1.0, 2.0, 3.0, 11.0, 12.0)
    batches = [np.array([[0.0], [9.0]] if time > 3 else [[0.0]]) for time in times]
    _, history = DynamicMeans(1.0, max_gap=20, random_state=0).fit_sequence(
        batches, elapsed=np.diff(times, prepend=0.0)
    )
    page.open(write_report(report_data(history, points=batches), tmp_path / "gap.html"))
    page.settle()
    return page


def bars_of(page, cluster_id):
    """Return from when to when each bar of a cluster's life goes."""
    return page.run(
        "const box = (at) => at.getBoundingClientRect();"
        "const {left, width} = box(document.querySelector('#lives-axis'));"
        "const time = (x) => Math.round(10 * (0.5 + (12 * (x - left)) / width)) / 10;"
        "return [...document.querySelectorAll(`#lives-${arguments[0]} .stretch`)]"
        ".map((bar) => [time(box(bar).left), time(box(bar).right)]);",
        cluster_id,
    )


def test_the_bar_of_a_life_begins_with_its_birth_not_in_the_empty_time_before(gap_page):
    assert bars_of(gap_page, 1) == [[10.5, 12.5]]


def test_the_bar_of_a_life_is_open_where_there_were_no_rows(gap_page):
    assert bars_of(gap_page, 0) == [[0.5, 3.5], [10.5, 12.5]]


def test_the_charts_draw_nothing_where_there_were_no_rows(gap_page):
    path = gap_page.find("#chart-points .line:not(.area)").get_attribute("d")
    assert path.count("M") == 2


@pytest.fixture(scope="module")
def long_path(tmp_path_factory):
    """A thousand batches with more than 600 clusters in all, about 60 at a time."""
    rng = np.random.default_rng(3)
    stream = moving_gaussians(
        n_steps=1000,
        n_clusters=60,
        rng=rng,
        n_features=3,
        spread=0.02,
        motion=0.01,
        death=0.01,
        vanish=0.03,
    )
    model = DynamicMeans(new_penalty=0.02, max_gap=6, reach=2, n_init=1, random_state=0)
    _, history = model.fit_sequence(stream.batches)
    assert len(history.cluster_ids) > 500
    data = report_data(history, points=stream.batches)
    return write_report(data, tmp_path_factory.mktemp("long") / "long.html")


@pytest.mark.slow
def test_a_thousand_batches_and_hundreds_of_clusters_make_no_more_elements(page, long_path):
    page.open(long_path)
    page.settle()
    assert page.messages() == []
    assert page.run("return document.querySelectorAll('*').length") < 2500


@pytest.mark.slow
def test_a_long_stream_is_drawn_quickly_enough_to_be_played(page, long_path):
    page.open(long_path)
    page.settle()
    # The picture and every other part, without the wait for the screen; 60 ms are 16 a second.
    milliseconds = page.run(
        "const {view, player} = dynmeansReport; const times = [];"
        "for (let index = 500; index < 530; index += 1) {"
        " const start = performance.now(); view.goTo(index); player.draw();"
        " times.push(performance.now() - start); }"
        "return times.sort((a, b) => a - b)[15];"
    )
    assert milliseconds < 60


@pytest.mark.slow
def test_the_last_of_hundreds_of_clusters_is_found_by_its_number(page, long_path):
    page.open(long_path)
    last = max(map(int, page.run("return [...dynmeansReport.store.clusters.keys()]")))
    page.find("#lives-find").send_keys(str(last))
    page.settle()
    assert page.text("#details-name") == f"Cluster {last}"
    assert page.find(f"#lives-{last}").is_displayed()
