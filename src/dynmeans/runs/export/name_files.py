"""Names of clusters in CSV files: the columns cluster_id and name."""

import csv
import os
from collections.abc import Mapping
from pathlib import Path

from dynmeans.files.whole_file import whole_file
from dynmeans.runs.export.spreadsheet_cells import as_written, plain_cell

COLUMNS = ("cluster_id", "name")


def read_names(path: str | os.PathLike[str]) -> dict[int, str]:
    """Read names by identity; other columns are left alone."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{str(path)!r} is no CSV file in UTF-8: {error}.") from error
    names: dict[int, str] = {}
    for line, row in enumerate(rows, 2):
        number, name = (row.get(column) for column in COLUMNS)
        if number is None or name is None:
            raise ValueError(f"{str(path)!r} must have the columns cluster_id and name.")
        try:
            names[int(number)] = as_written(name)
        except ValueError as error:
            told = f"line {line} of {str(path)!r} has no number of a cluster: {number!r}."
            raise ValueError(told) from error
    return names


def write_names(names: Mapping[int, str], path: str | os.PathLike[str]) -> None:
    """Write names by identity; one that a spreadsheet would run gets an apostrophe."""
    with (
        whole_file(path) as temporary,
        Path(temporary).open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([k, plain_cell(names[k])] for k in sorted(names))
