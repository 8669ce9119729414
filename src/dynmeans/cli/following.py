"""Options of `dynmeans cluster` about what follows a commit."""

from functools import partial
from pathlib import Path

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.after_commit import AfterCommit, Follower, Retention
from dynmeans.runs.reading.durations import parse_seconds


def after_commit(
    labels_to: str | None,
    events_to: str | None,
    alerts: Path | None,
    keep: str | None,
) -> AfterCommit:
    """Return what the options ask for."""
    retention = None if keep is None else Retention(parse_seconds("keep", keep))
    followers: tuple[Follower, ...] = ()
    if alerts is not None:
        from dynmeans.alerts.watch import watching

        if not alerts.is_file():
            raise InputError("alerts", ": there is no file {!r}", str(alerts))
        followers = (partial(watching, alerts),)
    return AfterCommit(labels_to, events_to, retention, followers)
