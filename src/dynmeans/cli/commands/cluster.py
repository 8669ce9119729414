"""dynmeans cluster: from a table or a stream of rows to a run folder."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from dynmeans.cli import options
from dynmeans.cli.fields import select_fields, split, with_options
from dynmeans.cli.run_options import RunOptions
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.window import WindowOptions


@with_options(
    {
        WindowOptions: options.CUT,
        ReadingOptions: options.SOURCE,
        ModelConfig: options.PARAMETERS,
        RunOptions: options.OUTPUT,
    },
    interface="dynmeans cluster",
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
    out: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="RUN",
            help="Folder of the run.",
            rich_help_panel=options.OUTPUT,
        ),
    ],
    resume: Annotated[
        bool | None,
        typer.Option(
            "--resume/--no-resume",
            help="Resume the run, or refuse to; by default it is resumed if it exists with the "
            "same options.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    as_json: options.AsJson = False,
    **fields: Any,
) -> None:
    """Cluster the rows of INPUT window by window, and track the clusters over time.

    Every row gets a cluster ID. A cluster keeps its ID while it moves, vanishes and returns.
    Parameters that are not set are chosen on the first windows. The run is stored in a folder.
    After a stop, the same command resumes, and the result is the same as without the stop.

    [bold]Examples[/bold]

    dynmeans cluster ships.parquet --time when --every 30min -f lon,lat --new-penalty 0.04 -o run

    dynmeans cluster 'days/*.csv' --time t --every 1d --timezone Asia/Tokyo -f 'x*' -o run

    tail -f log | dynmeans cluster - -t at --every 1min --allowed-lateness 9s -f x,y
    --new-penalty 1 -o run

    dynmeans cluster redis://localhost/0?stream=rows -t at --every 1min -f x,y --new-penalty 1 -o r
    """
    from dynmeans.cli import cluster_result
    from dynmeans.cli.output import log_to_standard_error
    from dynmeans.cli.progress import while_choosing, while_clustering
    from dynmeans.cli.stopping import StopSignal
    from dynmeans.follow.defaults import NUMBERS, STREAM, defaults_of, depends_on_rows
    from dynmeans.runs.analysis.run_families import families_of_run
    from dynmeans.runs.cluster_job import NO_CALLBACKS, ClusterJob, JobCallbacks
    from dynmeans.runs.input import Input
    from dynmeans.runs.reading.durations import parse_seconds
    from dynmeans.runs.run import Run
    from dynmeans.runs.streams.addresses import is_address

    asked = RunOptions(**select_fields(RunOptions, fields))
    log_to_standard_error(as_json=asked.log_json)
    stop, idle = StopSignal(), asked.idle_timeout
    idle_seconds = None if idle is None else parse_seconds("idle_timeout", idle)
    reading = ReadingOptions(**select_fields(ReadingOptions, fields))
    usual = defaults_of("dynmeans cluster", STREAM if is_address(input) else NUMBERS)
    fields |= {"on_missing": fields["on_missing"] or usual["on_missing"]}
    job = ClusterJob(
        Input(input, reading, stop.lines(sys.stdin.buffer), idle_seconds),
        WindowOptions(**select_fields(WindowOptions, fields)),
        ModelConfig(
            **select_fields(
                ModelConfig, fields | {"moving_features": split(fields["moving_features"])}
            )
        ),
        out,
        asked.after_commit(),
        [name for name in depends_on_rows("cluster") if fields[name] is None],
        asked.name_by,
        asked.sample_size,
        asked.level,
        asked.noise,
    )
    is_quiet = asked.quiet or as_json
    if is_address(input) and not is_quiet:
        cluster_result.print_start(job)
    message = JobCallbacks(while_clustering, while_choosing, cluster_result.show_suggestion)
    with stop:
        done = job.start(
            resume=resume,
            overwrite=asked.overwrite,
            n_threads=asked.n_threads,
            stop=stop.event,
            shown=NO_CALLBACKS if is_quiet else message,
        )
    families = None
    if job.model_config.families:
        with Run.open(out) as run:
            families = families_of_run(run)
    if families is not None and job.model_config.n_clusters is not None and not is_quiet:
        cluster_result.print_family_count(families, job.model_config.n_clusters, out)
    if as_json or not asked.quiet:
        cluster_result.show_result(done, families, time=job.windows.time, as_json=as_json)
