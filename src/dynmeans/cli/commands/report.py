"""dynmeans report: one page to look at."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynmeans.cli import options

if TYPE_CHECKING:
    from dynmeans.report.data import ReportData


_Truth = Annotated[
    str | None,
    typer.Option(
        help="Column of the input with true identities, for scores; by default the one named "
        "when the run was made."
    ),
]
_Axes = Annotated[
    str | None,
    typer.Option(
        help="Two features to draw at first, as 'x,y'; time is one too. All can be chosen on "
        "the page."
    ),
]
_Lines = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Coasts, borders or walls under the points: lines and polygons of a GeoJSON file, "
        "in the units of the two features drawn at first.",
    ),
]
_Families = Annotated[
    bool,
    typer.Option("--families", help="Add a slider through the levels of families."),
]
_Describe = Annotated[
    list[str] | None,
    typer.Option(
        "--describe",
        "-d",
        help="Columns of the input to describe clusters by, in the panel and the search: "
        "'text,port', may be repeated.",
    ),
]
_Beside = Annotated[
    Path | None,
    typer.Option(metavar="RUN2", help="Another run to show beside it on the same page."),
]
_Engine = Annotated[
    bool,
    typer.Option(
        "--engine/--no-engine",
        help="Let readers try other scales on the page; adds about 200 kB.",
    ),
]


def report(
    run_folder: options.RunFolder,
    path: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")
    ] = Path("report.html"),
    truth: _Truth = None,
    input: options.InputMoved = None,
    axes: _Axes = None,
    lines: _Lines = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    is_families: _Families = False,
    level: options.FamilyLevel = None,
    n_families: options.NFamilies = None,
    min_cluster_size: options.MinClusterSizeShown = None,
    min_life: options.MinLifeShown = None,
    describe: _Describe = None,
    beside: _Beside = None,
    has_engine: _Engine = True,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a page that plays the run: points, tracks, lives, events, numbers, scores.

    One file of at most 5 MB that needs no network: open it in any browser, pass it on. It can be
    written while the run is being written.

    [bold]Example[/bold]

    dynmeans report run -o report.html --truth ship --families

    dynmeans report fine -o both.html --beside coarse
    """
    from dynmeans.cli.output import check_folder, print_json, say

    check_folder("path", path)
    from dynmeans.report import write_report

    columns = [name.strip() for text in describe or [] for name in text.split(",")]
    reading = {"truth": truth, "input": input, "trust": trust, "describe": columns}
    families = {"level": level, "n_families": n_families}
    has_families = is_families or any(value is not None for value in families.values())

    def gather(folder: Path, own: dict[str, Any]) -> "ReportData":
        data = _run_data(folder, {**reading, **own}, families if has_families else None)
        size, life = min_cluster_size or data.min_cluster_size, min_life or data.min_life
        data = data.with_confirmed(min_cluster_size=size, min_life=life)
        data = data if axes is None else _with_axes(data, axes)
        return data if lines is None else _with_lines(data, lines)

    data = gather(run_folder, {"title": title})
    other = None if beside is None else gather(options.existing_run(beside), {})
    if other is not None and other.title == data.title:
        data, other = (
            replace(one, title=f"{one.title}, {folder.name}")
            for one, folder in ((data, run_folder), (other, Path(str(beside))))
        )
    path = write_report(data, path, beside=other, engine=has_engine)
    n_bytes = path.stat().st_size
    if as_json:
        print_json({"file": str(path), "n_bytes": n_bytes, **_fields(data)})
    else:
        say(f"{path} ({n_bytes / 1e6:.1f} MB): open it in a browser")


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


def _run_data(
    folder: Path, reading: dict[str, Any], families: dict[str, Any] | None
) -> "ReportData":
    from dynmeans.inputs.argument_text import typed
    from dynmeans.report.from_run import run_report
    from dynmeans.runs.look.run_families import families_of_run
    from dynmeans.runs.run import Run

    with Run.open(folder) as run:
        data = run_report(run, name_of=typed(str(folder)), **reading)
        return data if families is None else data.with_families(families_of_run(run, **families))


def _with_lines(data: "ReportData", lines: Path) -> "ReportData":
    from dynmeans.inputs.input_error import InputError
    from dynmeans.report.data import TIME_AXIS
    from dynmeans.report.line_file import lines_near, read_lines

    if TIME_AXIS in data.view:
        raise InputError("lines", "needs two features to be drawn at first", hint="See {axes}.")
    x, y = data.view
    found = lines_near(read_lines(lines), data.clusters.places[:, [x, y]])
    return data.with_backdrop(data.axes[x].name, data.axes[y].name, found)


def _with_axes(data: "ReportData", axes: str) -> "ReportData":
    from dynmeans.inputs.input_error import InputError

    x, _, y = (name.strip() for name in axes.partition(","))
    if not (x and y):
        raise InputError("axes", "must be two names with a comma between", got=axes)
    try:
        return data.with_view(x, y)
    except ValueError as error:
        raise InputError("axes", ": {}", str(error).removesuffix(".")) from error
