"""What `dynmeans cluster` shows: how far it is, and what it did."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dynmeans.cli.flags import with_flags
from dynmeans.cli.output import named, print_json, say, tell
from dynmeans.inputs.numbers import checked_range
from dynmeans.inputs.plural import counted
from dynmeans.one_call.summary import left_out_text
from dynmeans.parameters.hint import Hint
from dynmeans.parameters.suggest import N_BATCHES, N_POINTS
from dynmeans.records.families import Families
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.cluster_job import ClusterJob, ClusterResult
from dynmeans.runs.reading.late_rows import late_warning
from dynmeans.runs.run import Run

_MOST_TOLD = 12  # members of a family, and families of which those of one member are listed
_MUCH = 1 / 3  # of the rows: whoever loses so many should know
NO_NAMES: Mapping[int, str] = {}


def tell_start(job: ClusterJob) -> None:
    """Say what a stream is read for, where it goes on, and what it waits for first."""
    if (job.out / "run.sqlite").exists():
        with Run.open(job.out) as run:
            status = run.status()
        if status.n_windows:
            tell(
                f"resuming {job.out}: {counted(status.n_windows, 'window')} so far, the last "
                f"{status.last_window}; waiting for rows of {job.input.name}."
            )
            return
    waits = ""
    if job.recipe.is_auto:
        waits = (
            f" The first {N_BATCHES} windows, of {N_POINTS:,} rows at least, choose the penalties; "
            "--new-penalty goes without."
        )
    tell(f"a new run, {job.out}: waiting for rows of {job.input.name}.{waits}")


def show_suggestion(found: Suggestion) -> None:
    """Say what was chosen before the run begins."""
    tell(" ".join(with_flags(sentence, ["cluster"]) for sentence in found.sentences))
    warn_of(found)


def warn_of(found: Suggestion) -> None:
    """Warn where the choice should not be trusted."""
    sys.stdout.flush()  # what the warnings are about comes first
    for doubt in found.doubts:
        tell(f"warning: {with_flags(doubt, ['cluster'])}", "warning")


def show_families(families: Families, names: Mapping[int, str] = NO_NAMES) -> None:
    """Say how many there are, and the members of each that has several."""
    n_identities = counted(len(families.tree.ids), "identity")
    say(
        f"{n_identities} in {counted(families.n_families, 'family')} at level "
        f"{families.level:.6g}, {families.n_per_batch:.3g} in a window on average."
    )
    n_alone = 0
    for family in families.ids.tolist():
        members = families.tree.ids[families.family_of_identity == family].tolist()
        n_alone += len(members) == 1
        if len(members) > 1 or families.n_families <= _MOST_TOLD:
            more = f" and {len(members) - _MOST_TOLD} more" if len(members) > _MOST_TOLD else ""
            say(f"{family}: {', '.join(named(k, names) for k in members[:_MOST_TOLD])}{more}")
    if n_alone and families.n_families > _MOST_TOLD:
        say(f"and {counted(n_alone, 'family')} of one identity each")


def tell_number(families: Families, asked: float | tuple[float, float], folder: Path) -> None:
    """Say so where there are other than about as many families in a window as were asked for."""
    note = Hint(*checked_range("n_clusters", asked), is_joined=True).told(families.n_per_batch)
    if note is not None:
        tell(with_flags(note, ["cluster"], str(folder)))


def families_fields(families: Families) -> dict[str, Any]:
    """Return families as fields of a JSON object."""
    rows = families.to_frame(kind="arrow").to_pylist()
    return {"level": families.level, "n_families": families.n_families, "identities": rows}


def show_result(
    result: ClusterResult, families: Families | None, *, time: str | None, as_json: bool
) -> None:
    """Say what was done: one JSON object, or lines for people and logs; `time` is a column."""
    if as_json:
        found = {} if families is None else {"families": families_fields(families)}
        print_json({**_result_fields(result), **found})
        return
    _say_result(result)
    _tell_left_out(result, time)
    if families is not None:
        show_families(families)


def _result_fields(result: ClusterResult) -> dict[str, Any]:
    status = result.status
    return {
        **asdict(status),
        "is_resumed": result.is_resumed,
        "new_windows": result.n_windows,
        "new_rows": result.n_rows,
        "repeated_rows": result.n_repeated,
        "missing_values": dict(result.missing),
        "seconds": round(result.seconds, 3),
        "is_stopped": result.is_stopped,
        "doubts": list(result.suggestion.doubts) if result.suggestion else [],
        "new_beyond": result.new_beyond,
        "notes": [with_flags(note, ["cluster"], status.folder) for note in result.notes],
    }


def _say_result(result: ClusterResult) -> None:
    status = result.status
    if result.is_resumed and result.n_windows == 0 and status.is_finished:
        say(f"already complete: {counted(status.n_windows, 'window')}. Run: {status.folder}")
        return
    rate = result.n_rows / result.seconds if result.seconds > 0 else 0.0
    began = "stopped: " if result.is_stopped else "resumed: " if result.is_resumed else ""
    say(
        f"{began}{counted(result.n_windows, 'window')}, {counted(result.n_rows, 'row')} in "
        f"{result.seconds:.1f} s ({rate:,.0f} rows/s); {counted(status.n_clusters, 'cluster')} "
        f"now, {status.n_identities:,} in all, new beyond {result.new_beyond}. "
        f"Run: {status.folder}"
    )
    for note in result.notes:
        tell(with_flags(note, ["cluster"], status.folder))
    if status.n_dead_letters:
        letters = counted(status.n_dead_letters, "message")
        tell(f"{letters} could not be read as rows: dynmeans dead-letters {status.folder}")


def _tell_left_out(result: ClusterResult, time: str | None) -> None:
    """Say how many rows have no label, and why."""
    status = result.status
    if text := left_out_text(status.n_dropped, result.missing, time, result.unread):
        is_much = status.n_dropped > _MUCH * (status.n_rows + status.n_dropped)
        told = f"{'warning: ' if is_much else ''}{with_flags(text, ['cluster'])}"
        tell(told, "warning" if is_much else "info")
    if status.n_late or result.n_repeated:
        late = f"{counted(status.n_late, 'row')} left out because they came too late"
        tell(f"{late}, {result.n_repeated:,} because they were taken in before.")
    if warning := late_warning(status.late_share):
        tell(f"warning: {warning}", "warning")
