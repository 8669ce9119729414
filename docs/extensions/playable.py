"""Pages of the site that are played, not read: a report of ships, and the page to try a file on."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from sphinx.application import Sphinx

from dynmeans import DynamicMeans, Penalties
from dynmeans.datasets.harbor import harbor_traffic
from dynmeans.report import report_data, write_report
from dynmeans.report.browser_page import write_browser_page
from dynmeans.report.recluster_settings import ReclusterSettings

_WINDOW = 120.0  # seconds


def write_pages(app: Sphinx, problem: Exception | None) -> None:
    """Write both beside the site's own pages."""
    if problem is None and app.builder.name == "html":
        write_ships(Path(app.outdir) / "ships.html")
        write_browser_page(Path(app.outdir) / "try.html")


def write_ships(path: Path) -> Path:
    """Follow three hours of simulated ships, two minutes at a time."""
    traffic = harbor_traffic(np.random.default_rng(0))
    windows = (traffic.seconds // _WINDOW).astype(int)
    numbers = np.unique(windows)
    batches = [traffic.positions[windows == number] for number in numbers]
    penalties = Penalties(8.5e-5, max_gap=6.8, reach=2.0, motion="constant_velocity")
    _, history = DynamicMeans(penalties=penalties, random_state=0).fit_sequence(batches)
    start = datetime(2026, 3, 1, tzinfo=UTC)
    data = report_data(
        history,
        points=batches,
        feature_names=["lon", "lat"],
        times=[start + timedelta(seconds=float(number) * _WINDOW) for number in numbers],
        title="Ships around a harbor",
    )
    return write_report(data.with_recluster(ReclusterSettings(penalties)), path)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx what this extension does."""
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True}
