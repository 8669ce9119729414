"""The live page in a real browser: it grows, takes names, and needs no reload."""

import pytest
from browser import find_browser, open_browser
from report_pages import Page
from run_cases import PENALTIES
from serving import served, windows

from dynmeans import Run
from dynmeans.runs.configuration import RunConfig


@pytest.mark.slow
def test_a_live_page_grows_and_takes_names(tmp_path):
    folder = tmp_path / "run"
    with Run.create(folder, RunConfig(("x", "y"), PENALTIES)) as run:
        run.process(windows(3))
    with served(folder) as address, open_browser(find_browser(), tmp_path / "browser") as driver:
        page = Page(driver)
        driver.get(address)
        page.wait("window.dynmeansReport && dynmeansReport.store.batches.length === 3")
        with Run.open(folder) as run:
            run.process(windows(4, first=3))
        page.wait("dynmeansReport.store.batches.length === 7")
        assert page.run("return dynmeansReport.view.index") == 6
        driver.execute_async_script(
            "const done = arguments[0]; dynmeansReport.rename(1, '<b>tug</b>').then(() => done())"
        )
        page.wait("dynmeansReport.store.header.cluster_names[1] === '<b>tug</b>'")
        page.settle()
        assert page.run("return document.querySelectorAll('b').length") == 0
        severe = [text for text in page.messages() if "favicon" not in text]
        assert severe == []
