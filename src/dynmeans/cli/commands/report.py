"""dynmeans report: one page to look at."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynmeans.cli import options
from dynmeans.cli.fields import select_fields, split, with_options
from dynmeans.cli.options import ConfirmedOptions, FamilyOptions, RowOptions

if TYPE_CHECKING:
    from dynmeans.report.data import ReportData


_Axes = Annotated[
    str | None,
    typer.Option(help="Two features that are drawn first, as 'x,y'; time is one too."),
]
_Beside = Annotated[
    Path | None,
    typer.Option(metavar="RUN2", help="Second run to compare on the same page."),
]
_Engine = Annotated[
    bool,
    typer.Option(
        "--recluster/--no-recluster",
        help="Let readers try other scales on the page; adds about 200 kB.",
    ),
]


_ROWS = ("truth", "describe", "input", "allow_stored_sql")


@with_options({RowOptions: "", FamilyOptions: "", ConfirmedOptions: ""}, only={RowOptions: _ROWS})
def report(
    run_folder: options.RunFolder,
    path: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")
    ] = Path("report.html"),
    axes: _Axes = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    compare_with: _Beside = None,
    has_engine: _Engine = True,
    as_json: options.AsJson = False,
    **fields: Any,
) -> None:
    """Write an interactive page of the run: points, tracks, timeline, events, counts, scores.

    It is one file of at most 5 MB that needs no network. It can be written while the run is being
    written. With --families it has a slider through their levels.

    [bold]Example[/bold]

    dynmeans report run -o report.html --truth ship --families

    dynmeans report fine -o both.html --compare-with coarse
    """
    from dynmeans.cli.output import check_file, print_json, print_line

    check_file("path", path)
    from dynmeans.inputs.argument_text import as_cli_options
    from dynmeans.report import write_report
    from dynmeans.report.from_run import run_report
    from dynmeans.runs.run import Run

    reading = select_fields(RowOptions, fields, describe=split(fields["describe"]) or ())
    families = FamilyOptions(**select_fields(FamilyOptions, fields))

    def gather(folder: Path, **own: Any) -> "ReportData":
        with Run.open(folder) as run:
            data = run_report(run, name_of=as_cli_options(str(folder)), **reading, **own)
            found = families.of(run)
        data = data if found is None else data.with_families(found)
        least = {"min_cluster_size": data.min_cluster_size, "min_batches": data.min_batches}
        data = data.with_confirmed(**least | select_fields(ConfirmedOptions, fields))
        return data if axes is None else _with_axes(data, axes)

    data = gather(run_folder, title=title)
    other = None if compare_with is None else gather(options.existing_run(compare_with))
    if other is not None and other.title == data.title:
        data, other = (
            replace(one, title=f"{one.title}, {folder.name}")
            for one, folder in ((data, run_folder), (other, Path(str(compare_with))))
        )
    path = write_report(data, path, compare_with=other, recluster=has_engine)
    n_bytes = path.stat().st_size
    if as_json:
        print_json({"file": str(path), "n_bytes": n_bytes, **_fields(data)})
    else:
        print_line(f"{path} ({n_bytes / 1e6:.1f} MB): open it in a browser")


def _fields(data: "ReportData") -> dict[str, Any]:
    assert data.totals is not None, "a run's report has them"
    n_points, n_batches, _ = data.totals
    return {
        "n_batches": n_batches,
        "n_points": n_points,
        "n_points_drawn": int(data.points.sizes.sum()),
        "n_clusters": data.n_clusters,
        "scores": {score.name: score.value for score in data.scores},
        "notes": list(data.notes),
    }


def _with_axes(data: "ReportData", axes: str) -> "ReportData":
    from dynmeans.inputs.input_error import InputError

    x, _, y = (name.strip() for name in axes.partition(","))
    if not (x and y):
        raise InputError("axes", "must be two names with a comma between", got=axes)
    try:
        return data.with_initial_axes(x, y)
    except ValueError as error:
        raise InputError("axes", ": {}", str(error).removesuffix(".")) from error
