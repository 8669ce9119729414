"""dynmeans suggest: parameters from the first rows of a table."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynmeans.cli import options
from dynmeans.cli.fields import chosen, split, with_options
from dynmeans.follow.recipe import Recipe
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.window import WindowOptions

if TYPE_CHECKING:
    from dynmeans.records.suggestion import Suggestion

_OF_RECIPE = ("max_gap", "reach", "n_clusters", "motion", "moving", "space", "n_init")
_OF_WINDOWS = (
    "features",
    "text",
    "language",
    "stop_words",
    "time",
    "every",
    "count",
    "batch",
    "timezone",
    "time_unit",
)


@with_options(
    {WindowOptions: options.CUT, ReadingOptions: options.SOURCE, Recipe: options.PARAMETERS},
    only={
        Recipe: _OF_RECIPE,
        WindowOptions: (*_OF_WINDOWS, "time_format", "weight", "on_missing", "lateness"),
    },
    interface="dynmeans suggest",
)
def suggest(
    input: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help=f"{options.INPUT}, or - for JSON lines on standard input.",
        ),
    ],
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
    as_json: options.AsJson = False,
    **fields: Any,
) -> None:
    """Choose --new-penalty, --max-gap, --reach and --motion from the first windows of INPUT.

    No labels are needed. The first 30 windows, or more if these hold fewer than 4,000 points, are
    clustered with a few dozen choices; the one that describes the points most briefly wins. A
    warning says when it should not be trusted. For texts and vectors one cosine suits most
    streams: the numbers of clusters at this one, at half of it and at twice are shown.

    [bold]Example[/bold]

    dynmeans suggest ships.parquet -f lon,lat --time time --every 30min --picture choice.png
    """
    from dynmeans.cli.output import PICTURES, check_file, standard_input, tell
    from dynmeans.cli.progress import while_choosing
    from dynmeans.follow.defaults import defaults_of, depends_on_rows
    from dynmeans.inputs.input_error import InputError
    from dynmeans.inputs.plural import counted
    from dynmeans.runs.cluster_job import ClusterJob
    from dynmeans.runs.input import Input

    if picture is not None:
        check_file("picture", picture, PICTURES)
    usual, varying = defaults_of("dynmeans suggest"), depends_on_rows("dynmeans suggest")
    fields |= {"moving": split(fields["moving"])}
    job = ClusterJob(
        Input(input, ReadingOptions(**chosen(ReadingOptions, fields)), standard_input()),
        WindowOptions(**chosen(WindowOptions, fields)),
        Recipe(**{"random_state": usual["random_state"]} | chosen(Recipe, fields)),
        Path(),
        of_vectors=[name for name in varying if fields.get(name) is None],
    )
    with while_choosing():
        found, n_dropped = job.choose()
    if n_dropped:
        tell(f"{counted(n_dropped, 'row')} left out: a value is missing.")
    if picture is not None and found.reason:
        raise InputError("picture", "draws what was tried; here the usual cosine is taken")
    if picture is not None:
        _draw(found, picture)
    _show(found, picture, as_json)


def _draw(found: "Suggestion", picture: Path) -> None:
    from dynmeans.plots.figures import new_figure
    from dynmeans.plots.suggestion import plot_suggestion

    figure, (ax,) = new_figure((8, 5), 1, 1)
    plot_suggestion(found, ax=ax)
    figure.savefig(picture, dpi=150)


def _show(found: "Suggestion", picture: Path | None, as_json: bool) -> None:
    from dynmeans.cli.cluster_result import warn_of
    from dynmeans.cli.flags import with_flags
    from dynmeans.cli.output import print_json, say
    from dynmeans.records.penalties import DEFAULT_MOTION

    p = found.penalties
    if as_json:
        tried = [asdict(candidate) for candidate in found.candidates]
        chosen = {name: getattr(p, name) for name in ("new_penalty", "max_gap", "reach", "motion")}
        words = {"explanation": found.explanation, "doubts": list(found.doubts)}
        if found.reason:  # no description was measured
            tried = [{**one, "bits": None} for one in tried]
        print_json({**chosen, **words, "candidates": tried})
        return
    motion = f" --motion {p.motion}" if p.motion != DEFAULT_MOTION else ""
    say(
        f"--new-penalty {p.new_penalty:.6g} --max-gap {p.max_gap:.6g} --reach {p.reach:.6g}{motion}"
    )
    say("")
    for sentence in found.sentences:
        say(with_flags(sentence, ["cluster"]))
    if picture is not None:
        say(f"Picture: {picture}")
    warn_of(found)
