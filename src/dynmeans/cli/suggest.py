"""dynmeans suggest: parameters from the first rows of a table."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dynmeans.records.suggestion import Suggestion

_SOURCE, _CUT, _OUTPUT = "Rows", "Batches", "Output"
_PICTURES = (".png", ".svg", ".pdf")


def suggest(
    table: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="A CSV, Parquet or Arrow file, a quoted pattern ('day-*.parquet'), a folder of "
            "such files, or a DuckDB database.",
        ),
    ],
    features: Annotated[
        list[str],
        typer.Option(
            "--features",
            "-f",
            help="Numeric columns to cluster by: 'a,b,c', or patterns such as 'x_*'; may be "
            "repeated.",
            rich_help_panel=_SOURCE,
        ),
    ],
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            "-t",
            help="Column of times; rows are taken in their order.",
            rich_help_panel=_SOURCE,
        ),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            help="One batch for each window of this length: 500ms, 30min, 6h, 1d, 1w; a plain "
            "number where times are plain numbers.",
            rich_help_panel=_CUT,
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option(help="One batch for each so many rows.", rich_help_panel=_CUT)
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(help="One batch for each value of this column.", rich_help_panel=_CUT),
    ] = None,
    n_batches: Annotated[
        int | None,
        typer.Option(
            "--batches",
            min=1,
            help="Batches to choose on, from the first; by default 30, or more where those hold "
            "fewer than 1,000 points.",
            rich_help_panel=_CUT,
        ),
    ] = None,
    standardise: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Give every feature mean 0 and spread 1, learned from the first N batches, as "
            "cluster --standardise does.",
            rich_help_panel=_SOURCE,
        ),
    ] = 0,
    weight: Annotated[
        str | None, typer.Option(help="Column of weights.", rich_help_panel=_SOURCE)
    ] = None,
    timezone: Annotated[
        str,
        typer.Option(
            help="Whose calendar, and what times without an offset mean.", rich_help_panel=_SOURCE
        ),
    ] = "UTC",
    on_missing: Annotated[
        str,
        typer.Option(help="Rows that lack a value: error or drop them.", rich_help_panel=_SOURCE),
    ] = "error",
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            "-p",
            metavar="FILE",
            help="Draw what was tried: .png, .svg or .pdf.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Choose new_penalty, max_gap and reach from the first batches of INPUT, without labels.

    The batches are clustered with some twenty choices; the one that describes the points most
    briefly wins.

    [bold]Example[/bold]

    dynmeans suggest ships.parquet -f lon,lat --time time --every 30min --picture choice.png
    """
    from dynmeans.cli.first_windows import first_windows
    from dynmeans.runs.scaling import Scaling
    from dynmeans.runs.sources import Source
    from dynmeans.runs.window_options import WindowOptions
    from dynmeans.runs.windows import Windows
    from dynmeans.suggestion.suggest_penalties import suggest_details

    if picture is not None and picture.suffix not in _PICTURES:
        raise ValueError(f"--picture must end in .png, .svg or .pdf, got {str(picture)!r}.")
    options = WindowOptions(
        features=tuple(features),
        time=time,
        every=every,
        count=count,
        batch=batch,
        weight=weight,
        timezone=timezone,
        on_missing=on_missing,
    )
    with Source(table) as source:
        batches = first_windows(Windows(source, options), n_batches)
    if not batches:
        raise ValueError(f"{table!r} holds no rows to choose on.")
    points = [b.points for b in batches]
    if standardise:
        scaling = Scaling.learned(points[:standardise])
        points = [scaling.apply(rows) for rows in points]
    found = suggest_details(
        points,
        elapsed=[b.elapsed for b in batches],
        sample_weight=[b.weights for b in batches],
    )
    if picture is not None:
        _draw(found, picture)
    _show(found, picture, as_json)


def _draw(found: "Suggestion", picture: Path) -> None:
    from matplotlib.figure import Figure

    from dynmeans.plots.suggestion import plot_suggestion

    figure = Figure(figsize=(8, 5), layout="constrained")
    plot_suggestion(found, ax=figure.subplots())
    figure.savefig(picture, dpi=150)


def _show(found: "Suggestion", picture: Path | None, as_json: bool) -> None:
    from dynmeans.cli.output import print_json

    p = found.penalties
    if as_json:
        tried = [asdict(candidate) for candidate in found.candidates]
        chosen = {"new_penalty": p.new_penalty, "max_gap": p.max_gap, "reach": p.reach}
        print_json({**chosen, "explanation": found.explanation, "candidates": tried})
        return
    typer.echo(f"--new-penalty {p.new_penalty:.6g} --max-gap {p.max_gap:.6g} --reach {p.reach:.6g}")
    typer.echo("")
    typer.echo("\n".join(found.sentences))
    if picture is not None:
        typer.echo(f"Picture: {picture}")
