"""The report of a run folder, also while the run goes on."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dynmeans.inputs.argument_text import Namer, in_python
from dynmeans.records.history import History
from dynmeans.report.axes import in_space
from dynmeans.report.build import report_data
from dynmeans.report.centers_drawn import drawn_together
from dynmeans.report.data import ReportData
from dynmeans.report.descriptions import descriptions
from dynmeans.report.render_page import render_report, write_report
from dynmeans.report.trial import Trial
from dynmeans.runs.look.links import links_of_run
from dynmeans.runs.look.profiles import describe_clusters
from dynmeans.runs.look.space_words import new_beyond, proposed_space
from dynmeans.runs.look.story import story_of
from dynmeans.runs.look.truth_counts import score_run
from dynmeans.runs.reading.columns import is_of_vector
from dynmeans.runs.run import Run
from dynmeans.runs.streams.addresses import is_address

# lambda, N_Q and k_tau as given or chosen, and what they come to.
_PENALTIES = ("new_penalty", "max_gap", "reach", "revival_penalty", "drift", "revival", "motion")
# What of the source a command must name to cut the same rows into the same windows.
_ASKED = (
    "text",
    "time",
    "every",
    "count",
    "batch",
    "timezone",
    "time_unit",
    "time_format",
    "weight",
)


def run_report(
    run: Run,
    *,
    truth: str | None = None,
    input: Any = None,
    title: str | None = None,
    trust: bool = False,
    names: Mapping[int, str] | None = None,
    describe: Sequence[str] = (),
    name_of: Namer = in_python,
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
    names : mapping of int to str, optional
        Names of clusters for this report, in place of those that are stored in the run.
    describe : sequence of str
        Further columns of the input to describe clusters by, as for `describe_clusters`.
    name_of : callable
        Names the arguments that the page advises; `typed` does it as the command takes them.
    """
    # A run that goes on may commit between the two: the samples, read first, set the end.
    samples = list(run.samples())
    if not samples:
        raise ValueError(f"the run {str(run.folder)!r} has no windows yet.")
    history = History(feature_names=run.config.features)
    for record, _ in zip(run.history(labels=False), samples, strict=False):
        history.add(record)
    assert run.memory is not None, "a run with windows has one"
    space = run.memory.known_space
    column = truth or run.config.source.get("truth")
    scores = score_run(run, column, input, trust=trust) if column else None
    drawn, kept = drawn_together(history, samples, space)
    data = report_data(
        drawn,
        samples=kept,
        parameters=_parameters(run),
        scores=scores,
        title=title or _title(run),
    )
    data = in_space(data, space)
    recipe = run.config.recipe
    size, life = recipe.min_cluster_size, recipe.min_life
    data = data.with_confirmed(min_cluster_size=size, min_life=life).with_trial(_trial(run))
    data = data.with_names(run.edits.shown_names() | dict(names or {}))
    data = data.with_edits(run.edits.merged, run.edits.pinned)
    if run.config.sample_size:
        profiles = describe_clusters(
            run, describe=describe, input=input, trust=trust, already_read=(history, samples)
        )
        data = data.with_descriptions(descriptions(profiles))
    if any(len(sample.points) < sample.n_rows for sample in samples):
        rule = (
            f"The run keeps up to {run.config.sample_size:,} rows of each batch for pictures, "
            "chosen by a hash of their numbers."
        )
        data = replace(data, notes=(rule, *data.notes))
    links = links_of_run(run, history)
    advice = proposed_space(run)
    told = [] if advice is None else [advice.told(name_of)]
    data = replace(data, links=[(k.cluster_id, k.other_id, k.gap) for k in links])
    return replace(data, notes=(*data.notes, *told), story=tuple(story_of(run, name_of, links)))


def run_page(run: Run, **options: Any) -> str:
    """Return the page of a run as text; options of `run_report`."""
    return render_report(run_report(run, **options))


def write_run_page(run: Run, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write the page of a run to one file; options of `run_report`."""
    return write_report(run_report(run, **options), path)


def _parameters(run: Run) -> dict[str, object]:
    """Name what the run was made with; of the input only its name, for pages are passed on."""
    config, penalties = run.config, run.penalties
    used = {} if penalties is None else {name: getattr(penalties, name) for name in _PENALTIES}
    used["new_beyond"] = new_beyond(run)
    asked = config.recipe.to_json() | {"n_init": config.recipe.n_init, "penalties": None}
    names = (f.rpartition("[")[0] if is_of_vector(f) else f for f in config.features)
    given = {"features": list(dict.fromkeys(names)), **asked, **used, **config.source}
    fields = {name: value for name, value in given.items() if value is not None}
    if "input" in fields:
        fields["input"] = Path(str(fields["input"])).name
    return fields


def _trial(run: Run) -> Trial | None:
    """What a page needs to cluster its points again; None where it could not do so."""
    recipe, memory, penalties = run.config.recipe, run.memory, run.penalties
    assert memory is not None, "a run without windows has no report"
    assert penalties is not None
    if not isinstance(recipe.random_state, int):
        return None
    return Trial(
        penalties,
        recipe.random_state,
        recipe.n_init,
        recipe.search,
        learned=memory.known_space,
        space=recipe.space if isinstance(recipe.space, str) else memory.known_space.name,
        command=_command(run),
    )


def _command(run: Run) -> str:
    """Write the command that clusters the same rows, but for the penalties."""
    source = run.config.source
    words = ["dynmeans", "cluster", Path(str(source.get("input") or "INPUT")).name]
    for name in _ASKED:
        if source.get(name) is not None:
            words += [f"--{name.replace('_', '-')}", str(source[name])]
    if source.get("text") is None:
        words += ["--features", ",".join(run.config.features)]
    if isinstance(run.config.recipe.space, str) and run.config.recipe.space != "raw":
        words += ["--space", run.config.recipe.space]
    return shlex.join(words)


def _title(run: Run) -> str:
    table = run.config.source.get("input")
    is_file = table and table != "-" and not is_address(table)
    name = Path(str(table)).name if is_file else run.folder.resolve().name
    return f"Clusters of {name}"
