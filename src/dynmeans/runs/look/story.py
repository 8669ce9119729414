"""What happened in a run, in a few plain sentences made from facts."""

from collections import Counter
from datetime import datetime

from dynmeans.inputs.argument_text import ArgumentText, Namer, in_python
from dynmeans.inputs.plural import counted
from dynmeans.runs.look.links import Link, link_words, links_of_run
from dynmeans.runs.look.status import RunStatus
from dynmeans.runs.reading.columns import is_of_vector
from dynmeans.runs.run import Run
from dynmeans.runs.store.run_tables import events_of_kind, window_names

_MOST = 3  # clusters named in a sentence


def story_of(run: Run, name_of: Namer = in_python, links: list[Link] | None = None) -> list[str]:
    """Say how many clusters there are, who is largest, who comes back, who split, what is left out.

    `name_of` names the arguments that a sentence advises; `links` are those of `links_of_run`.
    """
    status = run.status()
    if not status.n_windows:
        return ["Nothing was taken in yet."]
    teller = _Teller(run)
    sentences = [
        *teller.numbers(status),
        *teller.largest(status),
        *teller.returns(),
        *teller.changes(),
        *teller.linked(links_of_run(run) if links is None else links, name_of),
    ]
    doubts = [ArgumentText(*told).told(name_of) for told in run.store.manifest("doubts") or []]
    return [*sentences, *left_out_sentences(status), *(f"Doubtful: {told}" for told in doubts)]


def left_out_sentences(status: RunStatus) -> list[str]:
    """Say how many rows were not clustered, and why."""
    counts = (
        (status.n_dropped, "because a value is missing or cannot be read"),
        (status.n_late, "because they came too late"),
        (status.n_dead_letters, "because they could not be read"),
    )
    return [f"{counted(n, 'row')} left out {reason}." for n, reason in counts if n]


class _Teller:
    """Facts of a run, read once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._edits = run.edits
        self._features = [name for name in run.config.features if not is_of_vector(name)]
        self._clusters = run.clusters(frame="arrow").to_pylist()
        self._windows = window_names(run.store)

    def numbers(self, status: RunStatus) -> list[str]:
        ends = [_told_time(name) for name in (status.first_window, status.last_window) if name]
        span = f" from {ends[0]} to {ends[1]}" if ends else ""
        found = (
            f"{counted(status.n_rows, 'row')} in {counted(status.n_windows, 'window')}{span}: "
            f"{counted(status.n_identities, 'cluster')} in all, {status.n_clusters:,} in the last "
            "window."
        )
        short = sum(row["n_windows"] == 1 for row in self._clusters)
        if 2 * short > len(self._clusters) > 1:
            return [found, f"{short:,} of them were seen in one window only."]
        return [found]

    def largest(self, status: RunStatus) -> list[str]:
        most = max(self._clusters, key=lambda row: float(row["n_points"]))
        share = float(most["n_points"]) / max(status.n_rows, 1)
        center = [(name, most[f"center_{name}"]) for name in self._features[:3]]
        where = ", ".join(f"{name} {value:.4g}" for name, value in center)
        place = f", last at {where}" if where else ""
        in_all = most["n_windows"] == status.n_windows
        seen = "every window" if in_all else counted(most["n_windows"], "window")
        return [
            f"The largest is {self._who(most['cluster_id'])}, with "
            f"{counted(most['n_points'], 'point')} in all ({share:.0%}), seen in {seen}{place}."
        ]

    def returns(self) -> list[str]:
        rows = events_of_kind(self._run.store, "returned")
        if not rows:
            return []
        often = Counter(row["cluster_id"] for row in rows).most_common(_MOST)
        who = ", ".join(f"{self._who(k)} ({n})" for k, n in often)
        return [
            f"{counted(len({row['cluster_id'] for row in rows}), 'cluster')} came back under the "
            f"same number, {counted(len(rows), 'time')} in all, after at most "
            f"{max(row['gap'] for row in rows):.3g} steps of time; the most often: {who}."
        ]

    def linked(self, links: list[Link], name_of: Namer) -> list[str]:
        penalties = self._run.penalties
        words = None if penalties is None else link_words(links, penalties.max_gap)
        return [] if words is None else [words.told(name_of)]

    def changes(self) -> list[str]:
        told = []
        for kind, verb in (("split", "split off"), ("merged", "went into")):
            rows = events_of_kind(self._run.store, kind)
            if rows:
                last = rows[-1]
                who, other = (self._who(last[name]) for name in ("cluster_id", "other_id"))
                when = _told_time(self._windows.get(last["step"]) or f"window {last['step']}")
                noun = "split" if kind == "split" else "merger"
                told.append(f"{counted(len(rows), noun)}; the last: {who} {verb} {other}, {when}.")
        return told

    def _who(self, cluster_id: int) -> str:
        name = self._edits.name_of(cluster_id)
        return f"{name} (cluster {cluster_id})" if name else f"cluster {cluster_id}"


def _told_time(name: str) -> str:
    """Write a date as people do; the name of a window that is none stays as it is."""
    try:
        at = datetime.fromisoformat(name)
    except ValueError:
        return name
    clock = f" {at:%H:%M}" + (f":{at:%S}" if at.second else "") if "T" in name else ""
    return f"{at.day} {at:%b %Y}{clock}" + (f" {at:%z}" if at.utcoffset() else "")
