"""dynmeans suggest: parameters from the first rows of a table."""

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynmeans.cli import options

if TYPE_CHECKING:
    from dynmeans.records.suggestion import Suggestion


def suggest(
    table: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help=f"{options.INPUT}, or - for JSON lines on standard input.",
        ),
    ],
    features: options.Features,
    time: options.Time = None,
    every: options.Every = None,
    count: options.Count = None,
    batch: options.BatchColumn = None,
    n_batches: Annotated[
        int | None,
        typer.Option(
            "--batches",
            min=1,
            help="How many of the first windows to choose from; by default 30, or more "
            "if these hold fewer than 4,000 points.",
            rich_help_panel=options.CUT,
        ),
    ] = None,
    about: options.About = None,
    standardize: options.Standardize = 0,
    weight: options.Weight = None,
    timezone: options.Timezone = "UTC",
    time_unit: options.TimeUnit = None,
    time_format: options.TimeFormat = None,
    sql: options.Sql = None,
    database_table: options.DatabaseTable = None,
    decimal: options.Decimal = ".",
    encoding: options.Encoding = "utf-8",
    distinct: options.Distinct = False,
    network: options.Network = False,
    on_missing: options.OnMissing = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            "-p",
            metavar="FILE",
            help="Draw what was tried: .png, .svg or .pdf.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON.", rich_help_panel=options.OUTPUT)
    ] = False,
) -> None:
    """Choose --new-penalty, --max-gap, --reach and --motion from the first windows of INPUT.

    No labels are needed. The windows are clustered with a few dozen choices; the one that
    describes the points most briefly wins. A warning says when it should not be trusted.

    [bold]Example[/bold]

    dynmeans suggest ships.parquet -f lon,lat --time time --every 30min --picture choice.png
    """
    from dynmeans.cli.output import check_picture, standard_input, suggestion_bar, tell
    from dynmeans.inputs.plural import counted
    from dynmeans.runs.choosing import first_windows, suggest_on_windows
    from dynmeans.runs.cluster_job import LIVE
    from dynmeans.runs.reading.live_windows import LiveWindows
    from dynmeans.runs.reading.sources.reading_options import ReadingOptions
    from dynmeans.runs.reading.sources.source import Source
    from dynmeans.runs.reading.window import WindowOptions
    from dynmeans.runs.reading.windows import Windows

    if picture is not None:
        check_picture("picture", picture)
    window_options = WindowOptions(
        features=tuple(features),
        time=time,
        every=every,
        count=count,
        batch=batch,
        weight=weight,
        timezone=timezone,
        time_unit=time_unit,
        time_format=tuple(time_format or ()),
        on_missing=on_missing or "drop",
    )
    reading: dict[str, Any] = {
        "query": sql,
        "database_table": database_table,
        "text_column": window_options.text_column,
        "reading": ReadingOptions(decimal, encoding, distinct, network),
    }
    is_live = table == LIVE
    with suggestion_bar(), nullcontext() if is_live else Source(table, **reading) as source:
        windows: Any = (
            LiveWindows(standard_input(), window_options)
            if source is None
            else Windows(source, window_options)
        )
        first = first_windows(windows, n_batches)
        found = suggest_on_windows(first, standardize=standardize, n_clusters=about)
    if n_dropped := sum(window.n_dropped for window in first):
        tell(f"{counted(n_dropped, 'row')} left out: a value is missing.")
    if picture is not None:
        _draw(found, picture)
    _show(found, picture, as_json)


def _draw(found: "Suggestion", picture: Path) -> None:
    from dynmeans.plots.series import new_figure
    from dynmeans.plots.suggestion import plot_suggestion

    figure, (ax,) = new_figure((8, 5), 1, 1)
    plot_suggestion(found, ax=ax)
    figure.savefig(picture, dpi=150)


def _show(found: "Suggestion", picture: Path | None, as_json: bool) -> None:
    from dynmeans.cli.output import print_json, say
    from dynmeans.cli.suggestion_text import explanation_lines, warn
    from dynmeans.records.penalties import DEFAULT_MOTION

    p = found.penalties
    if as_json:
        tried = [asdict(candidate) for candidate in found.candidates]
        chosen = {name: getattr(p, name) for name in ("new_penalty", "max_gap", "reach", "motion")}
        words = {"explanation": found.explanation, "doubts": list(found.doubts)}
        print_json({**chosen, **words, "candidates": tried})
        return
    motion = f" --motion {p.motion}" if p.motion != DEFAULT_MOTION else ""
    say(
        f"--new-penalty {p.new_penalty:.6g} --max-gap {p.max_gap:.6g} --reach {p.reach:.6g}{motion}"
    )
    say("")
    for line in explanation_lines(found):
        say(line)
    if picture is not None:
        say(f"Picture: {picture}")
    warn(found)
