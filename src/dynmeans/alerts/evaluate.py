"""Which rules a window meets, read off its record, those before it, and what a rule keeps."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynmeans.alerts.rules import Rule
from dynmeans.records.step_record import StepRecord

# What a rule keeps from window to window: clusters, and the time each was last seen.
RuleState = Mapping[int, float]


class Alert(NamedTuple):
    """One alert; `id` is the same each time its window is evaluated."""

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
    return max([0, *(rule.over_windows for rule in rules if rule.event in ("grown", "unseen"))])


def evaluate_rules(
    rules: Sequence[Rule],
    records: Sequence[StepRecord],
    features: Sequence[str],
    kept: dict[str, RuleState],
    max_gap: float,
    first: int = 0,
) -> Iterator[tuple[int, Alert]]:
    """Yield the alerts of the windows from `first` on, numbered in each; `kept` is kept up."""
    back = lookback(rules)
    for place, record in enumerate(records):
        until, new = records[max(0, place - back) : place + 1], list[Alert]()
        for rule in rules if record.step >= first else ():
            found, kept[rule.name] = evaluate_rule(rule, until, features, kept[rule.name], max_gap)
            new += found
        yield from enumerate(new)


def evaluate_rule(
    rule: Rule,
    records: Sequence[StepRecord],
    features: Sequence[str],
    kept: RuleState,
    max_gap: float,
) -> tuple[list[Alert], dict[int, float]]:
    """Return the alerts of one rule for the last of some consecutive windows, and what it keeps.

    A cluster that is kept and was unseen for longer than `max_gap` is gone for good.
    """
    record = records[-1]
    found, kept = _SEEN[rule.event](rule, records, features, kept)
    alerts = [
        Alert(rule.name, record.step, int(k), _fields(rule, record, k, features)) for k in found
    ]
    return alerts, {k: seen for k, seen in kept.items() if record.time - seen <= max_gap + 1}


Matches = tuple[list[int], RuleState]


def _check_born_or_returned(
    rule: Rule, records: Sequence[StepRecord], features: Sequence[str], kept: RuleState
) -> Matches:
    """Clusters born or returned, in the first window since that shows them large enough."""
    record = records[-1]
    new = {event.cluster_id: record.time for event in record.events if event.kind == rule.event}
    counts, waiting = _counts(record), {**kept, **new}
    found = [k for k in sorted(waiting) if counts.get(k, -1) >= rule.min_points]
    seen = {k: record.time if k in counts else at for k, at in waiting.items()}
    return found, {k: at for k, at in seen.items() if k not in found}


def _check_grown(
    rule: Rule, records: Sequence[StepRecord], features: Sequence[str], kept: RuleState
) -> Matches:
    """Clusters with this many percent more points than this many windows ago."""
    if len(records) <= rule.over_windows:
        return [], {}
    now, then = _counts(records[-1]), _counts(records[-1 - rule.over_windows])
    factor = 1 + rule.percent / 100
    found = [k for k, n in now.items() if 0 < then.get(k, 0) * factor <= n]
    return [k for k in found if now[k] >= rule.min_points], {}


def _check_unseen(
    rule: Rule, records: Sequence[StepRecord], features: Sequence[str], kept: RuleState
) -> Matches:
    """Clusters last seen exactly this many windows ago."""
    if len(records) <= rule.over_windows:
        return [], {}
    since = {k for record in records[-rule.over_windows :] for k in record.ids.tolist()}
    then = _counts(records[-1 - rule.over_windows])
    return [k for k, n in then.items() if n >= rule.min_points and k not in since], {}


def _check_entered(
    rule: Rule, records: Sequence[StepRecord], features: Sequence[str], kept: RuleState
) -> Matches:
    """Clusters whose center is in the box, large enough, and had not entered it before."""
    record = records[-1]
    inside, counts = _inside(rule, record, features), _counts(record)
    found = [k for k in sorted(inside) if k not in kept and counts[k] >= rule.min_points]
    stayed = {k: at for k, at in kept.items() if k not in counts}
    stayed |= {k: record.time for k in inside if k in kept or k in found}
    return found, stayed


_SEEN: dict[str, Callable[..., Matches]] = {
    "born": _check_born_or_returned,
    "returned": _check_born_or_returned,
    "grown": _check_grown,
    "unseen": _check_unseen,
    "entered": _check_entered,
}


def _counts(record: StepRecord) -> dict[int, float]:
    return dict(zip(record.ids.tolist(), record.counts.tolist(), strict=True))


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
        "event": rule.event,
        "step": record.step,
        "window": None if record.when is None else str(record.when),
        "cluster_id": int(cluster_id),
        "n_points": float(record.counts[places[0]]) if len(places) else 0.0,
        "center": None if center is None else dict(zip(features, center, strict=True)),
    }
