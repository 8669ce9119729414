"""Which rules a window meets, read off its record and those before it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynmeans.alerts.rules import Rule
from dynmeans.records.step_record import StepRecord


class Alert(NamedTuple):
    """One thing to tell; `id` is the same however often the window is looked at."""

    rule: str
    step: int
    cluster_id: int
    fields: dict[str, Any]

    @property
    def id(self) -> str:
        """Rule, window and cluster."""
        return f"{self.rule}/{self.step}/{self.cluster_id}"


def lookback(rules: Sequence[Rule]) -> int:
    """Return how many windows before one its rules look at."""
    return max([1, *(rule.windows for rule in rules if rule.when in ("grows", "unseen"))]) + 1


def matches(rule: Rule, records: Sequence[StepRecord], features: Sequence[str]) -> Iterator[Alert]:
    """Yield the alerts of one rule for the last of some consecutive windows."""
    record = records[-1]
    if rule.when in ("born", "returned"):
        found = [event.cluster_id for event in record.events if event.kind == rule.when]
    elif rule.when == "grows":
        found = _growing(rule, records)
    elif rule.when == "unseen":
        found = _unseen(rule, records)
    elif rule.when == "enters":
        found = _entering(rule, records, features)
    else:
        return
    for cluster_id in found:
        fields = _fields(rule, record, cluster_id, features)
        if rule.when == "unseen" or fields["n_points"] >= rule.min_points:
            yield Alert(rule.name, record.step, int(cluster_id), fields)


def _counts(record: StepRecord) -> dict[int, float]:
    return dict(zip(record.ids.tolist(), record.counts.tolist(), strict=True))


def _growing(rule: Rule, records: Sequence[StepRecord]) -> list[int]:
    """Clusters with so many percent more points than so many windows ago."""
    if len(records) <= rule.windows:
        return []
    now, then = _counts(records[-1]), _counts(records[-1 - rule.windows])
    factor = 1 + rule.percent / 100
    return [k for k, count in now.items() if 0 < then.get(k, 0) * factor <= count]


def _unseen(rule: Rule, records: Sequence[StepRecord]) -> list[int]:
    """Clusters last seen exactly so many windows ago."""
    if len(records) <= rule.windows:
        return []
    since = {k for record in records[-rule.windows :] for k in record.ids.tolist()}
    last = records[-1 - rule.windows]
    then = [k for k, count in _counts(last).items() if count >= rule.min_points]
    return [k for k in then if k not in since]


def _entering(rule: Rule, records: Sequence[StepRecord], features: Sequence[str]) -> list[int]:
    """Clusters whose center is in the box and was not where they were last seen."""
    now = _inside(rule, records[-1], features)
    before: dict[int, bool] = {}
    for record in records[:-1]:
        inside = _inside(rule, record, features)
        before |= {k: k in inside for k in record.ids.tolist()}
    return [k for k in sorted(now) if not before.get(k, False)]


def _inside(rule: Rule, record: StepRecord, features: Sequence[str]) -> set[int]:
    is_in = np.ones(len(record.ids), dtype=bool)
    for feature, (low, high) in rule.box.items():
        values = record.centers[:, list(features).index(feature)]
        is_in &= (values >= low) & (values <= high)
    return set(record.ids[is_in].tolist())


def _fields(
    rule: Rule, record: StepRecord, cluster_id: int, features: Sequence[str]
) -> dict[str, Any]:
    places = np.flatnonzero(record.ids == cluster_id)
    center = record.centers[places[0]].tolist() if len(places) else None
    return {
        "rule": rule.name,
        "when": rule.when,
        "step": record.step,
        "window": None if record.when is None else str(record.when),
        "cluster_id": int(cluster_id),
        "n_points": float(record.counts[places[0]]) if len(places) else 0.0,
        "center": None if center is None else dict(zip(features, center, strict=True)),
    }
