"""Numbers of a run as Prometheus reads them."""

import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from dynmeans.runs.run import Run
from dynmeans.runs.store.run_tables import alert_counts

_COUNTERS = {
    "rows": "Rows taken in.",
    "windows": "Windows taken in.",
    "dropped_rows": "Rows left out because a value was missing.",
    "late_rows": "Rows that came too late.",
    "dead_letters": "Messages that could not be read as rows.",
    "births": "Clusters seen so far.",
    "messages_read": "Messages read from the stream.",
    "alerts": "Alerts that rules led to.",
    "alerts_delivered": "Alerts that were delivered.",
}
_GAUGES = {
    "clusters": "Clusters in the last window.",
    "clusters_remembered": "Clusters in memory, seen or not.",
    "cost": "Cost of the last window.",
    "label_bytes": "Size of the stored labels.",
    "is_running": "Whether a process writes to the run.",
    "step_seconds": "Time of the last step.",
    "commit_age_seconds": "Time since the last window was committed.",
    "event_time_lag_seconds": "Time since the beginning of the last window, by its own clock.",
    "alerts_waiting": "Alerts that could not be delivered yet.",
    "readers": "Pages that are connected.",
}


def metrics_text(run: Run, n_readers: int) -> bytes:
    """Return the numbers of one run, by its name."""
    registry = CollectorRegistry()
    registry.register(_Numbers(run.folder.resolve().name, _values(run, n_readers)))
    return bytes(generate_latest(registry))


class _Numbers:
    """What is read once for one answer."""

    def __init__(self, name: str, values: dict[str, Any]) -> None:
        self._name, self._values = name, values

    def collect(self) -> Iterator[Any]:
        """Yield every number that is known."""
        for kind, texts in ((CounterMetricFamily, _COUNTERS), (GaugeMetricFamily, _GAUGES)):
            for name, text in texts.items():
                if (value := self._values[name]) is not None:
                    family = kind(f"dynmeans_{name}", text, labels=["run"])
                    family.add_metric([self._name], float(value))
                    yield family


def _values(run: Run, n_readers: int) -> dict[str, Any]:
    status = run.status()
    step_seconds, age = _pace(run)
    n_alerts, n_delivered = alert_counts(run.store)
    return {
        "rows": status.n_rows,
        "windows": status.n_windows,
        "dropped_rows": status.n_dropped,
        "late_rows": status.n_late,
        "dead_letters": status.n_dead_letters,
        "births": status.n_identities,
        "messages_read": (status.position or {}).get("messages_read"),
        "alerts": n_alerts,
        "alerts_delivered": n_delivered,
        "alerts_waiting": n_alerts - n_delivered,
        "clusters": status.n_clusters,
        "clusters_remembered": status.n_remembered,
        "cost": status.cost,
        "label_bytes": status.n_bytes,
        "is_running": status.is_running,
        "step_seconds": step_seconds,
        "commit_age_seconds": age,
        "event_time_lag_seconds": _lag(status.last_window),
        "readers": n_readers,
    }


def _lag(window: str | None) -> float | None:
    """Return how long ago the last window began, where windows are named by moments."""
    try:
        began = datetime.fromisoformat(window or "")
    except ValueError:
        return None
    return max(0.0, time.time() - began.timestamp()) if began.tzinfo else None


def _pace(run: Run) -> tuple[float | None, float | None]:
    """Return the time of the last step, and the time since its commit."""
    pace = run.store.pace
    return (None, None) if pace is None else (pace[0], max(0.0, time.time() - pace[1]))
