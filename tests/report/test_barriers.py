"""Nobody is shut out of a page: what axe-core checks, in light and dark, and on a phone."""

import pytest
from report_pages import DESKTOP, PHONE, Page

from dynmeans import Penalties
from dynmeans.report import browser_page, report_data, write_report
from dynmeans.report.recluster_settings import ReclusterSettings

SCREENS = [(DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light")]


@pytest.fixture
def page(driver):
    return Page(driver)


@pytest.fixture(scope="module")
def report_with_panel(stream, tmp_path_factory):
    data = report_data(stream.history, points=stream.batches, title="Ships")
    trial = ReclusterSettings(Penalties(1.0, max_gap=5, reach=1.2))
    return write_report(data.with_recluster(trial), tmp_path_factory.mktemp("page") / "report.html")


@pytest.mark.parametrize(("size", "scheme"), SCREENS)
def test_a_report_has_no_barriers(page, report_with_panel, size, scheme):
    page.show_as(size, scheme)
    page.open(report_with_panel)
    page.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.run("dynmeansReport.view.select(0)")
    page.settle()
    assert page.barriers() == []


@pytest.mark.parametrize(("size", "scheme"), SCREENS)
def test_the_page_for_files_has_no_barriers(page, size, scheme, tmp_path):
    page.show_as(size, scheme)
    page.open(browser_page.write_browser_page(tmp_path / "try.html"))
    assert page.barriers() == []
    page.click("#try-blobs")
    page.wait("!document.getElementById('try-labels').hidden")
    page.settle()
    assert page.barriers() == []


def test_a_button_without_a_name_is_a_barrier(page, report_with_panel):
    page.show_as()
    page.open(report_with_panel)
    page.run("document.body.append(document.createElement('button'))")
    assert any(text.startswith("button-name") for text in page.barriers())
