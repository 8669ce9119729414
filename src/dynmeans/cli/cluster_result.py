"""What `dynmeans cluster` shows: how far it is, and what it did."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dynmeans.cli.flags import with_flags
from dynmeans.cli.output import format_cluster, log_line, print_json, print_line
from dynmeans.cluster_function.summary import dropped_rows_message
from dynmeans.inputs.format_count import format_count
from dynmeans.inputs.numbers import check_range
from dynmeans.parameters.hint import Hint
from dynmeans.parameters.selection import N_BATCHES, N_POINTS
from dynmeans.records.families import Families
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.cluster_job import ClusterJob, JobResult
from dynmeans.runs.reading.late_rows import late_warning
from dynmeans.runs.run import Run

_MAX_PRINTED = 12  # members of a family, and families of which those of one member are listed
_MUCH = 1 / 3  # of the rows: whoever loses so many should know
NO_NAMES: Mapping[int, str] = {}


def print_start(job: ClusterJob) -> None:
    """Print the source of a stream, where it resumes, and what it waits for first."""
    if (job.out / "run.sqlite").exists():
        with Run.open(job.out) as run:
            status = run.status()
        if status.n_windows:
            log_line(
                f"resuming {job.out}: {format_count(status.n_windows, 'window')} so far, the last "
                f"{status.last_window}; waiting for rows of {job.input.name}."
            )
            return
    waits = ""
    if job.model_config.is_auto:
        waits = (
            f" Parameters will be chosen from the first {N_BATCHES} windows (at least {N_POINTS:,} "
            "rows). Set --new-penalty to skip this."
        )
    log_line(f"a new run, {job.out}: waiting for rows of {job.input.name}.{waits}")


def show_suggestion(found: Suggestion) -> None:
    """Print the parameters chosen before the run begins."""
    log_line(" ".join(with_flags(sentence, ["cluster"]) for sentence in found.explanation_lines))
    print_warnings(found)


def print_warnings(found: Suggestion) -> None:
    """Warn where the choice should not be trusted."""
    sys.stdout.flush()  # what the warnings are about comes first
    for doubt in found.warnings:
        log_line(f"warning: {with_flags(doubt, ['cluster'])}", "warning")


def show_families(families: Families, names: Mapping[int, str] = NO_NAMES) -> None:
    """Return how many there are, and the members of each that has several."""
    n_clusters_total = format_count(len(families.tree.ids), "identity")
    print_line(
        f"{n_clusters_total} in {format_count(families.n_families, 'family')} at level "
        f"{families.level:.6g}, {families.mean_per_batch:.3g} in a window on average."
    )
    n_alone = 0
    for family in families.ids.tolist():
        members = families.tree.ids[families.family_of_cluster == family].tolist()
        n_alone += len(members) == 1
        if len(members) > 1 or families.n_families <= _MAX_PRINTED:
            more = f" and {len(members) - _MAX_PRINTED} more" if len(members) > _MAX_PRINTED else ""
            print_line(
                f"{family}: "
                f"{', '.join(format_cluster(k, names) for k in members[:_MAX_PRINTED])}{more}"
            )
    if n_alone and families.n_families > _MAX_PRINTED:
        print_line(f"and {format_count(n_alone, 'family')} of one cluster each")


def print_family_count(
    families: Families, asked: float | tuple[float, float], folder: Path
) -> None:
    """Print a line if the number of families in a window is far from the hint."""
    note = Hint(*check_range("n_clusters", asked), is_joined=True).render(families.mean_per_batch)
    if note is not None:
        log_line(with_flags(note, ["cluster"], str(folder)))


def families_fields(families: Families) -> dict[str, Any]:
    """Return families as fields of a JSON object."""
    rows = families.to_frame(kind="arrow").to_pylist()
    return {"level": families.level, "n_families": families.n_families, "clusters": rows}


def show_result(
    result: JobResult, families: Families | None, *, time: str | None, as_json: bool
) -> None:
    """Print the result: one JSON object, or lines of text; `time` is a column."""
    if as_json:
        found = {} if families is None else {"families": families_fields(families)}
        print_json({**_fields_of_result(result), **found})
        return
    print_result(result)
    _print_dropped_rows(result, time)
    if families is not None:
        show_families(families)


def _fields_of_result(result: JobResult) -> dict[str, Any]:
    status = result.status
    return {
        **asdict(status),
        "is_resumed": result.is_resumed,
        "n_new_windows": result.n_windows,
        "n_new_rows": result.n_rows,
        "n_repeated_rows": result.n_repeated,
        "missing_counts": dict(result.missing),
        "seconds": round(result.seconds, 3),
        "is_stopped": result.is_stopped,
        "warnings": list(result.suggestion.warnings) if result.suggestion else [],
        "new_cluster_distance": result.new_cluster_distance,
        "notes": [with_flags(note, ["cluster"], status.folder) for note in result.notes],
    }


def print_result(result: JobResult) -> None:
    """Print what one call did."""
    status = result.status
    if result.is_resumed and result.n_windows == 0 and status.is_finished:
        print_line(
            f"already complete: {format_count(status.n_windows, 'window')}. Run: {status.folder}"
        )
        return
    rate = result.n_rows / result.seconds if result.seconds > 0 else 0.0
    began = "stopped: " if result.is_stopped else "resumed: " if result.is_resumed else ""
    print_line(
        f"{began}{format_count(result.n_windows, 'window')}, "
        f"{format_count(result.n_rows, 'row')} in {result.seconds:.1f} s ({rate:,.0f} rows/s); "
        f"{format_count(status.n_active_clusters, 'cluster')} in the last window, "
        f"{status.n_clusters_total:,} in total; "
        f"new clusters start beyond {result.new_cluster_distance}. "
        f"Run: {status.folder}"
    )
    for note in result.notes:
        log_line(with_flags(note, ["cluster"], status.folder))
    if status.n_dead_letters:
        letters = format_count(status.n_dead_letters, "message")
        log_line(f"{letters} could not be read as rows: dynmeans dead-letters {status.folder}")


def _print_dropped_rows(result: JobResult, time: str | None) -> None:
    """Print how many rows have no label, and why."""
    status = result.status
    if text := dropped_rows_message(status.n_dropped_rows, result.missing, time, result.unread):
        is_much = status.n_dropped_rows > _MUCH * (status.n_rows + status.n_dropped_rows)
        message = f"{'warning: ' if is_much else ''}{with_flags(text, ['cluster'])}"
        log_line(message, "warning" if is_much else "info")
    if status.n_late_rows or result.n_repeated:
        late = f"{format_count(status.n_late_rows, 'row')} dropped because they were too late"
        log_line(f"{late}, {result.n_repeated:,} because they were processed before.")
    if warning := late_warning(status.late_share):
        log_line(f"warning: {warning}", "warning")
