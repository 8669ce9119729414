"""The report of a run folder, also while the run grows."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dynmeans.inputs.argument_text import Namer, as_python_arguments
from dynmeans.report.axes import in_space
from dynmeans.report.build import report_data
from dynmeans.report.center_positions import align_centers
from dynmeans.report.copied_calls import copied_calls, row_command
from dynmeans.report.data import ReportData, Warned
from dynmeans.report.descriptions import descriptions
from dynmeans.report.recluster_settings import ReclusterSettings
from dynmeans.report.render_page import write_report
from dynmeans.runs.analysis.carried_rows import carried_rows
from dynmeans.runs.analysis.profiles import describe_clusters
from dynmeans.runs.analysis.scale_sensitivity import (
    format_scale_sensitivity,
    scale_sensitivity_of_run,
)
from dynmeans.runs.analysis.space_messages import new_cluster_distance, suggest_space
from dynmeans.runs.analysis.suggested_matches import SuggestedMatch, suggested_matches_of_run
from dynmeans.runs.analysis.summary import changes_of, warnings_of
from dynmeans.runs.analysis.topics import topic_lines
from dynmeans.runs.analysis.truth_counts import score_run
from dynmeans.runs.reading.columns import is_of_vector
from dynmeans.runs.run import Run
from dynmeans.runs.streams.addresses import is_address

# lambda, N_Q and k_tau as given or chosen, and what they come to.
_PENALTIES = ("new_penalty", "max_gap", "reach", "revival_penalty", "drift", "revival", "motion")
# Columns of the source that a page shows beside its points.
_CARRIED = ("text", "id", "time", "truth")
_MOST_NAMED = 4  # columns in the title of a page


def run_report(
    run: Run,
    *,
    truth: str | None = None,
    input: Any = None,
    title: str | None = None,
    allow_stored_sql: bool = False,
    describe: Sequence[str] = (),
    name_of: Namer = as_python_arguments,
    has_rows: bool = True,
) -> ReportData:
    """Gather what the report of a run shows.

    Parameters
    ----------
    run : Run
        An open run.
    truth : str, optional
        Column of the input with true identities, for scores. By default the one the run was
        made with, if any.
    input : optional
        Where the original rows are now, if they were moved.
    title : str, optional
        Heading of the page; by default the name of the input.
    trust : bool
        Whether a query that is stored in the run may be run to find `truth`.
    describe : sequence of str
        Further columns of the input to describe clusters by, as for `describe_clusters`.
    name_of : callable
        Names the arguments that the page advises; `typed` does it as the command takes them.
    has_rows : bool
        Whether the page carries columns of the input for its points: `describe`, and the columns
        of text, id, time and truth. A page that is made again and again, such as a live one, does
        without, for the input is read once for them.
    """
    # A run that goes on may commit between the two: the samples, read first, set the end.
    samples = list(run.samples())
    if not samples:
        raise ValueError(
            f"the run {str(run.folder)!r} has no windows yet. Wait for the first commit."
        )
    history = run.history(labels=False, last_step=samples[-1].step)
    assert run.memory is not None, "a run with windows has one"
    space = run.memory.space_or_raw
    column = truth or run.config.source.get("truth")
    scores = score_run(run, column, input, allow_stored_sql=allow_stored_sql) if column else None
    drawn, kept = align_centers(history, samples, space)
    data = report_data(
        drawn,
        samples=kept,
        parameters=_parameters(run),
        scores=scores,
        title=title or _title(run),
    )
    notes, advice, texts = list(data.notes), None, dict[int, list[str]]()
    if run.config.sample_size:
        profiles = describe_clusters(
            run,
            describe=describe,
            input=input,
            allow_stored_sql=allow_stored_sql,
            already_read=(history, samples),
        )
        scales, texts = scale_sensitivity_of_run(run, samples[-1:]), descriptions(profiles)
        for k, lines in topic_lines(run).items():
            own = texts.setdefault(k, [])
            own += [line for line in lines if line not in own]
        texts |= {k: [text, *texts.get(k, [])] for k, text in scales.items()}
        advice = format_scale_sensitivity(scales)
    if any(len(sample.points) < sample.n_rows for sample in samples):
        rule = (
            f"The run keeps up to {run.config.sample_size:,} rows of each batch for pictures, "
            "chosen by a hash of their numbers."
        )
        notes.insert(0, rule)
    notes += [text.render(name_of) for text in (advice, suggest_space(run)) if text is not None]
    source = run.config.source
    carried = [*describe, *(source[name] for name in _CARRIED if source.get(name))]
    drawn_rows = np.split(data.points.origins, np.cumsum(data.points.sizes)[:-1])
    reading = {"input": input, "allow_stored_sql": allow_stored_sql}
    rows = carried_rows(run, samples, drawn_rows, carried, **reading) if has_rows else None
    links, model_config, edits = (
        suggested_matches_of_run(run, history),
        run.config.model_config,
        run.edits_at(None),
    )
    levels = _levels(run)
    return replace(
        in_space(data, space),
        min_cluster_size=model_config.min_cluster_size,
        min_batches=model_config.min_batches,
        trial=_trial(run),
        cluster_names=edits.display_names() if levels is None else dict(edits.names),
        merged=edits.merged if levels is None else {},
        levels=levels,
        counts=_counts(run),
        calls=copied_calls(run),
        pinned=frozenset(edits.pinned),
        descriptions={k: tuple(message) for k, message in texts.items()},
        suggested_matches=[(link.cluster_id, link.other_id, link.gap) for link in links],
        notes=tuple(notes),
        summary=tuple(changes_of(run)),
        rows=rows,
        warnings=page_warnings(run, name_of, links),
    )


def summary_fields(run: Run, name_of: Namer) -> dict[str, Any]:
    """Return the fields of the header that a live page shows as the run grows."""
    found = page_warnings(run, name_of, suggested_matches_of_run(run))
    return {
        "summary": changes_of(run),
        "warnings": [warned._asdict() for warned in found],
        "counts": _counts(run),
    }


def page_warnings(run: Run, name_of: Namer, links: list[SuggestedMatch]) -> tuple[Warned, ...]:
    """Return what may be wrong with a run, and the arguments that would change it."""
    advice, doubts = warnings_of(run, links)
    return tuple(
        Warned(text.render(name_of), text.advises, text.without_advice)
        for text in (*doubts, *advice)
    )


def _levels(run: Run) -> dict[str, Any] | None:
    """Return the answers that a reader may choose from, with what people made of each."""
    stored = run.levels
    if stored is None or not stored.options:
        return None
    options = [
        {**one, "clusters": {str(k): c for k, c in run.edits_at(one["name"]).merged.items()}}
        for one in stored.options
    ]
    return {"chosen": stored.chosen, "options": options}


def _counts(run: Run) -> dict[str, int]:
    status = run.status()
    return {
        "n_rows": status.n_rows,
        "n_noise": status.n_noise,
        "n_unconfirmed": status.n_unconfirmed,
        "n_left_out": status.n_dropped_rows + status.n_late_rows + status.n_dead_letters,
    }


def write_run_page(run: Run, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write the page of a run to one file; options of `run_report`."""
    return write_report(run_report(run, **options), path)


