"""Evaluate each committed window once, and store alerts until they are delivered."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from dynmeans.alerts.delivery import drain, make_delivery_workers
from dynmeans.alerts.evaluate import Alert, RuleState, evaluate_rule, evaluate_rules, lookback
from dynmeans.alerts.rules import TARGETS, Rule, read_rules
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.run import Run
from dynmeans.runs.store.alert_log import add_alerts, next_unchecked_step
from dynmeans.runs.store.run_tables import step_records

_KEPT = "alert_rules"  # the entry of the manifest with what each rule keeps


class AlertMonitor:
    """The rules of one file over one run, which is locked for writing.

    Alerts, what rules keep from window to window, and how far windows were looked at are stored
    in one transaction: a window is looked at once, whatever is killed, and what it leads to does
    not depend on how windows were committed.
    """

    def __init__(self, run: Run, rules: Sequence[Rule], stop: threading.Event) -> None:
        self._run, self._rules, self._stop = run, list(rules), stop
        n_windows = run.status().n_windows
        stored = {rule.name: self._read_rule_state(rule) for rule in rules}
        self._kept = {name: kept for name, kept in stored.items() if kept is not None}
        if next_unchecked_step(run.store) is not None:
            self._look_with([rule for rule in rules if rule.name in self._kept])
        new = [rule for rule in rules if rule.name not in self._kept]
        self._kept |= {rule.name: self._new_rule_state(rule, n_windows) for rule in new}
        if new or next_unchecked_step(run.store) is None:
            self._keep([], n_windows, self._kept)
        self._couriers = make_delivery_workers(run.folder, rules, stop)

    def look(self, *, is_last: bool = False) -> None:
        """Evaluate the windows committed since the last call; alerts are delivered later."""
        self._look_with(self._rules)
        if is_last:
            drain(self._couriers, self._stop)
        else:
            for courier in self._couriers:
                courier.wake()

    def _look_with(self, rules: Sequence[Rule]) -> None:
        """Look with some rules at the windows that none has looked at."""
        first = next_unchecked_step(self._run.store) or 0
        records, kept = self._records(max(0, first - lookback(rules))), dict(self._kept)
        if records and records[-1].step >= first:
            features = self._run.config.features
            found = evaluate_rules(rules, records, features, kept, self._max_gap, first)
            self._keep(list(found), records[-1].step + 1, kept)
            self._kept = kept

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

    def _read_rule_state(self, rule: Rule) -> RuleState | None:
        """Return what a rule kept; None for one that is new or was changed."""
        stored = (self._run.store.manifest(_KEPT) or {}).get(rule.name)
        if stored is None or stored["meaning"] != _rule_fingerprint(rule):
            return None
        return {int(k): value for k, value in stored["kept"].items()}

    def _new_rule_state(self, rule: Rule, n_windows: int) -> RuleState:
        """Return what a new rule keeps, which speaks of windows to come."""
        kept: RuleState = {}
        if rule.event == "entered" and n_windows > 0:  # who is inside now has not come in
            for record in self._records(0, n_windows - 1):
                _, kept = evaluate_rule(
                    rule, [record], self._run.config.features, kept, self._max_gap
                )
        return kept

    def _keep(
        self, alerts: list[tuple[int, Alert]], next_step: int, kept: dict[str, RuleState]
    ) -> None:
        rules = {rule.name: rule for rule in self._rules}
        entries = {
            name: {
                "meaning": _rule_fingerprint(rules[name]),
                "kept": {str(k): v for k, v in some.items()},
            }
            for name, some in kept.items()
        }
        rows = [
            (alert.id, target, alert.step, number, alert.rule, alert.fields)
            for number, alert in alerts
            for target in TARGETS
            if getattr(rules[alert.rule], target) is not None
        ]
        add_alerts(self._run.store, rows, next_step, {_KEPT: entries})


def replay_alerts(run: Run, rules: Sequence[Rule]) -> list[Alert]:
    """Return what these rules find in the windows of a run; nothing is stored or delivered."""
    records, kept = (
        list(run.history(labels=False)),
        dict[str, RuleState]((r.name, {}) for r in rules),
    )
    max_gap = _max_gap_of(run) if records else 0.0
    return [
        found for _, found in evaluate_rules(rules, records, run.config.features, kept, max_gap)
    ]


def _max_gap_of(run: Run) -> float:
    penalties = run.penalties
    assert penalties is not None, "a window was taken in"
    return penalties.max_gap


def _rule_fingerprint(rule: Rule) -> dict[str, Any]:
    """Return a digest of a rule without its delivery."""
    found: dict[str, Any] = json.loads(json.dumps(asdict(rule)))
    return {name: value for name, value in found.items() if name not in TARGETS}


@contextmanager
def make_alert_hook(path: Path, run: Run, stop: threading.Event) -> Iterator[Any]:
    """Give what is called after each commit of a run, with the rules of a file."""
    rules = read_rules(path, run.config.features)
    run.lock()  # before alerts are stored or marked
    watch = AlertMonitor(run, rules, stop)
    try:
        yield watch.look
    finally:
        watch.close()
