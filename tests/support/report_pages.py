"""A stream whose clusters are known, and a report of it open in a browser."""

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.support.ui import WebDriverWait

from dynmeans import DynamicMeans, History

DESKTOP, PHONE = (1280, 900), (390, 800)
FEATURES = ("<i>east</i>", "north \"'&")
TITLE = "</script><script>window.broken = true</script><b>Stream</b> & {{ data }}"


@dataclass(frozen=True)
class Stream:
    """Points around places that are seen in some batches only."""

    batches: list[np.ndarray]
    history: History


def make_stream(n_steps: int = 12) -> Stream:
    """0 stays, 1 is away in the middle, 2 comes later, 3 leaves and is forgotten."""
    rng = np.random.default_rng(7)
    batches = []
    for step in range(n_steps):
        seen = [(0.0, 0.1 * step, 30)]
        if not 4 <= step < 7:
            seen.append((4.0, 0.0, 20))
        if step < 3:
            seen.append((0.0, 6.0, 5))
        if step >= 5:
            seen.append((4.0, 6.0, 10))
        batches.append(np.vstack([rng.normal((x, y), 0.1, size=(n, 2)) for x, y, n in seen]))
    model = DynamicMeans(new_penalty=1.0, max_gap=5, reach=1.5, random_state=0)
    return Stream(batches, model.fit_sequence(batches)[1])


class Page:
    """A report open in the browser."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, path: Path) -> None:
        self.driver.get("about:blank")
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(path.as_uri())

    def show_as(self, size=DESKTOP, scheme="light", motion="no-preference") -> None:
        """Be a screen of this size, and a reader of these preferences."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": motion},
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.wait(f"innerWidth === {width}")
        self.settle()

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str):
        return self.driver.find_element("css selector", selector)

    def find_all(self, selector: str):
        return self.driver.find_elements("css selector", selector)

    def click(self, selector: str) -> None:
        """Bring it to the middle of the screen, as a reader would, and click it."""
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.settle()
        self._with_fresh_elements(lambda: self.find(selector).click())
        self.settle()

    def text(self, selector: str) -> str:
        return self._with_fresh_elements(lambda: " ".join(self.find(selector).text.split()))

    def texts(self, selector: str) -> list[str]:
        return self._with_fresh_elements(lambda: [at.text for at in self.find_all(selector)])

    def _with_fresh_elements(self, action):
        """Do it again where the page redrew an element between finding and using it."""
        done = []
        wait = WebDriverWait(self.driver, 10, 0.02, [StaleElementReferenceException])
        wait.until(lambda _: done.append(action()) or True)
        return done[0]

    def wait(self, script: str) -> None:
        """Wait until the expression is true."""
        wait = WebDriverWait(self.driver, 10, poll_frequency=0.02)
        wait.until(lambda driver: driver.execute_script(f"return {script};"), script)

    def go_to(self, index: int) -> None:
        self.run("dynmeansReport.view.goTo(arguments[0])", index)
        self.settle()

    def settle(self) -> None:
        """Wait until what was asked for is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; const frame = requestAnimationFrame;"
            "const isDrawn = () => typeof waiting === 'undefined' || waiting.length === 0;"
            "const look = (n) => frame(() => (n && isDrawn() ? done() : look(n + 1)));"
            "frame(() => frame(() => look(0)));"
        )

    def barriers(self) -> list[str]:
        """Return what axe-core finds that keeps somebody from using the page."""
        axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
        self.driver.execute_script(axe)
        return self.driver.execute_async_script(
            "const done = arguments[0]; const told = ({ id, nodes }) =>"
            " nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`);"
            "axe.run(document, { iframes: false }).then((found) =>"
            " done(found.violations.flatMap(told)));"
        )

    def messages(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the address of everything asked for since the page was opened."""
        entries = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        sent = [
            entry["params"] for entry in entries if entry["method"] == "Network.requestWillBeSent"
        ]
        return [params["request"]["url"] for params in sent]
