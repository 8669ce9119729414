"""A stream small enough to check by hand, its page, and a real browser to open it in."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from report_pages import FEATURES, TITLE, Page, Stream, make_stream
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from dynmeans.report import report_data, write_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DRIVERS = ("chromedriver", "chromium.chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
)


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


def _find(names: tuple[str, ...]) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser_paths() -> tuple[str, str]:
    """Find Chromium and its driver."""
    browser, driver = _find(BROWSERS), _find(DRIVERS)
    if not (browser and driver):
        pytest.skip("needs chromium and chromedriver: make system-deps installs them")
    return browser, driver


@pytest.fixture(scope="session")
def driver(browser_paths, tmp_path_factory) -> Iterator[webdriver.Chrome]:
    binary, driver_binary = browser_paths
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver_binary))
    yield chrome
    chrome.quit()


@pytest.fixture
def page(driver, report_path) -> Page:
    """The stream's page on a laptop."""
    shown = Page(driver)
    shown.show_as()
    shown.open(report_path)
    shown.settle()
    return shown
