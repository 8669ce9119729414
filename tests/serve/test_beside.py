"""Settings that a reader tried, applied to all rows: a run beside the one that is served."""

import httpx
import numpy as np
import pytest
from browser import find_browser, open_browser
from report_pages import Page
from serving import served, windows

from dynmeans import Penalties, Run
from dynmeans.engine.wasm import WASM_MODULE
from dynmeans.follow.recipe import Recipe
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.input import Input
from dynmeans.runs.reading.window import WindowOptions


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    places = np.array([[0.0, 0.0], [3.0, 0.0], [20.0, 0.0]])
    rows = [(t, *(place + rng.normal(size=2) * 0.1)) for t in range(90) for place in places]
    text = "t,x,y\n" + "".join(f"{t},{x},{y}\n" for t, x, y in rows)
    (tmp_path / "rows.csv").write_text(text)
    return tmp_path / "rows.csv"


def cluster(table, out, penalties, search="paper"):
    options = WindowOptions(features=("x", "y"), time="t", every="10")
    recipe = Recipe(penalties=penalties, search=search, random_state=0)
    ClusterJob(Input(table), options, recipe, out).start()
    return out


def wait_until_done(address):
    for _ in range(200):
        status = httpx.get(f"{address}api/status").json()
        if not status["is_running"] and status["n_windows"] == 9:
            return
    pytest.fail("the run beside was not finished")


def test_settings_make_a_run_beside_as_the_command_would(table, tmp_path):
    folder = cluster(table, tmp_path / "run", Penalties(1.0, max_gap=5, reach=1.5))
    settings = {"new_penalty": 100.0, "max_gap": 4, "reach": 1.2, "search": "deep"}
    with served(folder) as address:
        answer = httpx.post(f"{address}/api/runs", json=settings, timeout=30).json()
        shown = f"{address}/{answer['address']}"
        wait_until_done(shown)
        assert len(httpx.get(f"{shown}api/clusters").json()) == 2
        assert len(httpx.get(f"{address}/api/clusters").json()) == 3
        assert "Clusters of rows.csv" in httpx.get(shown).text
    expected = cluster(
        table, tmp_path / "told", Penalties(100.0, max_gap=4, reach=1.2), search="deep"
    )
    with Run.open(tmp_path / "run-2") as run, Run.open(expected) as other:
        assert run.labels(frame="arrow").equals(other.labels(frame="arrow"))
        assert run.config == other.config


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"new_penalty": -1}, "new_penalty"),
        ({"max_gap": 0.5}, "max_gap"),
        ({"motion": "wild"}, "motion"),
        ({"search": "deeper"}, "search"),
        ({"rows": "/etc/passwd"}, "There is no setting 'rows'."),
    ],
)
def test_bad_settings_make_nothing(table, tmp_path, settings, told):
    folder = cluster(table, tmp_path / "run", Penalties(1.0, max_gap=5, reach=1.5))
    with served(folder) as address:
        answer = httpx.post(f"{address}/api/runs", json=settings, timeout=30)
    assert answer.status_code == 422
    assert told in answer.json()["error"]
    assert not (tmp_path / "run-2").exists()


def test_rows_that_are_gone_are_told(tmp_path):
    config = RunConfig(("x", "y"), Recipe(new_penalty=1.0, random_state=0))
    with Run.create(tmp_path / "run", config) as run:
        run.process(windows(3))
    with served(tmp_path / "run") as address:
        answer = httpx.post(f"{address}/api/runs", json={"new_penalty": 4}, timeout=30)
    assert answer.status_code == 422
    assert "cannot be read again" in answer.json()["error"]


@pytest.mark.skipif(not WASM_MODULE.exists(), reason="built without WebAssembly")
def test_a_reader_applies_what_was_tried(table, tmp_path):
    folder = cluster(table, tmp_path / "run", Penalties(1.0, max_gap=5, reach=1.5))
    with served(folder) as address, open_browser(find_browser(), tmp_path / "browser") as driver:
        page = Page(driver)
        driver.get(address)
        page.wait("window.dynmeansReport && dynmeansReport.store.batches.length === 9")
        page.click("#trial summary")
        page.run(
            "const field = document.getElementById('trial-distance'); field.value = 10;"
            "field.dispatchEvent(new Event('input', { bubbles: true }));"
        )
        page.wait("document.getElementById('trial-status').textContent.includes('found in')")
        page.click("#trial-apply")
        page.wait("location.pathname.startsWith('/beside/') && !!window.dynmeansReport")
        page.wait("dynmeansReport.store.batches.length === 9")
        assert page.run("return dynmeansReport.store.clusters.size") == 2
        assert page.messages() == []
