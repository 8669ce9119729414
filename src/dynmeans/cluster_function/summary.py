"""What was found, in a few lines of plain text."""

from collections.abc import Mapping

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.format_count import format_count
from dynmeans.records.penalties import Penalties
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.analysis.status import RunStatus
from dynmeans.runs.reading.window import WindowOptions

_UNREAD = "{:,} with a missing or unreadable {} ({}set {time_format} to the format of the times)"


def summary_lines(
    status: RunStatus,
    options: WindowOptions,
    penalties: Penalties,
    suggestion: Suggestion | None,
    new_cluster_distance: str,
) -> list[str]:
    """Return one line on what was found, and one on the penalties."""
    length = f" of {options.every}" if options.every else ""
    span = f", {status.first_window} to {status.last_window}" if status.first_window else ""
    rows_and_clusters = (
        f"{format_count(status.n_rows, 'row')} in "
        f"{format_count(status.n_windows, 'window')}{length}{span}: "
        f"{format_count(status.n_clusters_total, 'cluster')} in total, "
        f"{status.n_active_clusters:,} in the last one"
    )
    found = [rows_and_clusters, *counts_text(status)]
    if suggestion is not None:
        return [*found, suggestion.explanation]
    return [
        *found,
        f"Penalties as given or stored: new_penalty {penalties.new_penalty:.6g} "
        f"(new clusters start beyond {new_cluster_distance}), "
        f"max_gap {penalties.max_gap:.3g}, reach {penalties.reach:.3g}.",
    ]


def counts_text(status: RunStatus) -> list[str]:
    """Return the level at which clusters are counted, and the rows without one."""
    parts = []
    if status.n_subclusters != status.n_clusters_total:
        parts.append(f"{format_count(status.n_subclusters, 'subcluster')} (level={status.level!r})")
    if status.n_noise:
        parts.append(f"{format_count(status.n_noise, 'row')} of noise")
    if status.n_unconfirmed:
        parts.append(f"{format_count(status.n_unconfirmed, 'cluster')} unconfirmed")
    if status.n_dropped_rows:
        parts.append(f"{format_count(status.n_dropped_rows, 'row')} dropped")
    return [", ".join(parts)] if parts else []


def dropped_rows_message(
    n_dropped_rows: int,
    missing: Mapping[str, int],
    time: str | None = None,
    unread: str = "",
) -> str:
    """Return how many rows have no label, and why; `unread` is a time that could not be read.

    >>> dropped_rows_message(3, {"lon": 2, "lat": 1})
    '3 rows were left out and have no label: 2 without a value for lon, 1 without a value for lat.'
    """
    if not n_dropped_rows:
        return ""
    lacking = {name: n for name, n in missing.items() if n}
    reasons = [_UNREAD if name == time else "{:,} without a value for {}" for name in lacking]
    example = [f"such as {unread}; " if unread else ""]
    values = [v for name, n in lacking.items() for v in (n, name, *example * (name == time))]
    verbs = ("was", "has") if n_dropped_rows == 1 else ("were", "have")
    message = f"{format_count(n_dropped_rows, 'row')} {verbs[0]} left out and {verbs[1]} no label"
    return ArgumentText(f"{message}: {', '.join(reasons)}." if reasons else f"{message}.", *values)
