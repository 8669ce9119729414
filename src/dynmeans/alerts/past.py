"""Alerts that rules would have led to in windows of the past: nothing is stored, nobody is told."""

from collections.abc import Iterator, Sequence

from dynmeans.alerts.matching import Alert, Kept, lookback, matches
from dynmeans.alerts.rules import Rule
from dynmeans.inputs.input_error import InputError
from dynmeans.runs.run import Run


def past_alerts(run: Run, rules: Sequence[Rule]) -> Iterator[Alert]:
    """Yield what these rules find in the windows of a run, the oldest first."""
    if late := [rule.name for rule in rules if rule.when == "family-splits"]:
        told = ": rule {!r}: family-splits is looked at while a run goes on, not in its past"
        raise InputError("alerts", told, late[0])
    records, penalties = list(run.history(labels=False)), run.penalties
    kept: dict[str, Kept] = {rule.name: {} for rule in rules}
    back = lookback(rules)
    for place in range(len(records)):
        until = records[max(0, place - back) : place + 1]
        for rule in rules:
            assert penalties is not None, "a window was taken in"
            features, before = run.config.features, kept[rule.name]
            found, kept[rule.name] = matches(rule, until, features, before, penalties.max_gap)
            yield from found