def _parameters(run: Run) -> dict[str, object]:
    """Name what the run was made with; of the input only its name, for pages are passed on."""
    config, penalties = run.config, run.penalties
    used = {} if penalties is None else {name: getattr(penalties, name) for name in _PENALTIES}
    used["new_cluster_distance"] = new_cluster_distance(run)
    asked = config.model_config.to_json() | {
        "n_init": config.model_config.n_init,
        "penalties": None,
    }
    names = (f.rpartition("[")[0] if is_of_vector(f) else f for f in config.features)
    given = {"features": list(dict.fromkeys(names)), **asked, **used, **config.source}
    unused = set() if config.source.get("text") else {"language", "stop_words"}
    fields = {name: given[name] for name in given if name not in unused}
    fields = {name: value for name, value in fields.items() if value not in (None, "", ())}
    if "input" in fields:
        fields["input"] = Path(str(fields["input"])).name
    return fields


def _trial(run: Run) -> ReclusterSettings | None:
    """What a page needs to cluster its points again; None where it could not do so."""
    model_config, memory, penalties = run.config.model_config, run.memory, run.penalties
    assert memory is not None, "a run without windows has no report"
    assert penalties is not None
    if not isinstance(model_config.random_state, int):
        return None
    return ReclusterSettings(
        penalties,
        model_config.random_state,
        model_config.n_init,
        model_config.search,
        learned=memory.space_or_raw,
        space=model_config.space
        if isinstance(model_config.space, str)
        else memory.space_or_raw.name,
        command=row_command(run),
    )


def _title(run: Run) -> str:
    table = run.config.source.get("input")
    is_file = table and table != "-" and not is_address(table)
    name = Path(str(table)).name if is_file else run.folder.resolve().name
    return f"Clusters of {name}"


def title_of_columns(run: Run) -> str:
    """Name a page by what was clustered, where neither the input nor the folder has a name."""
    text = run.config.source.get("text")
    names = [f.rpartition("[")[0] if is_of_vector(f) else f for f in run.config.features]
    columns = [str(text)] if text else list(dict.fromkeys(names))
    more = f" and {len(columns) - _MOST_NAMED:,} more" if len(columns) > _MOST_NAMED + 1 else ""
    shown = columns[:_MOST_NAMED] if more else columns
    return f"Clusters of {', '.join(shown)}{more}"
