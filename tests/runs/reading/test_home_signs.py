"""Names that begin with ~ are names: no home folder is put in their place."""

import duckdb
import pandas as pd
import pytest

from dynmeans import Run
from dynmeans.cli.__main__ import main

ROWS = pd.DataFrame({"x": [0.0, 0.1, 9.0, 9.1], "y": [0.0] * 4})
OTHER = pd.DataFrame({"x": [5.0], "y": [5.0]})


def write(path, rows):
    if path.suffix == ".csv":
        rows.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        rows.to_parquet(path, index=False)
    elif path.suffix == ".jsonl":
        rows.to_json(path, orient="records", lines=True)
    else:
        with duckdb.connect(str(path)) as database:
            database.execute("CREATE TABLE rows AS SELECT * FROM rows")


@pytest.mark.parametrize("place", ["~d", "~", "~root"])
@pytest.mark.parametrize(
    ("end", "is_folder"),
    [
        *(
            (end, is_folder)
            for end in (".csv", ".parquet", ".jsonl")
            for is_folder in (False, True)
        ),
        (".duckdb", False),  # a database is one file
    ],
)
def test_a_folder_that_begins_with_a_tilde_is_not_the_home_folder(
    place, end, is_folder, tmp_path, monkeypatch
):
    home, here = tmp_path / "home", tmp_path / "here"
    for folder, rows in ((home / place[1:], OTHER), (here / place, ROWS)):
        folder.mkdir(parents=True)
        write(folder / f"rows{end}", rows)
    (here / "~out").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    name = place if is_folder else f"{place}/rows{end}"
    words = [
        "cluster",
        name,
        "-f",
        "x,y",
        "--rows-per-window",
        "2",
        "--new-penalty",
        "1",
        "-o",
        f"{place}-run",
    ]
    assert main(words) == 0
    with Run.open(here / f"{place}-run") as run:
        assert run.status().n_rows == 4
    for out in (f"{place}-labels.csv", "~out/labels.parquet"):
        assert main(["labels", f"{place}-run", "-o", out]) == 0
        assert (here / out).exists()
