"""Numbers of a run as Prometheus reads them."""

import time

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from dynmeans.runs.run import Run

_GAUGES = {
    "rows_total": "Rows taken in.",
    "windows_total": "Windows taken in.",
    "dropped_rows_total": "Rows left out because a value was missing.",
    "late_rows_total": "Rows that came too late.",
    "dead_letters_total": "Messages that could not be read as rows.",
    "clusters": "Clusters in the last window.",
    "clusters_remembered": "Clusters in memory, seen or not.",
    "births_total": "Clusters seen so far.",
    "cost": "Cost of the last window.",
    "label_bytes": "Size of the stored labels.",
    "is_running": "Whether a process writes to the run.",
    "step_seconds": "Time of the last step.",
    "commit_age_seconds": "Time since the last window was committed: the lag.",
    "messages_read_total": "Messages read from the stream.",
    "readers": "Pages that are connected.",
}


def metrics_text(run: Run, n_readers: int) -> bytes:
    """Return the numbers of one run, by its name."""
    status = run.status()
    position = status.position or {}
    step_seconds, age = _pace(run)
    values = {
        "rows_total": status.n_rows,
        "windows_total": status.n_windows,
        "dropped_rows_total": status.n_dropped,
        "late_rows_total": status.n_late,
        "dead_letters_total": status.n_dead_letters,
        "clusters": status.n_clusters,
        "clusters_remembered": status.n_remembered,
        "births_total": status.n_identities,
        "cost": status.cost,
        "label_bytes": status.n_bytes,
        "is_running": float(status.is_running),
        "step_seconds": step_seconds,
        "commit_age_seconds": age,
        "messages_read_total": position.get("messages_read"),
        "readers": n_readers,
    }
    registry = CollectorRegistry()
    for name, text in _GAUGES.items():
        if (value := values[name]) is not None:
            gauge = Gauge(f"dynmeans_{name}", text, ["run"], registry=registry)
            gauge.labels(run.folder.resolve().name).set(float(value))
    return bytes(generate_latest(registry))


def _pace(run: Run) -> tuple[float | None, float | None]:
    """Return the time of the last step, and the time since its commit."""
    pace = run.store.pace
    return (None, None) if pace is None else (pace[0], max(0.0, time.time() - pace[1]))
