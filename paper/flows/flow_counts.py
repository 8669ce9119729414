"""Take-offs of the largest flows through the week, darker for more (Fig. 2, right)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from dynmeans.plots.arguments import axes_or_new
from dynmeans.records.arrays import FloatArray
from paper.flows.flow_map import REGION_COLORS, color_of
from paper.flows.flows import Flow

_DAY = 86400.0
_MAX_DAYS_NAMED = 10


def plot_flow_counts(
    flows: Sequence[Flow], begin: float, window_seconds: float, ax: Axes | None = None
) -> Axes:
    """Draw one row for each flow; the more flights take off in a window, the darker.

    Parameters
    ----------
    flows : sequence of Flow
        From `paper.flows.flows.find_flows`.
    begin : float
        Where the first window begins, in seconds since 1970 (UTC).
    window_seconds : float
        Length of a window.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes_or_new(ax, (10.0, 4.6))
    n_windows = max((len(flow.counts) for flow in flows), default=1)
    end = begin + n_windows * window_seconds
    ax.imshow(
        _shades(flows),
        aspect="auto",
        interpolation="nearest",
        extent=(begin, end, max(len(flows), 1) + 0.5, 0.5),
    )
    for row in range(1, len(flows)):
        ax.axhline(row + 0.5, color="white", lw=1.5)
    ax.set_yticks(
        range(1, len(flows) + 1), [f"{flow.name}  {n}" for n, flow in enumerate(flows, start=1)]
    )
    ax.tick_params(axis="y", length=0)
    days = _midnights(begin, end)
    form = "%a %-d %b" if len(days) <= _MAX_DAYS_NAMED else "%-d %b"
    every = max(1, -(-len(days) // _MAX_DAYS_NAMED))
    shown = days[::every]
    ax.set_xticks([day.timestamp() for day in shown], [day.strftime(form) for day in shown])
    for day in days:
        ax.axvline(day.timestamp(), color="#BBBBBB", lw=0.5)
    for side in ax.spines.values():
        side.set_visible(False)
    most = max((int(flow.counts.max()) for flow in flows if len(flow.counts)), default=0)
    ax.set_xlabel("day of take-off, UTC")
    ax.set_title(
        f"Take-offs in each {_length(window_seconds)}: white none, full color {most}", fontsize=11
    )
    regions = [region for region in REGION_COLORS if region in {flow.region for flow in flows}]
    ax.legend(
        handles=[Patch(color=REGION_COLORS[region], label=region) for region in regions],
        title="take off in",
        loc="upper center",
        bbox_to_anchor=(0.5, -0.1),
        ncols=len(regions) or 1,
        frameon=False,
        fontsize=8.5,
    )
    return ax


def _shades(flows: Sequence[Flow]) -> FloatArray:
    """Colors of shape (n_flows, n_windows, 3): from white to the color of the region."""
    counts = np.array([flow.counts for flow in flows], dtype=np.float64)
    if not counts.size:
        return np.ones((1, 1, 3))
    # The root lets single flights be seen beside a bank of many.
    share = np.sqrt(counts / max(counts.max(), 1.0))[:, :, None]
    full = np.array([to_rgb(color_of(flow)) for flow in flows])[:, None, :]
    return np.asarray(1 - share * (1 - full))


def _midnights(begin: float, end: float) -> list[datetime]:
    first = datetime.fromtimestamp(begin, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    n_days = int((end - first.timestamp()) // _DAY) + 1
    days = [first + timedelta(days=day) for day in range(n_days)]
    return [day for day in days if day.timestamp() >= begin]


def _length(seconds: float) -> str:
    hours = seconds / 3600
    return (
        f"{hours:g} hours" if hours > 1 else "hour" if hours == 1 else f"{seconds / 60:g} minutes"
    )
