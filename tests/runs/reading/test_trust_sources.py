"""A source is data: its names, queries, views and folders run nothing and reach nothing else."""

import json
import sqlite3

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
import run_cases

from dynmeans import Run
from dynmeans.runs.analysis.truth_counts import count_truth
from dynmeans.runs.export.export_labels import export_labels
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows
from dynmeans.runs.store.commit import write_manifest

INJECTED = (
    "SELECT * FROM source)); COPY (SELECT 'owned') TO '{}' (FORMAT csv); "
    "CREATE OR REPLACE TEMP VIEW dynmeans_rows AS SELECT * FROM ((SELECT * FROM source"
)
NOT_ONE_SELECT = [
    "SELECT * FROM source; SELECT 1",
    "COPY source TO 'x.csv'",
    "INSTALL sqlite",
    "ATTACH 'x.db'",
    "SET enable_external_access = true",
    "",
]
OUT_OF_REACH = [
    "SELECT * FROM read_csv('secret.csv')",
    "SELECT * FROM 'secret.csv'",
    "SELECT * FROM glob('*')",
    "SELECT content FROM read_text('secret.csv')",
    "SELECT * FROM 'https://example.com/rows.parquet'",
]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_cases.moving_table(5).to_parquet("rows.parquet", index=False)
    (tmp_path / "secret.csv").write_text("x\n1\n")
    return "rows.parquet"


@pytest.fixture
def run_with_query(rows, tmp_path):
    """A run folder whose stored query is not the one it was made with."""
    run_cases.follow(rows, tmp_path / "run")

    def put(query):
        with sqlite3.connect(tmp_path / "run" / "run.sqlite") as connection:
            values = ("sql", json.dumps(query))
            connection.execute("REPLACE INTO configuration (name, value) VALUES (?, ?)", values)
            write_manifest(connection, {})  # whoever forges a run forges its digests
        connection.close()
        return tmp_path / "run"

    return put


def test_a_query_stored_in_a_run_is_not_run_unless_trusted(run_with_query, tmp_path):
    folder = run_with_query("SELECT * FROM source")
    with Run.open(folder) as run:
        with pytest.raises(ValueError, match="stored in it, 'SELECT"):
            export_labels(run, tmp_path / "out.parquet")
        with pytest.raises(ValueError, match="stored in it, 'SELECT"):
            count_truth(run, "truth", "rows.parquet")
        assert export_labels(run, tmp_path / "out.parquet", allow_stored_sql=True).n_rows == 60


def test_a_stored_query_that_leaves_its_parentheses_writes_nothing_even_if_trusted(
    run_with_query, tmp_path
):
    folder = run_with_query(INJECTED.format(tmp_path / "owned.csv"))
    with Run.open(folder) as run, pytest.raises(ValueError, match="the query cannot be read"):
        export_labels(run, tmp_path / "out.parquet", allow_stored_sql=True)
    assert not (tmp_path / "owned.csv").exists()


@pytest.mark.parametrize("query", NOT_ONE_SELECT)
def test_a_query_is_one_select(rows, query):
    with pytest.raises(ValueError, match="must be one SELECT"):
        Source(rows, reading=ReadingOptions(sql=query))


@pytest.mark.parametrize("query", OUT_OF_REACH)
def test_a_query_reaches_no_file_but_the_input(rows, query):
    with pytest.raises((ValueError, OSError), match="no other file"):
        Source(rows, reading=ReadingOptions(sql=query))


def test_a_query_that_ends_in_a_comment_is_read(rows):
    with Source(rows, reading=ReadingOptions(sql="SELECT x FROM source -- all of them")) as source:
        assert list(source.columns) == ["x"]


def test_a_query_sees_no_variable_of_the_program(rows):
    secret = pa.table({"x": [1.0]})
    with pytest.raises(ValueError, match="secret"):
        Source(rows, reading=ReadingOptions(sql="SELECT * FROM secret"))
    del secret


def test_a_view_inside_a_database_reaches_no_other_file(rows, tmp_path):
    with duckdb.connect("rows.duckdb") as connection:
        connection.execute("CREATE VIEW v AS SELECT * FROM read_csv('secret.csv')")
    with pytest.raises((ValueError, OSError), match="no other file"):
        Source("rows.duckdb", reading=ReadingOptions(sql="SELECT * FROM v"))


def test_settings_are_locked_once_rows_are_read(rows):
    with Source(rows) as source, pytest.raises(duckdb.Error, match="locked"):
        source.connection.execute("SET threads = 4")


def test_an_address_of_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="unknown address scheme 'ftp://'"):
        Source("ftp://example.com/rows.parquet")


def test_no_extension_is_installed_or_loaded_on_the_way():
    with Source(pa.table({"x": [1.0]})) as source:
        settings = source.connection.execute(
            "SELECT value FROM duckdb_settings() WHERE name IN "
            "('autoinstall_known_extensions', 'autoload_known_extensions', "
            "'enable_external_access')"
        ).fetchall()
    assert settings == [("false",)] * 3


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_folder_name_with_an_equals_sign_is_no_column(tmp_path, ending):
    for value in (5, 6):
        folder = tmp_path / f"x={value}"
        folder.mkdir()
        frame = pd.DataFrame({"x": [1.0, 2.0]})
        path = folder / f"rows{ending}"
        frame.to_csv(path, index=False) if ending == ".csv" else frame.to_parquet(path)
    with Source(tmp_path) as source:
        (window,) = Windows(source, WindowOptions(features=("x",), rows_per_window=9))
    assert window.points.ravel().tolist() == [1.0, 2.0, 1.0, 2.0]


def test_a_run_name_with_brackets_is_not_a_pattern(tmp_path):
    for name, shift in (("r1", 0.0), ("r[1]", 100.0)):
        frame = run_cases.moving_table(5 if name == "r1" else 7)
        frame.assign(x=frame["x"] + shift).to_parquet(tmp_path / f"{name}.parquet", index=False)
        run_cases.follow(tmp_path / f"{name}.parquet", tmp_path / name)
    with Run.open(tmp_path / "r[1]") as run:
        for labels_only in (True, False):
            done = export_labels(run, tmp_path / "out.parquet", labels_only=labels_only)
            assert done.n_rows == 84
            found = pd.read_parquet(tmp_path / "out.parquet")["cluster_id"].tolist()
            assert found == run.labels()["cluster_id"].tolist()


def test_an_input_column_named_as_our_row_number_hides_nothing(tmp_path):
    frame = run_cases.moving_table(5).assign(**{"dynmeans row": 7})
    frame = frame.sample(frac=1, random_state=0)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    run_cases.follow(tmp_path / "rows.parquet", tmp_path / "run")
    with Run.open(tmp_path / "run") as run:
        assert export_labels(run, tmp_path / "out.parquet").n_rows == len(frame)
        labels = run.labels().sort_values("row_id")["cluster_id"].tolist()
    out = pd.read_parquet(tmp_path / "out.parquet")
    assert out["cluster_id"].tolist() == labels
    assert out["dynmeans row"].tolist() == [7] * len(frame)
