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
    typer.Option(metavar="NAME", help="Author of the edit; by default the user of this computer."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True)
class FamilyOptions:
    """Which families are shown."""

    families: bool = option(False, "Show families instead of clusters, or in addition.", bool)
    family_level: float | None = option(
        None,
        "Height at which the tree of families is cut: a squared distance; 0 joins only clusters "
        "that touch.",
        float,
    )
    n_families: float | None = option(
        None, "Approximate number of families in a window.", float, metavar="N"
    )

    def of(self, run: "Run") -> "Families | None":
        """Return the families of a run, if they are requested."""
        if not self.families and self.family_level is None and self.n_families is None:
            return None
        from dynmeans.runs.analysis.run_families import families_of_run

        return families_of_run(run, family_level=self.family_level, n_families=self.n_families)


@dataclass(frozen=True)
class RowOptions:
    """Where the original rows are, and which of their columns are looked at."""

    truth: str | None = option(None, "Column of true labels; by default that of the run.")
    describe: tuple[str, ...] = option(
        (),
        "Columns of the input that describe clusters, by their most characteristic values or "
        "words; 'text,port', may be repeated.",
        list,
        flag="-d",
    )
    input: str | None = option(None, "Path of the original rows, if they were moved.")
    allow_stored_sql: bool = option(
        False,
        "Run the query that is stored in the run: only if you trust its author.",
        bool,
    )


@dataclass(frozen=True)
class ConfirmedOptions:
    """Which clusters are confirmed; by default as when the run was made."""

    min_cluster_size: float | None = option(
        None,
        "Clusters with fewer points in total are unconfirmed, -1 as cluster_id; by default as "
        "in the run.",
        float,
        metavar="N",
        min=1,
    )
    min_batches: int | None = option(
        None,
        "Clusters in fewer windows are unconfirmed, -1 as cluster_id; by default as in the run.",
        int,
        metavar="N",
        min=1,
    )
