"""dynmeans cluster: from a table or a stream of rows to a run folder."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from dynmeans.cli import options


def cluster(
    table: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help=f"{options.INPUT}, - for JSON lines on standard input, or the address of a "
            "stream: redis://HOST/DB?stream=NAME, kafka://HOST/TOPIC, "
            "mqtt://HOST/TOPIC?client=NAME, postgresql://HOST/DB?table=NAME&by=COLUMN.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="RUN", help="Folder of the run.", rich_help_panel=options.OUTPUT
        ),
    ],
    features: options.Features,
    time: options.Time = None,
    every: options.Every = None,
    count: options.Count = None,
    batch: options.BatchColumn = None,
    new_penalty: Annotated[
        float | None,
        typer.Option(
            help="How far from every cluster, as a squared distance, a point must be to start a "
            "new one: about (2 r)² to (4 r)² for clusters of radius r.",
            rich_help_panel=options.PARAMETERS,
        ),
    ] = None,
    suggest: Annotated[
        bool,
        typer.Option(
            "--suggest",
            help="Choose --new-penalty, and --max-gap, --reach and --motion where they "
            "are not given, from the first 30 windows, or more if these hold "
            "fewer than 4,000 points.",
            rich_help_panel=options.PARAMETERS,
        ),
    ] = False,
    about: options.About = None,
    max_gap: Annotated[
        float | None,
        typer.Option(
            help="A cluster comes back if fewer windows than this have passed since it was last "
            "seen; 6.8 by default, which allows five missed windows.",
            rich_help_panel=options.PARAMETERS,
        ),
    ] = None,
    reach: Annotated[
        float | None,
        typer.Option(
            help="How far a cluster may move between two windows, as a squared distance in units "
            "of --new-penalty; 1.2 by default.",
            rich_help_panel=options.PARAMETERS,
        ),
    ] = None,
    revival_penalty: Annotated[
        float | None,
        typer.Option(help="Q, in place of --max-gap.", rich_help_panel=options.PARAMETERS),
    ] = None,
    drift: Annotated[
        float | None,
        typer.Option(help="tau, in place of --reach.", rich_help_panel=options.PARAMETERS),
    ] = None,
    n_init: Annotated[
        int,
        typer.Option(
            help="Visiting orders tried on each window.", rich_help_panel=options.PARAMETERS
        ),
    ] = 3,
    revival: Annotated[
        str,
        typer.Option(help="Rule of reviving: paper or exact.", rich_help_panel=options.PARAMETERS),
    ] = "paper",
    motion: Annotated[
        str | None,
        typer.Option(
            help="Where a cluster is expected: still, where it was; or steady, where its velocity "
            "takes it. still by default; --suggest chooses.",
            rich_help_panel=options.PARAMETERS,
        ),
    ] = None,
    moving: Annotated[
        str | None,
        typer.Option(
            help="Features that keep a course in steady motion, with commas; all by default.",
            rich_help_panel=options.PARAMETERS,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the visiting orders.", rich_help_panel=options.PARAMETERS)
    ] = 0,
    standardize: options.Standardize = 0,
    threads: Annotated[
        int | None,
        typer.Option(
            help="Threads of a step; never changes the result.", rich_help_panel=options.PARAMETERS
        ),
    ] = None,
    max_clusters: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Stop before more clusters than this are remembered; without it there "
            "is a warning at 10,000.",
            rich_help_panel=options.PARAMETERS,
        ),
    ] = None,
    timezone: options.Timezone = "UTC",
    time_unit: options.TimeUnit = None,
    time_format: options.TimeFormat = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column that names the rows; numbers by default.",
            rich_help_panel=options.SOURCE,
        ),
    ] = None,
    weight: options.Weight = None,
    truth: Annotated[
        str | None,
        typer.Option(
            help="Column of true identities, kept for score and report.",
            rich_help_panel=options.SOURCE,
        ),
    ] = None,
    sql: options.Sql = None,
    database_table: options.DatabaseTable = None,
    decimal: options.Decimal = ".",
    encoding: options.Encoding = "utf-8",
    distinct: options.Distinct = False,
    network: options.Network = False,
    on_missing: options.OnMissing = None,
    lateness: Annotated[
        str,
        typer.Option(
            help="Live sources: how far behind the latest time a row may be.",
            rich_help_panel=options.CUT,
        ),
    ] = "0",
    on_late: Annotated[
        str,
        typer.Option(
            help="Live sources: what to do with rows later than that: error (in a "
            "stream, a dead letter), or drop (and count them).",
            rich_help_panel=options.CUT,
        ),
    ] = "error",
    max_ahead: Annotated[
        str | None,
        typer.Option(
            help="Live sources: how far one row may be ahead of all others; one that is alone "
            "there is not taken. Default: 1,000 windows, and no less than a year.",
            rich_help_panel=options.CUT,
        ),
    ] = None,
    hold_last: Annotated[
        bool,
        typer.Option(
            "--hold-last",
            help="Leave the last window open until the next time: for an input that grows.",
            rich_help_panel=options.CUT,
        ),
    ] = False,
    unique_ids: Annotated[
        bool,
        typer.Option(
            "--unique-ids",
            help="Streams: treat a row whose --id is already in an open window as the "
            "same row, sent twice.",
            rich_help_panel=options.SOURCE,
        ),
    ] = False,
    until_idle: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Streams: end, and close all windows, when no row has come for this "
            "long, such as 30s.",
            rich_help_panel=options.CUT,
        ),
    ] = None,
    alerts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Alert rules in TOML: what to do when a cluster is born, returns, grows or moves.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Remove labels that are older: 30d. Clusters, events and histories stay.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Move old labels to this folder instead of removing them.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    labels_to: options.LabelsTo = None,
    events_to: options.EventsTo = None,
    is_families: Annotated[
        bool,
        typer.Option(
            "--families",
            help="At the end, group the clusters that belong together, as dynmeans families does.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = False,
    resume: Annotated[
        bool | None,
        typer.Option(
            "--resume/--no-resume",
            help="Resume the run, or refuse to; by default it is resumed if it exists "
            "and was made with the same options.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Replace an existing run.", rich_help_panel=options.OUTPUT
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the result as JSON.", rich_help_panel=options.OUTPUT),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing.", rich_help_panel=options.OUTPUT)
    ] = False,
) -> None:
    """Find and follow clusters in the rows of INPUT, window by window.

    Every row gets the identity of its cluster; identities last while clusters move, vanish and
    come back. The run is stored in a folder. However it was stopped, run the same command to
    resume; the result is the same as if it had never stopped.

    [bold]Examples[/bold]

    dynmeans cluster ships.parquet --time when --every 30min -f lon,lat --new-penalty 0.04 -o run

    dynmeans cluster 'days/*.csv' --time t --every 1d --timezone Asia/Tokyo -f 'x*' --suggest -o run

    tail -f log | dynmeans cluster - -t at --every 1min --lateness 9s -f x,y --new-penalty 1 -o run

    dynmeans cluster redis://localhost/0?stream=rows -t at --every 1min -f x,y --new-penalty 1 -o r
    """
    from dynmeans.cli import candidates, cluster_result
    from dynmeans.cli.following import after_commit
    from dynmeans.cli.output import log_to_standard_error, suggestion_bar
    from dynmeans.cli.stopping import StopSignal
    from dynmeans.runs.cluster_job import ClusterJob
    from dynmeans.runs.reading.durations import parse_seconds
    from dynmeans.runs.reading.sources.reading_options import ReadingOptions
    from dynmeans.runs.reading.window import WindowOptions
    from dynmeans.runs.streams.addresses import is_address

    window_options = WindowOptions(
        features=tuple(features),
        time=time,
        every=every,
        count=count,
        batch=batch,
        timezone=timezone,
        time_unit=time_unit,
        time_format=tuple(time_format or ()),
        id=id_column,
        weight=weight,
        truth=truth,
        on_missing=on_missing or ("error" if is_address(table) else "drop"),
        hold_last=hold_last,
        lateness=lateness,
        max_ahead=max_ahead,
        on_late=on_late,
        unique_ids=unique_ids,
    )
    log_to_standard_error()
    stop = StopSignal()
    parameters: dict[str, Any] = {
        "new_penalty": new_penalty,
        "max_gap": max_gap,
        "reach": reach,
        "revival_penalty": revival_penalty,
        "drift": drift,
    }
    is_quiet = quiet or as_json
    job = ClusterJob(
        table=table,
        out=out,
        options=window_options,
        query=sql,
        database_table=database_table,
        reading=ReadingOptions(decimal, encoding, distinct, network),
        penalties={name: value for name, value in parameters.items() if value is not None},
        revival=revival,
        motion=motion,
        moving=None if moving is None else tuple(name.strip() for name in moving.split(",")),
        settings={"n_init": n_init, "random_state": seed, "standardize": standardize},
        suggest=suggest,
        n_clusters=about,
        lines=stop.lines(sys.stdin.buffer),
        on_suggestion=None if is_quiet else cluster_result.show_suggestion,
        on_refusal=None if is_quiet else candidates.candidate_pictures(out),
        while_suggesting=nullcontext if is_quiet else suggestion_bar,
        stop=stop.event,
        after_commit=after_commit(labels_to, events_to, alerts, keep, archive),
        until_idle=None if until_idle is None else parse_seconds("until_idle", until_idle),
    )
    with stop:
        result = job.start(
            resume=resume,
            overwrite=overwrite,
            n_threads=threads,
            max_clusters=max_clusters,
            progress=cluster_result.show_nothing if is_quiet else cluster_result.show_progress,
        )
    families = cluster_result.find_families(out) if is_families else None
    cluster_result.show_result(result, families, time=time, as_json=as_json, quiet=quiet)
