"""Watch: looks at each committed window once, keeps what is to be told, and tells it."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dynmeans.alerts.delivery import Messenger
from dynmeans.alerts.matching import Alert, lookback, matches
from dynmeans.alerts.rules import Rule, read_rules
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.look.run_families import families_of_run
from dynmeans.runs.run import Run
from dynmeans.runs.store.commit import write_manifest
from dynmeans.runs.store.digests import row_digest
from dynmeans.runs.store.run_tables import step_records
from dynmeans.runs.store.schema import N_ALERTS
from dynmeans.runs.store.sent import add_sent, next_to_send

_PLACE = "alerts"
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0


class Watch:
    """The rules of one file over one run, which is locked for writing.

    Alerts and how far windows were looked at are stored in one transaction, so that a window is
    looked at once, whatever is killed. Each alert is then delivered, and marked when it was: one
    that was delivered just before a kill is delivered again, under the same id.
    """

    def __init__(self, run: Run, rules: Sequence[Rule], messenger: Messenger) -> None:
        self._run, self._rules, self._messenger = run, list(rules), messenger
        self._by_name = {rule.name: rule for rule in rules}
        self._pause, self._next_try = _FIRST_PAUSE, 0.0
        store = run.store
        if next_to_send(store, _PLACE) is None:
            self._keep([], run.status().n_windows)  # rules speak of windows to come

    def look(self, *, is_last: bool = False) -> None:
        """Look at the windows committed since the last time, and deliver what is due."""
        first = next_to_send(self._run.store, _PLACE) or 0
        records = list(self._records(max(0, first - lookback(self._rules))))
        for place, record in enumerate(records):
            if record.step >= first:
                self._keep(list(self._alerts(records[: place + 1])), record.step + 1)
        if is_last or time.monotonic() >= self._next_try:
            self._deliver()

    def _records(self, first: int) -> Iterator[StepRecord]:
        store, features = self._run.store, self._run.config.features
        return step_records(store, len(features), has_labels=False, first_step=first)

    def _alerts(self, records: list[StepRecord]) -> Iterator[Alert]:
        for rule in self._rules:
            if rule.when == "family-splits":
                if records[-1].step % rule.windows == 0:
                    yield from self._splits(rule, records[-1])
            else:
                yield from matches(rule, records, self._run.config.features)

    def _splits(self, rule: Rule, record: StepRecord) -> Iterator[Alert]:
        """Families of the last look whose members are now in several."""
        found = families_of_run(self._run, level=rule.level)
        now = dict(zip(found.tree.ids.tolist(), found.family_of_identity.tolist(), strict=True))
        key = f"families of {rule.name}"
        before: dict[str, int] = self._run.store.manifest(key) or {}
        for family in sorted(set(before.values())):
            members = [int(k) for k, name in before.items() if name == family and int(k) in now]
            if len({now[k] for k in members}) > 1:
                fields = {
                    "rule": rule.name, "when": rule.when, "step": record.step,
                    "window": None if record.when is None else str(record.when),
                    "cluster_id": family, "members": members,
                }  # fmt: skip
                yield Alert(rule.name, record.step, family, fields)
        self._run.store.note({key: {str(k): name for k, name in now.items()}})

    def _keep(self, alerts: list[Alert], next_step: int) -> None:
        with self._run.store.transaction() as connection:
            for number, alert in enumerate(alerts):
                row = (alert.id, alert.step, number, alert.rule, json.dumps(alert.fields), 0)
                connection.execute(
                    "INSERT OR IGNORE INTO alerts VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (*row, row_digest(row)),
                )
            (n_alerts,) = connection.execute("SELECT count(*) FROM alerts").fetchone()
            write_manifest(connection, {N_ALERTS: n_alerts})
            add_sent(connection, self._run.store, _PLACE, next_step)

    def _deliver(self) -> None:
        """Deliver in order; what cannot be delivered waits, and what follows it too."""
        waiting = "WHERE is_delivered = 0 ORDER BY step, number"
        for row in list(self._run.store.rows("alerts", waiting)):
            rule = self._by_name.get(row["rule"])
            fields: dict[str, Any] = {"id": row["id"], **json.loads(row["body"])}
            if rule is not None and not self._messenger.is_told(
                rule, row["step"], row["number"], fields
            ):
                self._next_try = time.monotonic() + self._pause
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                return
            done = (*tuple(row)[:-2], 1)
            with self._run.store.transaction() as connection:
                connection.execute(
                    "UPDATE alerts SET is_delivered = 1, digest = ? WHERE id = ?",
                    (row_digest(done), row["id"]),
                )
        self._pause = _FIRST_PAUSE


@contextmanager
def watching(path: Path, run: Run, stop: threading.Event) -> Iterator[Any]:
    """Give what is called after each commit of a run, with the rules of a file."""
    rules = read_rules(path, run.config.features)
    messenger = Messenger(run.folder.resolve().name, stop)
    try:
        yield Watch(run, rules, messenger).look
    finally:
        messenger.close()
