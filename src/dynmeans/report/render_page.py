"""The page itself: its parts and the data put together into one file."""

import base64
import gzip
import hashlib
import html
import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from dynmeans.engine.wasm import WASM_MODULE
from dynmeans.files.atomic_write import atomic_write
from dynmeans.inputs.input_error import InputError
from dynmeans.report.data import ReportData
from dynmeans.report.encode import report_json
from dynmeans.report.recluster_settings import encode_recluster
from dynmeans.report.row_columns import packed_rows

STYLES = (
    "style/theme.css",
    "style/layout.css",
    "style/parts.css",
    "style/lists.css",
    "style/filter.css",
    "style/levels.css",
    "style/narrow.css",
)
# In the order in which one builds on the other.
SCRIPTS = (
    "data/numbers.js",
    "data/elements.js",
    "data/style.js",
    "data/families.js",
    "data/cluster.js",
    "data/store.js",
    "data/row_columns.js",
    "data/rows.js",
    "data/view.js",
    "data/regroup.js",
    "data/levels.js",
    "parts/filters.js",
    "parts/virtual_list.js",
    "data/time_scale.js",
    "picture/camera.js",
    "picture/scene.js",
    "picture/names.js",
    "picture/earth.js",
    "picture/courses.js",
    "picture/scene_axes.js",
    "picture/point_layer.js",
    "picture/stamps.js",
    "picture/svg_canvas.js",
    "picture/marks.js",
    "picture/scene_pointer.js",
    "picture/player.js",
    "parts/timeline.js",
    "parts/charts.js",
    "parts/crossfilter.js",
    "parts/cluster_rows.js",
    "parts/contents.js",
    "parts/details.js",
    "parts/event_list.js",
    "parts/run_info.js",
    "parts/remedies.js",
    "parts/summary.js",
    "parts/transport.js",
    "parts/compare.js",
    "parts/level_pictures.js",
    "parts/downloads.js",
    "parts/permalink.js",
    "parts/bridge.js",
    "main.js",
)
# Of a page on which other scales can be tried; the worker has scripts of its own.
ENGINE_SCRIPTS = ("engine/spaces.js", "engine/recluster.js", "engine/panel.js")
WORKER_SCRIPTS = ("engine/engine.js", "engine/worker.js")
NOTEBOOK_SCRIPT = "notebook/view.js"  # around the page, in a notebook
LIVE_SCRIPTS = ("live/editing.js", "live/live.js")  # of a page that a server feeds


_ENGINE = """
<script type="text/plain" id="engine-code">{code}</script>
<script type="text/plain" id="engine-module">{module}</script>"""
_ROWS = '\n<script type="text/plain" id="report-rows">{}</script>'
_BESIDE = '\n<script type="application/json" id="report-data-compare">{}</script>'


def render_report(
    data: ReportData,
    compare_with: ReportData | None = None,
    *,
    live: str | None = None,
    recluster: bool = True,
) -> str:
    """Return the page as text: the same text for the same data.

    With `compare_with`, the page shows two reports side by side, which move through time together.
    A live page, given the `run_id` of its run, asks the server that it came from for more, and
    for nothing else. A page with the parameters of the clustering (`with_recluster`) has an engine
    of its own, with which readers try other scales, unless `recluster` is False.

    See Also
    --------
    write_report : Write the page to a file.
    report_data : Make the data.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> from dynmeans.report import report_data
    >>> _, history = DynamicMeans(1.0, random_state=0).fit_sequence([[[0.0], [9.0]], [[9.2]]])
    >>> render_report(report_data(history))[:15]
    '<!DOCTYPE html>'
    """
    tried = encode_recluster(data) if recluster and compare_with is None else None
    # Where the page cannot cluster its rows, as those of texts, there is nothing to try.
    has_panel = has_engine = tried is not None and "reason" not in tried
    style = concat_page_files(*STYLES, *(["style/panel.css"] if has_panel else []))
    live_scripts = LIVE_SCRIPTS if live is not None else ()
    script = script_of(*SCRIPTS[:-1], *ENGINE_SCRIPTS * has_panel, SCRIPTS[-1], *live_scripts)
    parts = {
        "policy": policy_of([style], [script], has_engine=has_engine, is_live=live is not None),
        "panel": _part("engine/panel.html") if has_panel else "",
        "engine": encode_engine() if has_engine else "",
        "run": "" if live is None else f' data-run="{html.escape(live)}"',
        # A file cannot hold half a character.
        "title": html.escape(data.title).encode("utf-8", "backslashreplace").decode(),
        "style": style,
        "script": script,
        "data": report_json(data, tried),
        "rows": "" if data.rows is None or compare_with else _ROWS.format(packed_rows(data.rows)),
        "beside": "" if compare_with is None else _BESIDE.format(report_json(compare_with)),
    }
    return fill_template("page.html", parts)


