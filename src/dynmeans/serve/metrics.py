"""Numbers of a run as Prometheus reads them."""

import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from dynmeans.runs.run import Run
from dynmeans.runs.store.run_tables import alert_counts


def metrics_text(run: Run, n_readers: int) -> bytes:
    """Return the numbers of one run, by its name."""
    registry = CollectorRegistry()
    registry.register(_Numbers(run, n_readers))
    return bytes(generate_latest(registry))


class _Numbers:
    """What is read for one answer."""

    def __init__(self, run: Run, n_readers: int) -> None:
        self._name = run.folder.resolve().name
        status, pace = run.status(), run.store.pace
        step_seconds, committed = (None, None) if pace is None else pace
        n_alerts, n_delivered = alert_counts(run.store)
        read = (status.position or {}).get("messages_read")
        self._counters = {
            "rows": ("Rows processed.", status.n_rows),
            "windows": ("Windows processed.", status.n_windows),
            "dropped_rows": ("Rows dropped because a value was missing.", status.n_dropped_rows),
            "late_rows": ("Rows that were too late.", status.n_late_rows),
            "dead_letters": ("Messages that could not be read as rows.", status.n_dead_letters),
            "clusters_born": ("Clusters seen so far.", status.n_clusters_total),
            "messages_read": ("Messages read from the stream.", read),
            "alerts": ("Alerts raised by rules.", n_alerts),
            "alerts_delivered": ("Alerts that were delivered.", n_delivered),
        }
        self._gauges = {
            "active_clusters": ("Clusters in the last window.", status.n_active_clusters),
            "clusters_remembered": (
                "Clusters in memory, active or inactive.",
                status.n_remembered_clusters,
            ),
            "cost": ("Cost of the last window.", status.cost),
            "label_bytes": ("Size of the stored labels.", status.label_bytes),
            "is_running": ("Whether a process writes to the run.", status.is_running),
            "step_seconds": ("Time of the last step.", step_seconds),
            "commit_age_seconds": ("Time since the last window was committed.", _since(committed)),
            "event_time_lag_seconds": (
                "Time since the beginning of the last window, by its own clock.",
                _since(_timestamp(status.last_window)),
            ),
            "alerts_waiting": ("Alerts that could not be delivered yet.", n_alerts - n_delivered),
            "connected_clients": ("Clients that are connected.", n_readers),
        }

    def collect(self) -> Iterator[Any]:
        """Yield every number that is known."""
        kinds: Any = ((CounterMetricFamily, self._counters), (GaugeMetricFamily, self._gauges))
        for kind, numbers in kinds:
            for name, (text, value) in numbers.items():
                if value is not None:
                    family = kind(f"dynmeans_{name}", text, labels=["run"])
                    family.add_metric([self._name], float(value))
                    yield family


def _since(moment: float | None) -> float | None:
    return None if moment is None else max(0.0, time.time() - moment)


def _timestamp(window: str | None) -> float | None:
    """Return when the last window began, where windows are named by moments."""
    try:
        began = datetime.fromisoformat(window or "")
    except ValueError:
        return None
    return began.timestamp() if began.tzinfo else None
