"""A stream small enough to check by hand, its page, and a real browser to open it in."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import find_browser, open_browser
from report_pages import FEATURES, TITLE, Page, Stream, make_stream
from selenium import webdriver

from dynmeans.report import report_data, write_report


@pytest.fixture(scope="session")
def stream() -> Stream:
    return make_stream()


@pytest.fixture(scope="session")
def report_path(stream, tmp_path_factory) -> Path:
    """The stream's page, with names that try to break out of their places."""
    data = report_data(
        stream.history,
        points=stream.batches,
        feature_names=FEATURES,
        parameters={"new_penalty": 1.0, "<u>name</u>": "<u>value</u>"},
        scores={"accuracy_global": 0.9375, "id_switches": 3},
        title=TITLE,
    )
    return write_report(data, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="session")
def browser_paths() -> tuple[str, str]:
    """Find Chromium and its driver."""
    return find_browser()


@pytest.fixture(scope="session")
def driver(browser_paths, tmp_path_factory) -> Iterator[webdriver.Chrome]:
    with open_browser(browser_paths, tmp_path_factory.mktemp("browser")) as chrome:
        yield chrome


@pytest.fixture
def page(driver, report_path) -> Page:
    """The stream's page on a laptop."""
    shown = Page(driver)
    shown.show_as()
    shown.open(report_path)
    shown.settle()
    return shown
