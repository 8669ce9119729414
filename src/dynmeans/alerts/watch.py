"""Watch: looks at each committed window once, and keeps what is to be told until it was."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from dynmeans.alerts.delivery import couriers_of, finish
from dynmeans.alerts.matching import Alert, Kept, alerts_of, lookback, matches
from dynmeans.alerts.rules import TARGETS, Rule, read_rules
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.run import Run
from dynmeans.runs.store.alert_log import add_alerts, next_to_look_at
from dynmeans.runs.store.run_tables import step_records

_KEPT = "alert_rules"  # the entry of the manifest with what each rule keeps


class Watch:
    """The rules of one file over one run, which is locked for writing.

    Alerts, what rules keep from window to window, and how far windows were looked at are stored
    in one transaction: a window is looked at once, whatever is killed, and what it leads to does
    not depend on how windows were committed.
    """

    def __init__(self, run: Run, rules: Sequence[Rule], stop: threading.Event) -> None:
        self._run, self._rules, self._stop = run, list(rules), stop
        first = next_to_look_at(run.store)
        if first is None:
            first = run.status().n_windows  # rules speak of windows to come
            self._keep([], first, {})
        self._kept = {rule.name: self._known(rule, first) for rule in rules}
        self._couriers = couriers_of(run.folder, rules, stop)

    def look(self, *, is_last: bool = False) -> None:
        """Look at the windows committed since the last time; deliver what is due beside the run."""
        first = next_to_look_at(self._run.store) or 0
        records, kept = self._records(max(0, first - lookback(self._rules))), dict(self._kept)
        if records and records[-1].step >= first:
            features = self._run.config.features
            found = alerts_of(self._rules, records, features, kept, self._max_gap, first)
            self._keep(list(found), records[-1].step + 1, kept)
            self._kept = kept
        if is_last:
            finish(self._couriers, self._stop)
        else:
            for courier in self._couriers:
                courier.wake()

    def close(self) -> None:
        """Deliver no more."""
        for courier in self._couriers:
            courier.close()

    def _records(self, first: int, last: int | None = None) -> list[StepRecord]:
        n_features = len(self._run.config.features)
        options: dict[str, Any] = {"has_labels": False, "first_step": first, "last_step": last}
        return list(step_records(self._run.store, n_features, **options))

    @cached_property
    def _max_gap(self) -> float:
        return _max_gap_of(self._run)

    def _known(self, rule: Rule, first: int) -> Kept:
        """Return what a rule kept; one that is new or was changed speaks of windows to come."""
        stored = (self._run.store.manifest(_KEPT) or {}).get(rule.name)
        if stored is not None and stored["meaning"] == _meaning(rule):
            return {int(k): value for k, value in stored["kept"].items()}
        kept: Kept = {}
        if rule.when == "enters" and first > 0:  # who is inside now has not come in
            for record in self._records(0, first - 1):
                _, kept = matches(rule, [record], self._run.config.features, kept, self._max_gap)
        return kept

    def _keep(self, alerts: list[tuple[int, Alert]], next_step: int, kept: dict[str, Kept]) -> None:
        rules = {rule.name: rule for rule in self._rules}
        entries = {
            name: {"meaning": _meaning(rules[name]), "kept": {str(k): v for k, v in some.items()}}
            for name, some in kept.items()
        }
        rows = [
            (alert.id, target, alert.step, number, alert.rule, alert.fields)
            for number, alert in alerts
            for target in TARGETS
            if getattr(rules[alert.rule], target) is not None
        ]
        add_alerts(self._run.store, rows, next_step, {_KEPT: entries})


def past_alerts(run: Run, rules: Sequence[Rule]) -> list[Alert]:
    """Return what these rules find in the windows of a run; nothing is stored, nobody is told."""
    records, kept = list(run.history(labels=False)), dict[str, Kept]((r.name, {}) for r in rules)
    max_gap = _max_gap_of(run) if records else 0.0
    return [found for _, found in alerts_of(rules, records, run.config.features, kept, max_gap)]


def _max_gap_of(run: Run) -> float:
    penalties = run.penalties
    assert penalties is not None, "a window was taken in"
    return penalties.max_gap


def _meaning(rule: Rule) -> dict[str, Any]:
    """What a rule looks for, whoever is told."""
    found: dict[str, Any] = json.loads(json.dumps(asdict(rule)))
    return {name: value for name, value in found.items() if name not in TARGETS}


@contextmanager
def watching(path: Path, run: Run, stop: threading.Event) -> Iterator[Any]:
    """Give what is called after each commit of a run, with the rules of a file."""
    rules = read_rules(path, run.config.features)
    run.lock()  # before alerts are stored or marked
    watch = Watch(run, rules, stop)
    try:
        yield watch.look
    finally:
        watch.close()
