"""What clusters are, as a file."""

import os
from pathlib import Path

import pyarrow.parquet as pq

from dynmeans.files.whole_file import whole_file
from dynmeans.runs.export.spreadsheet_cells import plain_cells
from dynmeans.runs.look.profiles import Profiles
from dynmeans.runs.reading.columns import quote_text
from dynmeans.runs.reading.sources.locked_duckdb import source_errors
from dynmeans.runs.reading.sources.source import Source


def write_profiles(profiles: Profiles, path: str | os.PathLike[str]) -> None:
    """Write one row for each cluster, as Parquet or as CSV that no spreadsheet runs."""
    table = profiles.to_arrow()
    with whole_file(path) as temporary:
        if Path(path).suffix == ".parquet":
            pq.write_table(table, temporary)
            return
        with Source(table, also=[temporary]) as source, source_errors():
            source.connection.execute(
                f"COPY (SELECT {plain_cells(source.columns)} FROM dynmeans_rows) TO "
                f"{quote_text(temporary)} (FORMAT csv, HEADER, USE_TMP_FILE false)"
            )
