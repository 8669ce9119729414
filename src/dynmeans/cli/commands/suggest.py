"""dynmeans suggest: parameters from the first rows of a table."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynmeans.cli import options
from dynmeans.cli.fields import select_fields, split, with_options
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.window import WindowOptions

if TYPE_CHECKING:
    from dynmeans.records.suggestion import Suggestion

_PARAMETERS = ("max_gap", "reach", "n_clusters", "motion", "moving_features", "space", "n_init")
_OF_WINDOWS = (
    "features",
    "text",
    "language",
    "stop_words",
    "time",
    "every",
    "rows_per_window",
    "window_column",
    "timezone",
    "time_unit",
)


@with_options(
    {WindowOptions: options.CUT, ReadingOptions: options.SOURCE, ModelConfig: options.PARAMETERS},
    only={
        ModelConfig: _PARAMETERS,
        WindowOptions: (*_OF_WINDOWS, "time_format", "weight", "on_missing", "allowed_lateness"),
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
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            "-p",
            metavar="FILE",
            help="Plot the settings that were tried: .png, .svg or .pdf.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    as_json: options.AsJson = False,
    **fields: Any,
) -> None:
    """Choose --new-penalty, --max-gap, --reach and --motion from the first windows of INPUT.

    No labels are needed. The first 30 windows, or more if these hold fewer than 4,000 points, are
    clustered with dozens of settings; the one with the shortest description of the points is
    chosen. A warning is printed if the choice is not reliable. For texts and vectors, the numbers
    of clusters at the usual cosine, at half of it and at twice are shown.

    [bold]Example[/bold]

    dynmeans suggest ships.parquet -f lon,lat --time time --every 30min --plot choice.png
    """
    from dynmeans.cli.output import PICTURES, check_file, log_line, standard_input
    from dynmeans.cli.progress import while_choosing
    from dynmeans.follow.defaults import defaults_of, depends_on_rows
    from dynmeans.inputs.format_count import format_count
    from dynmeans.inputs.input_error import InputError
    from dynmeans.runs.cluster_job import ClusterJob
    from dynmeans.runs.input import Input

    if plot is not None:
        check_file("plot", plot, PICTURES)
    usual, varying = defaults_of("dynmeans suggest"), depends_on_rows("dynmeans suggest")
    fields |= {"moving_features": split(fields["moving_features"])}
    job = ClusterJob(
        Input(input, ReadingOptions(**select_fields(ReadingOptions, fields)), standard_input()),
        WindowOptions(**select_fields(WindowOptions, fields)),
        ModelConfig(**{"random_state": usual["random_state"]} | select_fields(ModelConfig, fields)),
        Path(),
        unset_fields=[name for name in varying if fields.get(name) is None],
    )
    with while_choosing():
        found, n_dropped_rows = job.choose()
    if n_dropped_rows:
        log_line(f"{format_count(n_dropped_rows, 'row')} dropped: a value is missing.")
    if plot is not None and found.reason:
        raise InputError(
            "plot",
            "is not available: the default cosine is used for this input, so nothing was tried",
        )
    if plot is not None:
        _draw(found, plot)
    _show(found, plot, as_json)


def _draw(found: "Suggestion", plot: Path) -> None:
    from dynmeans.plots.figures import new_figure
    from dynmeans.plots.suggestion import plot_suggestion

    figure, (ax,) = new_figure((8, 5), 1, 1)
    plot_suggestion(found, ax=ax)
    figure.savefig(plot, dpi=150)


def _show(found: "Suggestion", plot: Path | None, as_json: bool) -> None:
    from dynmeans.cli.cluster_result import print_warnings
    from dynmeans.cli.flags import with_flags
    from dynmeans.cli.output import print_json, print_line
    from dynmeans.records.penalties import DEFAULT_MOTION

    p = found.penalties
    if as_json:
        tried = [asdict(candidate) for candidate in found.candidates]
        parameters = {
            name: getattr(p, name) for name in ("new_penalty", "max_gap", "reach", "motion")
        }
        words = {"explanation": found.explanation, "warnings": list(found.warnings)}
        if found.reason:  # no description was measured
            tried = [{**one, "description_bits": None} for one in tried]
        print_json({**parameters, **words, "candidates": tried})
        return
    motion = f" --motion {p.motion}" if p.motion != DEFAULT_MOTION else ""
    print_line(
        f"--new-penalty {p.new_penalty:.6g} --max-gap {p.max_gap:.6g} --reach {p.reach:.6g}{motion}"
    )
    print_line("")
    for sentence in found.explanation_lines:
        print_line(with_flags(sentence, ["cluster"]))
    if plot is not None:
        print_line(f"Picture: {plot}")
    print_warnings(found)
