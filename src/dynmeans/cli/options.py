"""Options that several commands have: each is written once."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dynmeans.inputs.fields import option

if TYPE_CHECKING:
    from dynmeans.records.families import Families
    from dynmeans.runs.run import Run

INPUT = (
    "A file of CSV, JSON lines, Parquet or Arrow, a quoted pattern ('day-*.parquet'), a folder of "
    "such files, a DuckDB database"
)
SOURCE, CUT, PARAMETERS, OUTPUT = "Rows", "Windows", "Clustering", "Output"


def existing_run(folder: Path) -> Path:
    """Refuse a folder without a run before anything is loaded: it takes a moment, not a second."""
    if not (folder / "run.sqlite").exists():
        what = "it has no run.sqlite" if folder.exists() else "it does not exist"
        raise FileNotFoundError(f"{str(folder)!r} is not a run folder: {what}.")
    return folder


RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of the run.", callback=existing_run)
]
Author = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Who makes the edit; the user of this computer by default."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True)
class FamilyOptions:
    """Which families are shown."""

    families: bool = option(False, "Families in place of identities, or beside them.", bool)
    level: float | None = option(
        None, "Level of families: a squared distance; 0 joins only what touches.", float
    )
    n_families: float | None = option(
        None, "About how many families a window holds.", float, metavar="N"
    )

    def of(self, run: "Run") -> "Families | None":
        """Return the families of a run, if they are asked for."""
        if not self.families and self.level is None and self.n_families is None:
            return None
        from dynmeans.runs.analysis.run_families import families_of_run

        return families_of_run(run, level=self.level, n_families=self.n_families)


@dataclass(frozen=True)
class RowOptions:
    """Where the original rows are, and which of their columns are looked at."""

    truth: str | None = option(
        None, "Column of true identities; by default the one named when the run was made."
    )
    describe: tuple[str, ...] = option(
        (),
        "Columns of the input to describe clusters by: their most telling values or words; "
        "'text,port', may be repeated.",
        list,
        flag="-d",
    )
    input: str | None = option(None, "Where the original rows are now, if they were moved.")
    allow_stored_sql: bool = option(
        False,
        "Run the query that is stored in the run, if it has one: only for a run that you made or "
        "whose maker you trust.",
        bool,
    )


@dataclass(frozen=True)
class ConfirmedOptions:
    """Which clusters are confirmed; by default as when the run was made."""

    min_cluster_size: float | None = option(
        None,
        "Clusters that held fewer points in all are unconfirmed, -1 as cluster_id; by default as "
        "when the run was made.",
        float,
        metavar="N",
        min=1,
    )
    min_batches: int | None = option(
        None,
        "Clusters seen in fewer windows are unconfirmed, -1 as cluster_id; by default as when the "
        "run was made.",
        int,
        metavar="N",
        min=1,
    )
