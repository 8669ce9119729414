"""dynmeans cluster: from a table or a stream of rows to a run folder."""

import sys
from contextlib import nullcontext
from typing import Annotated, Any

import typer

from dynmeans.cli import options
from dynmeans.cli.fields import chosen, split, with_options
from dynmeans.follow.recipe import Recipe
from dynmeans.runs.configuration import N_KEPT, SEED
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.window import WindowOptions


@with_options(
    {WindowOptions: options.CUT, ReadingOptions: options.SOURCE, Recipe: options.PARAMETERS},
    defaults={"random_state": SEED, "on_missing": None, "space": None, "search": None},
)
def cluster(
    input: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help=f"{options.INPUT}, - for JSON lines on standard input, or the address of a "
            "stream: redis://HOST/DB?stream=NAME, kafka://HOST/TOPIC, "
            "mqtt://HOST/TOPIC?client=NAME, postgresql://HOST/DB?table=NAME&by=COLUMN.",
        ),
    ],
    out: options.Out,
    until_idle: options.UntilIdle = None,
    alerts: options.Alerts = None,
    keep: options.Keep = None,
    labels_to: options.LabelsTo = None,
    events_to: options.EventsTo = None,
    describe: options.NamedBy = None,
    sample_size: options.SampleSize = N_KEPT,
    n_threads: options.NThreads = None,
    resume: options.Resume = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
    log_json: options.LogJson = False,
    quiet: options.Quiet = False,
    **fields: Any,
) -> None:
    """Find and follow clusters in the rows of INPUT, window by window.

    Every row gets the identity of its cluster; identities last while clusters move, vanish and
    come back. Penalties that are not given are chosen on the first windows. The run is stored in
    a folder. However it was stopped, run the same command to resume; the result is the same as if
    it had never stopped.

    [bold]Examples[/bold]

    dynmeans cluster ships.parquet --time when --every 30min -f lon,lat --new-penalty 0.04 -o run

    dynmeans cluster 'days/*.csv' --time t --every 1d --timezone Asia/Tokyo -f 'x*' -o run

    tail -f log | dynmeans cluster - -t at --every 1min --lateness 9s -f x,y --new-penalty 1 -o run

    dynmeans cluster redis://localhost/0?stream=rows -t at --every 1min -f x,y --new-penalty 1 -o r
    """
    from dynmeans.cli import cluster_result
    from dynmeans.cli.following import after_commit
    from dynmeans.cli.output import log_to_standard_error, suggestion_bar
    from dynmeans.cli.stopping import StopSignal
    from dynmeans.runs.cluster_job import QUIETLY, ClusterJob, Shown
    from dynmeans.runs.input import Input
    from dynmeans.runs.reading.durations import parse_seconds
    from dynmeans.runs.streams.addresses import is_address

    log_to_standard_error(as_json=log_json)
    stop = StopSignal()
    idle = None if until_idle is None else parse_seconds("until_idle", until_idle)
    reading = ReadingOptions(**chosen(ReadingOptions, fields))
    fields |= {"on_missing": fields["on_missing"] or ("error" if is_address(input) else "drop")}
    job = ClusterJob(
        Input(input, reading, stop.lines(sys.stdin.buffer), idle),
        WindowOptions(**chosen(WindowOptions, fields)),
        Recipe(**chosen(Recipe, fields | {"moving": split(fields["moving"])})),
        out,
        after_commit(labels_to, events_to, alerts, keep),
        [name for name in ("space", "search") if fields[name] is None],
        describe,
        sample_size,
    )
    is_quiet = quiet or as_json
    if is_address(input) and not is_quiet:
        cluster_result.tell_start(job)
    told = Shown(
        cluster_result.show_progress,
        nullcontext if is_quiet else suggestion_bar,
        cluster_result.show_suggestion,
    )
    with stop:
        done = job.start(
            resume=resume,
            overwrite=overwrite,
            n_threads=n_threads,
            stop=stop.event,
            shown=QUIETLY if is_quiet else told,
        )
    families = cluster_result.find_families(out) if job.recipe.families else None
    if families is not None and job.recipe.n_clusters is not None and not is_quiet:
        cluster_result.tell_number(families, job.recipe.n_clusters, out)
    cluster_result.show_result(done, families, time=job.windows.time, as_json=as_json, quiet=quiet)
