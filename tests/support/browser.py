"""A real browser, where there is one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

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


def find_browser() -> tuple[str, str]:
    """Return the paths of Chromium and its driver; skip the test where there is none."""
    browser, driver = _find(BROWSERS), _find(DRIVERS)
    if not (browser and driver):
        pytest.skip("needs chromium and chromedriver: make system-deps installs them")
    return browser, driver


@contextmanager
def open_browser(paths: tuple[str, str], folder: Path) -> Iterator[webdriver.Chrome]:
    """Open a browser whose own files lie in `folder`."""
    binary, driver_binary = paths
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver_binary))
    try:
        yield chrome
    finally:
        chrome.quit()


def _find(names: tuple[str, ...]) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)
