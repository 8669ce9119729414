"""dynmeans clusters: what each cluster of a run is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynmeans.cli import options
from dynmeans.cli.fields import select_fields, split, with_options
from dynmeans.cli.options import FamilyOptions, RowOptions

if TYPE_CHECKING:
    from dynmeans.runs.analysis.profiles import Profiles
    from dynmeans.words.topics import Topic

FILES = (".csv", ".parquet", ".geojson")
_ROWS = ("describe", "input", "allow_stored_sql")


@with_options({RowOptions: "", FamilyOptions: ""}, only={RowOptions: _ROWS})
def clusters(
    run_folder: options.RunFolder,
    top: Annotated[
        int, typer.Option(min=1, metavar="N", help="Only the N with the most points.")
    ] = 20,
    path: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write all of them: .csv or .parquet; .geojson for their tracks on a map.",
        ),
    ] = None,
    as_json: options.AsJson = False,
    **fields: Any,
) -> None:
    """Describe each cluster: its lifetime, means and distinctive features.

    differs lists features whose mean differs most from that of all other rows, in standard
    deviations. Means are those of the stored rows, up to 200 of each window.

    [bold]Example[/bold]

    dynmeans clusters run --describe port,text -o clusters.csv
    """
    from dynmeans.cli.output import check_file, print_json, print_line
    from dynmeans.inputs.format_count import format_count
    from dynmeans.runs.analysis.profiles import describe_clusters
    from dynmeans.runs.export.export_labels import write_rows
    from dynmeans.runs.export.geojson import write_geojson
    from dynmeans.runs.run import Run
    from dynmeans.runs.texts import topics_of

    if path is not None:
        check_file("path", path, FILES)
    asked = select_fields(RowOptions, fields, describe=split(fields["describe"]) or ())
    with Run.open(run_folder) as run:
        families = FamilyOptions(**select_fields(FamilyOptions, fields)).of(run)
        found = describe_clusters(run, families=families, **asked)
        topics = topics_of(run.store)
        if path is not None and path.suffix == ".geojson":
            write_geojson(run, path)
    if path is not None and path.suffix != ".geojson":
        write_rows(found.to_arrow().to_reader(), path, path.suffix)
    if as_json:
        print_json(found.to_arrow().to_pylist())
        return
    largest = sorted(range(len(found.ids)), key=lambda row: -found.lifetimes.n_points[row])[:top]
    for row in largest:
        for line in _lines(found, row, topics.get(int(found.ids[row]))):
            print_line(line)
    if len(largest) < len(found.ids):
        what = "family" if families is not None else "topic" if topics else "cluster"
        print_line(
            f"and {format_count(len(found.ids) - len(largest), f'more {what}')} (--top, -o FILE)"
        )


def _lines(found: "Profiles", row: int, topic: "Topic | None") -> list[str]:
    from dynmeans.inputs.format_count import format_count
    from dynmeans.runs.analysis.profiles import two_digits

    lifetimes, k = found.lifetimes, int(found.ids[row])
    name = f"  {found.names[k]}" if k in found.names else ""
    points = format_count(lifetimes.n_points[row], "point")
    seen = f"{points} in {format_count(lifetimes.n_windows[row], 'window')}"
    lines = [f"{k}{name}  {seen}, {lifetimes.first_windows[row]} to {lifetimes.last_windows[row]}"]
    message = found.format_values(row, found.means[row])
    means = zip(found.features, message, found.deviations[row], strict=True)
    facts = {"mean": ", ".join(f"{n} {mean} ± {two_digits(dev)}" for n, mean, dev in means)}
    facts["differs"] = ", ".join(f"{n} {d:+.2g}" for n, d in found.largest_differences(row)[:3])
    facts |= {n: ", ".join(telling.values_of(k)) for n, telling in found.terms.items()}
    for telling in found.terms.values():
        facts["typical"] = telling.typical.get(k) or facts.get("typical", "")
    if topic is not None:
        facts |= {"typical": topic.typical, "latest": topic.recent[0] if topic.recent else ""}
    return lines + [f"    {fact:<7} {text}" for fact, text in facts.items() if text]
