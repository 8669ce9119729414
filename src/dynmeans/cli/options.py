"""Options that several commands have: each is written once."""

from pathlib import Path
from typing import Annotated

import typer

INPUT = (
    "A file of CSV, JSON lines, Parquet or Arrow, a quoted pattern ('day-*.parquet'), a folder of "
    "such files, a DuckDB database"
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
        help="Clusters that held fewer points in all are unconfirmed: -1 as cluster_id; by default "
        "as when the run was made.",
    ),
]
MinLife = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Clusters seen in fewer windows are unconfirmed: -1 as cluster_id; by default as when "
        "the run was made.",
    ),
]
MinClusterSizeShown = Annotated[
    float | None,
    typer.Option(min=1, metavar="N", help="Show clusters of fewer points in all as unconfirmed."),
]
MinLifeShown = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Show clusters seen in fewer windows as unconfirmed."),
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
LabelsTo = Annotated[
    str | None,
    typer.Option(
        "--labels-to",
        metavar="ADDRESS",
        help="Send labels there once they are committed: redis://HOST/DB?stream=NAME, "
        "kafka://HOST/TOPIC, mqtt://HOST/TOPIC or postgresql://HOST/DB?table=NAME.",
        rich_help_panel=OUTPUT,
    ),
]
EventsTo = Annotated[
    str | None,
    typer.Option(
        "--events-to",
        metavar="ADDRESS",
        help="Send events to such an address once they are committed.",
        rich_help_panel=OUTPUT,
    ),
]
Out = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="RUN", help="Folder of the run.", rich_help_panel=OUTPUT),
]
UntilIdle = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Streams: end, and close all windows, when no row has come for this long, such as "
        "30s.",
        rich_help_panel=CUT,
    ),
]
Alerts = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Alert rules in TOML: what to do when a cluster is born, returns, grows or moves.",
        rich_help_panel=OUTPUT,
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Remove labels that are older: 30d. Clusters, events and histories stay.",
        rich_help_panel=OUTPUT,
    ),
]
NamedBy = Annotated[
    str | None,
    typer.Option(
        "--describe",
        metavar="COLUMN",
        help="Name clusters by the values or words of this column that tell them; --text by "
        "default.",
        rich_help_panel=OUTPUT,
    ),
]
SampleSize = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Rows of each window that the run keeps, for the report, clusters and families.",
        rich_help_panel=OUTPUT,
    ),
]
NThreads = Annotated[
    int | None,
    typer.Option(help="Threads of a step; never changes the result.", rich_help_panel=PARAMETERS),
]
Resume = Annotated[
    bool | None,
    typer.Option(
        "--resume/--no-resume",
        help="Resume the run, or refuse to; by default it is resumed if it exists and was made "
        "with the same options.",
        rich_help_panel=OUTPUT,
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace an existing run.", rich_help_panel=OUTPUT),
]
LogJson = Annotated[
    bool,
    typer.Option(
        "--log-json",
        help="Say what happens as JSON, an object in each line of standard error.",
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing.", rich_help_panel=OUTPUT)
]