def write_report(
    data: ReportData,
    path: str | os.PathLike[str],
    *,
    compare_with: ReportData | None = None,
    recluster: bool = True,
) -> Path:
    """Write the page to one file; an existing file is replaced when the new one is complete.

    Parameters
    ----------
    data : ReportData
        The result of `report_data`.
    path : str or path
        Path of the file; its folder must exist.
    compare_with : ReportData, optional
        Another report, shown side by side.
    recluster : bool
        Whether readers can try other scales on the page, if the data contain the parameters of
        the clustering; adds about 200 kB.

    Returns
    -------
    Path
        The path of the file.

    See Also
    --------
    report_data : Make the data.
    render_report : Return the page as text.

    Examples
    --------
    >>> import tempfile
    >>> from dynmeans import DynamicMeans
    >>> from dynmeans.report import report_data, write_report
    >>> _, history = DynamicMeans(1.0, random_state=0).fit_sequence([[[0.0], [9.0]], [[9.2]]])
    >>> write_report(report_data(history), tempfile.mkdtemp() + "/report.html").name
    'report.html'
    """
    return write_page(path, lambda: render_report(data, compare_with, recluster=recluster))


def write_page(path: str | os.PathLike[str], render: Callable[[], str]) -> Path:
    """Write a page to one file, replacing an old one only once all is on disk."""
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError("path", "must be in an existing folder", got=str(path))
    page = render()
    with atomic_write(path) as temporary:
        Path(temporary).write_text(page, encoding="utf-8", newline="\n")
    return path


def _part(name: str) -> str:
    return files("dynmeans.report").joinpath("page", name).read_text(encoding="utf-8")


def concat_page_files(*names: str) -> str:
    """Return these files of the page, one after the other."""
    return "\n".join(_part(name) for name in names)


def script_of(*names: str) -> str:
    """Return these scripts as one, with no name that others see."""
    return f'"use strict";\n(() => {{\n{_strip_comments(concat_page_files(*names))}}})();\n'


def _strip_comments(script: str) -> str:
    """Leave out indentation and lines of comments, which every page would carry."""
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def fill_template(name: str, parts: Mapping[str, str]) -> str:
    """Put the parts into their places; one without a part stays open."""
    return re.sub(r"\{\{ (\w+) \}\}", lambda at: parts.get(at[1], at[0]), _part(name))


def encode_engine() -> str:
    """Return the module and the code of its worker, as text that a page does not run."""
    module = gzip.compress(WASM_MODULE.read_bytes(), 9, mtime=0)
    code = concat_page_files(*WORKER_SCRIPTS).replace("</", "<\\/")
    return _ENGINE.format(code=code, module=base64.b64encode(module).decode("ascii"))


def policy_of(
    styles: Sequence[str], scripts: Sequence[str], *, has_engine: bool, is_live: bool = False
) -> str:
    """Allow these styles and scripts and nothing else: no request can leave the page."""
    style, script = (" ".join(f"'{_digest(one)}'" for one in texts) for texts in (styles, scripts))
    allowed = f"script-src {script}"
    if has_engine:
        allowed += " 'wasm-unsafe-eval'; worker-src blob:"
    if is_live:
        allowed += "; connect-src 'self'"
    return f"default-src 'none'; img-src data:; style-src {style}; {allowed}"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
