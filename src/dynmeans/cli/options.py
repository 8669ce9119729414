"""Options that several commands have: each is written once."""

from pathlib import Path
from typing import Annotated

import typer

INPUT = (
    "A file of CSV, JSON lines, Parquet, Arrow or Excel, a quoted pattern ('day-*.parquet'), a "
    "folder of such files, a DuckDB or SQLite database"
)
SOURCE, CUT, PARAMETERS, OUTPUT = "Rows", "Windows", "Clustering", "Output"

FamilyLevel = Annotated[
    float | None,
    typer.Option(
        "--level",
        help="Level of families: a squared distance; 0 joins only what touches.",
    ),
]
NFamilies = Annotated[
    float | None,
    typer.Option("--n-families", metavar="N", help="About how many families a window holds."),
]
WithFamilies = Annotated[bool, typer.Option("--families", help="Families in place of identities.")]
MinClusterSize = Annotated[
    float | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Clusters that held fewer points in all are unconfirmed, -1 as cluster_id; by default "
        "as when the run was made.",
    ),
]
MinLife = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Clusters seen in fewer windows are unconfirmed, -1 as cluster_id; by default as when "
        "the run was made.",
    ),
]
NetworkAgain = Annotated[
    bool, typer.Option("--network", help="Allow rows to be read from https:// or s3://.")
]


def existing_run(folder: Path) -> Path:
    """Refuse a folder without a run before anything is loaded: it takes a moment, not a second."""
    if not (folder / "run.sqlite").exists():
        what = "it has no run.sqlite" if folder.exists() else "it does not exist"
        raise FileNotFoundError(f"{str(folder)!r} is not a run folder: {what}.")
    return folder


RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of the run.", callback=existing_run)
]
InputMoved = Annotated[
    str | None,
    typer.Option("--input", help="Where the original rows are now, if they were moved."),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Run the query that is stored in the run, if it has one: only for a run that you made "
        "or whose maker you trust.",
    ),
]
Who = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Who makes the edit; the user of this computer by default."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
