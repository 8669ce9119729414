"""The page on which anybody tries dynmeans on a file, in the browser alone."""

import base64
import gzip
import os
from pathlib import Path

import numpy as np

from dynmeans.datasets.harbor import harbor_traffic
from dynmeans.engine.checks import entropy_of_seed
from dynmeans.plots.earth import earth
from dynmeans.records.events import KINDS
from dynmeans.records.penalties import DEFAULT_MAX_GAP, DEFAULT_REACH
from dynmeans.report.encode import STYLE, in_script
from dynmeans.report.render_page import (
    ENGINE_SCRIPTS,
    SCRIPTS,
    STYLES,
    concat_page_files,
    encode_engine,
    fill_template,
    policy_of,
    script_of,
    write_page,
)

TRY_SCRIPTS = (
    "data/numbers.js",
    "data/elements.js",
    "try/parquet.js",
    "try/tables.js",
    "try/proposals.js",
    "try/stream.js",
    "try/try.js",
)


def render_try_page() -> str:
    """Return the page as text: one file that needs no network.

    A reader drops a CSV, JSON lines or Parquet file; columns, time, windows and a scale are
    proposed, and the report of the clusters is shown within the page.
    """
    report_style = concat_page_files(*STYLES, "style/panel.css")
    report_script = script_of(*SCRIPTS[:-1], *ENGINE_SCRIPTS, SCRIPTS[-1])
    style = f"{report_style}\n{concat_page_files('try/try.css')}"
    script = script_of(*TRY_SCRIPTS)
    report = fill_template(
        "page.html",
        {
            "policy": policy_of([report_style], [report_script], has_engine=True),
            "run": "",
            "panel": concat_page_files("engine/panel.html"),
            "style": report_style,
            "script": report_script,
            "beside": "",
            "rows": "",
        },
    )
    return fill_template(
        "try/try.html",
        {
            "policy": policy_of([style, report_style], [script, report_script], has_engine=True),
            "style": style,
            "script": script,
            "settings": in_script(_settings()),
            "page": in_script(report),
            "engine": encode_engine(),
        },
    )


def write_browser_page(path: str | os.PathLike[str]) -> Path:
    """Write the page to one file, replacing an old one only once all is on disk."""
    return write_page(path, render_try_page)


def _settings() -> dict[str, object]:
    """What the page needs from the package: style, defaults, and an example."""
    entropy = int(entropy_of_seed(0))
    return {
        "style": STYLE,
        "event_kinds": list(KINDS),
        "earth": earth(),
        "max_gap": DEFAULT_MAX_GAP,
        "reach": DEFAULT_REACH,
        "search": "split",
        "entropy": [entropy % 2**32, entropy >> 32],
        "ships": base64.b64encode(gzip.compress(_ships(), 9, mtime=0)).decode("ascii"),
    }


def _ships() -> bytes:
    """Three hours of simulated ships."""
    traffic = harbor_traffic(np.random.default_rng(0))
    times = np.datetime64("2026-03-01T00:00:00") + traffic.seconds.astype("timedelta64[s]")
    rows = zip(times, traffic.positions, strict=True)
    lines = [f"{time},{lon:.4f},{lat:.4f}" for time, (lon, lat) in rows]
    return "\n".join(["time,lon,lat", *lines, ""]).encode()
