"""What happened in a run, in a few plain sentences made from facts."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from dynmeans.inputs.argument_text import ArgumentText, Namer, as_python_arguments
from dynmeans.inputs.format_count import format_count
from dynmeans.runs.analysis.status import RunStatus
from dynmeans.runs.analysis.suggested_matches import (
    SuggestedMatch,
    format_suggested_matches,
    has_single_rows,
    suggested_matches_of_run,
)
from dynmeans.runs.reading.columns import is_of_vector
from dynmeans.runs.run import Run
from dynmeans.runs.store.run_tables import events_of_kind, window_names

_MOST = 3  # clusters named in a sentence


def summarize_run(
    run: Run, name_of: Namer = as_python_arguments, links: list[SuggestedMatch] | None = None
) -> list[str]:
    """Summarize the run: clusters, the largest ones, returns, splits, dropped rows.

    `name_of` names the arguments that a sentence advises; `links` are those of
    `suggested_matches_of_run`.
    """
    advice, doubts = warnings_of(run, links)
    return [
        *facts_of(run),
        *(text.render(name_of) for text in advice),
        *(f"Warning: {text.render(name_of)}" for text in doubts),
    ]


def facts_of(run: Run) -> list[str]:
    """Return the sentences of the summary that advise nothing."""
    status = run.status()
    if run.penalties is None or not status.n_windows:
        return ["No windows have been processed yet."]
    return [*_numbers(run, status), *_changes(run), *_count_excluded(status)]


def changes_of(run: Run) -> list[str]:
    """Return the sentences about returns, splits, merges and rows that were left out."""
    status = run.status()
    if run.penalties is None or not status.n_windows:
        return ["No windows have been processed yet."]
    return [*_changes(run), *_count_excluded(status)]


def warnings_of(
    run: Run, links: list[SuggestedMatch] | None = None
) -> tuple[list[ArgumentText], list[ArgumentText]]:
    """Return what a reader may want to change: suggested matches, and doubts of the penalties."""
    if run.penalties is None:
        return [], []
    matches = suggested_matches_of_run(run) if links is None else links
    is_of_objects = has_single_rows(run)
    words = format_suggested_matches(matches, run.penalties.max_gap, is_of_objects=is_of_objects)
    doubts = [ArgumentText(*text) for text in run.store.manifest("warnings") or []]
    return [] if words is None else [words], doubts


def _numbers(run: Run, status: RunStatus) -> Iterator[str]:
    """How many clusters there are, and the largest."""
    clusters = run.clusters(frame="arrow").to_pylist()
    ends = [_format_time(name) for name in (status.first_window, status.last_window) if name]
    span = f" from {ends[0]} to {ends[1]}" if ends else ""
    yield (
        f"{format_count(status.n_rows, 'row')} in "
        f"{format_count(status.n_windows, 'window')}{span}: "
        f"{format_count(status.n_clusters_total, 'cluster')} in all, "
        f"{status.n_active_clusters:,} in the last window."
    )
    if not clusters:
        return
    short = sum(row["n_windows"] == 1 for row in clusters)
    if 2 * short > len(clusters) > 1:
        yield f"{short:,} of them were active in one window only."
    most = max(clusters, key=lambda row: float(row["n_points"]))
    share = float(most["n_points"]) / max(status.n_rows, 1)
    features = [name for name in run.config.features if not is_of_vector(name)]
    where = ", ".join(f"{name} {most[f'center_{name}']:.4g}" for name in features[:_MOST])
    in_all = most["n_windows"] == status.n_windows
    seen = "every window" if in_all else format_count(most["n_windows"], "window")
    yield (
        f"The largest is {_cluster_text(run, most['cluster_id'])}, with "
        f"{format_count(most['n_points'], 'point')} in all ({share:.0%}), active in {seen}"
        f"{f', last at {where}' if where else ''}."
    )


def _changes(run: Run) -> Iterator[str]:
    """Who came back, split and went into others."""
    if back := _events_of_kind(run, "returned"):
        times = Counter(row["cluster_id"] for row in back)
        who = ", ".join(f"{_cluster_text(run, k)} ({n})" for k, n in times.most_common(_MOST))
        yield (
            f"{format_count(len(times), 'cluster')} returned under the same ID, "
            f"{format_count(len(back), 'time')} in all, after at most "
            f"{max(row['gap'] for row in back):.3g} steps; most often: {who}."
        )
    for kind, noun, verb in (("split", "split", "split off"), ("merged", "merge", "merged into")):
        if rows := _events_of_kind(run, kind):
            *_, last = rows
            when = window_names(run.store).get(last["step"]) or f"window {last['step']}"
            yield (
                f"{format_count(len(rows), noun)}; the last: "
                f"{_cluster_text(run, last['cluster_id'])} {verb} "
                f"{_cluster_text(run, last['other_id'])}, {_format_time(when)}."
            )


def _events_of_kind(run: Run, kind: str) -> list[Any]:
    """Step, cluster, other cluster and gap of all events of a kind, the oldest first."""
    if run.is_joined:
        rows: list[Any] = run.events(kinds=[kind], frame="arrow").to_pylist()
        return rows
    return events_of_kind(run.store, kind)


def _count_excluded(status: RunStatus) -> list[str]:
    counts = (
        (status.n_dropped_rows, "because a value is missing or cannot be read"),
        (status.n_late_rows, "because they were late"),
        (status.n_dead_letters, "because they could not be read"),
    )
    sentences = [f"{format_count(n, 'row')} dropped {reason}." for n, reason in counts if n]
    if n := status.n_noise:
        sentences.append(
            f"{format_count(n, 'row')} of noise, with the label -1: far from every cluster."
        )
    if n := status.n_unconfirmed:
        sentences.append(
            f"{format_count(n, 'cluster')} unconfirmed: too small or active in too few windows."
        )
    if n := status.n_wordless:
        sentences.append(f"{format_count(n, 'row')} without a word: noise, with the label -1.")
    return sentences


def _cluster_text(run: Run, cluster_id: int) -> str:
    name = run.edits.name_of(cluster_id)
    return f"{name} (cluster {cluster_id})" if name else f"cluster {cluster_id}"


def _format_time(name: str) -> str:
    """Write a date as people do; the name of a window that is none is unchanged."""
    try:
        at = datetime.fromisoformat(name)
    except ValueError:
        return name
    clock = f" {at:%H:%M}" + (f":{at:%S}" if at.second else "") if "T" in name else ""
    return f"{at.day} {at:%b %Y}{clock}" + (f" {at:%z}" if at.utcoffset() else "")
