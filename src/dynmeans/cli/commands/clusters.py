"""dynmeans clusters: what each cluster of a run is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynmeans.cli import options
from dynmeans.cli.fields import chosen, split, with_options
from dynmeans.cli.options import FamilyOptions, RowOptions

if TYPE_CHECKING:
    from dynmeans.runs.look.profiles import Profiles
    from dynmeans.words.topics import Topic

FILES = (".csv", ".parquet", ".geojson")
_ROWS = ("describe", "input", "trust")


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
    """Say what each cluster is: its life, means, and what sets it apart.

    apart lists features whose mean differs most from that of all other rows, in standard
    deviations. Means are those of the rows that the run keeps, up to 200 of each window.

    [bold]Example[/bold]

    dynmeans clusters run --describe port,text -o clusters.csv
    """
    from dynmeans.cli.output import check_file, print_json, say
    from dynmeans.inputs.plural import counted
    from dynmeans.runs.export.geojson import write_geojson
    from dynmeans.runs.export.label_files import write_rows
    from dynmeans.runs.look.profiles import describe_clusters
    from dynmeans.runs.run import Run
    from dynmeans.runs.texts import topics_of

    if path is not None:
        check_file("path", path, FILES)
    asked = chosen(RowOptions, fields, describe=split(fields["describe"]) or ())
    with Run.open(run_folder) as run:
        families = FamilyOptions(**chosen(FamilyOptions, fields)).of(run)
        found = describe_clusters(run, families=families, **asked)
        topics = topics_of(run.store)
        if path is not None and path.suffix == ".geojson":
            write_geojson(run, path)
    if path is not None and path.suffix != ".geojson":
        write_rows(found.to_arrow().to_reader(), path, path.suffix)
    if as_json:
        print_json(found.to_arrow().to_pylist())
        return
    largest = sorted(range(len(found.ids)), key=lambda row: -found.lives.n_points[row])[:top]
    for row in largest:
        for line in _lines(found, row, topics.get(int(found.ids[row]))):
            say(line)
    if len(largest) < len(found.ids):
        what = "family" if families is not None else "topic" if topics else "cluster"
        say(f"and {counted(len(found.ids) - len(largest), f'more {what}')} (--top, -o FILE)")


def _lines(found: "Profiles", row: int, topic: "Topic | None") -> list[str]:
    from dynmeans.inputs.plural import counted
    from dynmeans.runs.look.profiles import two_digits

    lives, k = found.lives, int(found.ids[row])
    name = f"  {found.names[k]}" if k in found.names else ""
    seen = f"{counted(lives.n_points[row], 'point')} in {counted(lives.n_windows[row], 'window')}"
    lines = [f"{k}{name}  {seen}, {lives.first_windows[row]} to {lives.last_windows[row]}"]
    told = found.told(row, found.means[row])
    means = zip(found.features, told, found.deviations[row], strict=True)
    facts = {"mean": ", ".join(f"{n} {mean} ± {two_digits(dev)}" for n, mean, dev in means)}
    facts["apart"] = ", ".join(f"{n} {d:+.2g}" for n, d in found.apart(row)[:3])
    facts |= {n: ", ".join(telling.values_of(k)) for n, telling in found.telling.items()}
    for telling in found.telling.values():
        facts["typical"] = telling.typical.get(k) or facts.get("typical", "")
    if topic is not None:
        facts |= {"typical": topic.typical, "latest": topic.recent[0] if topic.recent else ""}
    return lines + [f"    {fact:<7} {text}" for fact, text in facts.items() if text]
