"""The page itself: its parts and the data put together into one file."""

import base64
import hashlib
import html
import os
import re
from importlib.resources import files
from pathlib import Path

from dynmeans.files.whole_file import whole_file
from dynmeans.inputs.input_error import InputError
from dynmeans.report.data import ReportData
from dynmeans.report.packing import report_json

STYLES = ("theme.css", "layout.css", "parts.css", "lists.css", "narrow.css")
# In the order in which one builds on the other.
SCRIPTS = (
    "numbers.js",
    "elements.js",
    "looks.js",
    "families.js",
    "cluster.js",
    "store.js",
    "view.js",
    "filters.js",
    "virtual_list.js",
    "time_scale.js",
    "camera.js",
    "scene.js",
    "names.js",
    "courses.js",
    "scene_axes.js",
    "point_layer.js",
    "stamps.js",
    "svg_canvas.js",
    "marks.js",
    "scene_pointer.js",
    "player.js",
    "timeline.js",
    "charts.js",
    "details.js",
    "event_list.js",
    "facts.js",
    "transport.js",
    "beside.js",
    "downloads.js",
    "permalink.js",
    "main.js",
)
LIVE_SCRIPTS = ("editing.js", "live.js")  # of a page that a server feeds


_BESIDE = '\n<script type="application/json" id="report-data-beside">{}</script>'


def render_report(
    data: ReportData, beside: ReportData | None = None, *, live: str | None = None
) -> str:
    """Return the page as text: the same text for the same data.

    With `beside`, the page shows two reports side by side, which move through time together.
    A live page, given the `run_id` of its run, asks the server that it came from for more, and
    for nothing else.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> from dynmeans.report import report_data
    >>> _, history = DynamicMeans(1.0, random_state=0).fit_sequence([[[0.0], [9.0]], [[9.2]]])
    >>> render_report(report_data(history))[:15]
    '<!DOCTYPE html>'
    """
    style = "\n".join(_part(name) for name in STYLES)
    names = (*SCRIPTS, *LIVE_SCRIPTS) if live is not None else SCRIPTS
    script = '"use strict";\n(() => {\n' + "\n".join(_part(name) for name in names) + "})();\n"
    parts = {
        "policy": _policy(style, script) + ("; connect-src 'self'" if live is not None else ""),
        "run": "" if live is None else f' data-run="{html.escape(live)}"',
        "title": html.escape(data.title),
        "style": style,
        "script": script,
        "data": report_json(data),
        "beside": "" if beside is None else _BESIDE.format(report_json(beside)),
    }
    return re.sub(r"\{\{ (\w+) \}\}", lambda place: parts[place[1]], _part("page.html"))


def write_report(
    data: ReportData, path: str | os.PathLike[str], *, beside: ReportData | None = None
) -> Path:
    """Write the page to one file, replacing an old one only once all is on disk.

    Parameters
    ----------
    data : ReportData
        What `report_data` returned.
    path : str or path
        Where to write; its folder must exist.
    beside : ReportData, optional
        Another report to show beside it.

    Returns
    -------
    pathlib.Path
        Where the page is.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError("path", "must lie in a folder that exists", got=str(path))
    page = render_report(data, beside)
    with whole_file(path) as temporary:
        Path(temporary).write_text(page, encoding="utf-8", newline="\n")
    return path


def _part(name: str) -> str:
    return files("dynmeans.report").joinpath("page", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Allow this style and this script and nothing else: no request can leave the page."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; "
        f"script-src '{_digest(script)}'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
