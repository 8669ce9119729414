"""Options that several commands have: each is written once."""

from pathlib import Path
from typing import Annotated

import typer

INPUT = (
    "A file of CSV, JSON lines, Parquet, Arrow or Excel, a quoted pattern ('day-*.parquet'), a "
    "folder of such files, a DuckDB or SQLite database"
)
SOURCE, CUT, PARAMETERS, OUTPUT = "Rows", "Windows", "Clustering", "Output"

Features = Annotated[
    list[str],
    typer.Option(
        "--features",
        "-f",
        help="Numeric columns to cluster by: 'a,b,c', or patterns such as 'x_*'; may be repeated.",
        rich_help_panel=SOURCE,
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        "-t",
        help="Column of times; rows are read in order of time.",
        rich_help_panel=SOURCE,
    ),
]
Every = Annotated[
    str | None,
    typer.Option(
        help="Length of a window: 500ms, 30min, 6h, 1d, 1w, 1mo, 1y; a plain "
        "number where times are plain numbers. Days and longer follow the calendar of --timezone.",
        rich_help_panel=CUT,
    ),
]
Count = Annotated[
    int | None, typer.Option(metavar="N", help="One window for every N rows.", rich_help_panel=CUT)
]
BatchColumn = Annotated[
    str | None,
    typer.Option(
        "--batch",
        help="One window for each value of this column; integers that are missing count as empty "
        "windows.",
        rich_help_panel=CUT,
    ),
]
About = Annotated[
    float | None,
    typer.Option(
        "--about",
        metavar="N",
        help="About how many clusters a window holds: fixes the scale of a suggestion.",
        rich_help_panel=PARAMETERS,
    ),
]
FamilyLevel = Annotated[
    float | None,
    typer.Option(
        "--level",
        help="Level of families: a squared distance; 0 joins only what touches.",
    ),
]
FamiliesAbout = Annotated[
    float | None,
    typer.Option("--about", metavar="N", help="About how many families a window holds."),
]
WithFamilies = Annotated[bool, typer.Option("--families", help="Families in place of identities.")]
MinClusterSize = Annotated[
    float | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Clusters that held fewer points in all are unconfirmed: -1 as cluster_id.",
    ),
]
MinLife = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Clusters seen in fewer windows are unconfirmed: -1 as cluster_id.",
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
Timezone = Annotated[
    str,
    typer.Option(
        help="Time zone of the calendar, and of times without an offset.", rich_help_panel=SOURCE
    ),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        help="For times that are numbers since 1970: s, ms, us or ns.", rich_help_panel=SOURCE
    ),
]
TimeFormat = Annotated[
    list[str] | None,
    typer.Option(
        help="Format of times that are text and not like 2024-03-31 14:05, such as "
        "'%d.%m.%Y %H:%M'; may be repeated, and the first that fits is used.",
        rich_help_panel=SOURCE,
    ),
]
Decimal = Annotated[
    str,
    typer.Option(
        metavar=".|,",
        help="What stands before the decimals of a number in text.",
        rich_help_panel=SOURCE,
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        help="Encoding of CSV files and JSON lines: cp1252, utf-16 and all that Python knows.",
        rich_help_panel=SOURCE,
    ),
]
Distinct = Annotated[
    bool,
    typer.Option(
        "--distinct",
        help="Leave out rows that equal an earlier one in every column, and count them.",
        rich_help_panel=SOURCE,
    ),
]
Network = Annotated[
    bool,
    typer.Option(
        "--network",
        help="Allow an INPUT of https:// or s3://; needs DuckDB's extension httpfs.",
        rich_help_panel=SOURCE,
    ),
]
NetworkAgain = Annotated[
    bool, typer.Option("--network", help="Allow rows to be read from https:// or s3://.")
]
Weight = Annotated[str | None, typer.Option(help="Column of weights.", rich_help_panel=SOURCE)]
Sql = Annotated[
    str | None,
    typer.Option(help="One SELECT to read, where INPUT is called source.", rich_help_panel=SOURCE),
]
DatabaseTable = Annotated[
    str | None,
    typer.Option(
        "--table", help="Table of a database, or sheet of an Excel file.", rich_help_panel=SOURCE
    ),
]
OnMissing = Annotated[
    str | None,
    typer.Option(
        help="What to do with rows that lack a finite value or a readable time: drop (and count "
        "them), or error. drop by default; a stream keeps such messages as dead letters.",
        rich_help_panel=SOURCE,
    ),
]
Standardize = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Give every feature mean 0 and spread 1, learned from the first N windows and kept.",
        rich_help_panel=PARAMETERS,
    ),
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
