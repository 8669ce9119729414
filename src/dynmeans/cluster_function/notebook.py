"""What a notebook shows: a short table, and the report in a frame of its own."""

import html
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from dynmeans.inputs.numbers import check_count

_SHOWN = 5
_MOMENT, _BETWEEN = 1.0, 0.25  # seconds until a bar is shown, and until it is drawn again
_LEFT_OUT = ("first_step", "last_step", "merged_into", "is_pinned")
# The page runs its own script and is kept apart from the notebook around it.
_FRAME = (
    '<iframe title="Report" sandbox="allow-scripts allow-downloads" width="100%" '
    'height="{height}" style="border: 0" srcdoc="{page}"></iframe>'
)


def to_iframe(page: str, height: int) -> str:
    """Return a page as a frame within another one."""
    height = check_count("height", height)
    return _FRAME.format(height=height, page=html.escape(page, quote=True))


def display(text: str) -> None:
    """Show HTML in the notebook that is running."""
    shell = sys.modules.get("IPython")
    if shell is None or shell.get_ipython() is None:
        raise RuntimeError(
            'show() requires a notebook. Use report("report.html") to write the page to a file.'
        )
    from IPython import display as shown

    show: Any = shown.display
    show({"text/html": text, "text/plain": "Report"}, raw=True)


def display_widget(page: str, height: int) -> Any:
    """Show a page that is connected to Python; None where anywidget is not installed."""
    try:
        from dynmeans.cluster_function.widget import PageWidget
    except ImportError:
        return None
    if (shown := _notebook()) is None:
        return None
    widget = PageWidget(page=page, height=check_count("height", height))
    shown.display(widget)
    return widget


def _notebook() -> Any:
    """Return what shows things in the notebook that is running; None if there is none."""
    shell = sys.modules.get("IPython")
    is_running = shell is not None and hasattr(shell.get_ipython(), "kernel")
    if not is_running:
        return None
    from IPython import display as shown

    return shown


def display_figure(figure: Any) -> bool:
    """Show a figure in the notebook that is running, so that a semicolon does not hide it."""
    if (shown := _notebook()) is None:
        return False
    shown.display({"image/png": figure._repr_png_()}, raw=True)
    return True


@contextmanager
def notebook_progress(
    total: int | None, done: int, features: Sequence[str]
) -> Iterator[Callable[[Any, Any], None] | None]:
    """Show the notebook that is running how far the work is, once it takes longer than a moment."""
    if (shown := _notebook()) is None:
        yield None
        return
    last, handle = time.monotonic() + _MOMENT - _BETWEEN, None

    def on_window(record: Any, window: Any) -> None:
        nonlocal done, handle, last
        done += window.n_points + window.n_dropped_rows
        if time.monotonic() - last < _BETWEEN:
            return
        bar = f'<progress value="{done}" max="{total or done}"></progress>'
        text = f"{bar} {done:,} rows, {html.escape(window.name or f'window {record.step}')}"
        handle = handle or shown.display(shown.HTML(text), display_id=True)
        handle.update(shown.HTML(text))
        last = time.monotonic()

    try:
        yield on_window
    finally:
        if handle is not None:
            handle.update(shown.HTML(""))


def summary_table(lines: Sequence[str], clusters: pa.Table) -> str:
    """Return the summary and the clusters with the most points as HTML."""
    message = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    if not clusters.num_rows:
        return f"<div>{message}</div>"
    names = [
        field.name
        for field in clusters.schema
        if field.name not in _LEFT_OUT
        and not pa.types.is_nested(field.type)
        and clusters[field.name].null_count < clusters.num_rows
    ]
    largest = clusters.select(names).sort_by([("n_points", "descending")]).slice(0, _SHOWN)
    table = largest.to_pandas().to_html(
        index=False, border=0, na_rep="", float_format="{:,.6g}".format
    )
    n_more = clusters.num_rows - largest.num_rows
    more = f"<p>and {n_more:,} more in <code>.clusters</code></p>" if n_more > 0 else ""
    return f"<div>{message}{table}{more}</div>"
