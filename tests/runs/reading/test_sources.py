"""Where rows come from: every kind of file, and every kind of name."""

import gzip

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pytest

from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.sources.source import Source, find_files
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows

FRAME = pd.DataFrame({"t": [1.0, 2.0, 3.0], "x": [10.0, 20.0, 30.0]})
WICKED = 'x\'; DROP TABLE "rows"; -- *[?]'


def values_of(rows, column="x", **reading):
    options = WindowOptions(features=(column,), rows_per_window=100)
    with Source(rows, reading=ReadingOptions(**reading)) as source:
        (batch,) = Windows(source, options)
    return batch.points.ravel().tolist()


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet", ".feather"])
def test_every_kind_of_file_gives_its_rows(tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    if ending == ".parquet":
        FRAME.to_parquet(path, index=False)
    elif ending == ".feather":
        feather.write_feather(pa.Table.from_pandas(FRAME), str(path))
    else:
        FRAME.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    assert values_of(str(path)) == [10.0, 20.0, 30.0]


def test_a_folder_and_a_pattern_give_their_files_in_order_of_name(tmp_path):
    for number in (10, 2, 1):
        FRAME.assign(x=FRAME["x"] + number).to_parquet(tmp_path / f"day-{number:02}.parquet")
    expected = [11.0, 21.0, 31.0, 12.0, 22.0, 32.0, 20.0, 30.0, 40.0]
    assert values_of(str(tmp_path)) == expected
    assert values_of(str(tmp_path / "day-*.parquet")) == expected


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_names_with_quotes_patterns_and_sql_are_only_names(tmp_path, ending):
    path = tmp_path / f"{WICKED}{ending}"
    frame = FRAME.rename(columns={"x": WICKED})
    frame.to_csv(path, index=False) if ending == ".csv" else frame.to_parquet(path)
    FRAME.assign(x=-1.0).rename(columns={"x": WICKED}).to_csv(tmp_path / "xother.csv", index=False)
    assert values_of(str(path), column=WICKED) == [10.0, 20.0, 30.0]


def test_the_name_of_a_file_is_no_pattern(tmp_path):
    FRAME.to_csv(tmp_path / "a*.csv", index=False)
    FRAME.assign(x=-1.0).to_csv(tmp_path / "ab.csv", index=False)
    assert values_of(str(tmp_path / "a*.csv")) == [10.0, 20.0, 30.0]


def test_wicked_names_are_safe_in_every_role(tmp_path):
    names = {
        role: f"{role} {WICKED}" for role in ("time", "id", "weight", "truth", "window_column")
    }
    frame = pd.DataFrame({name: [1, 2, 3] for name in names.values()}).assign(x=FRAME["x"])
    options = WindowOptions(features=("x",), **names)
    with Source(pa.Table.from_pandas(frame)) as source:
        batches = list(Windows(source, options))
    assert [batch.truth.tolist() for batch in batches] == [[1], [2], [3]]


def test_a_column_may_have_the_name_we_number_rows_by():
    table = pa.table({"row": [7.0, 8.0], "number": [1.0, 2.0], "f0": [5.0, 6.0]})
    assert values_of(table, column="row") == [7.0, 8.0]
    assert values_of(table, column="f0") == [5.0, 6.0]


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE a AS SELECT range::DOUBLE AS x FROM range(3)")
        connection.execute('CREATE TABLE "b; c" AS SELECT range * 2.0 AS x FROM range(3)')
    return str(path)


def test_the_one_table_of_a_database_is_read(tmp_path):
    path = str(tmp_path / "rows.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute('CREATE TABLE "b; c" AS SELECT range * 2.0 AS x FROM range(3)')
    assert values_of(path) == [0.0, 2.0, 4.0]


def test_a_query_over_a_database_is_read(database):
    query = 'SELECT a.x + b.x AS x FROM a JOIN "b; c" AS b ON b.x = 2 * a.x ORDER BY x;'
    assert values_of(database, sql=query) == [0.0, 3.0, 6.0]


def test_a_database_of_two_tables_asks_which_one(database):
    with pytest.raises(ValueError, match=r"holds the tables 'a', 'b; c'\. Read one with sql="):
        Source(database)


def test_a_query_over_a_file_calls_it_source(tmp_path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    query = "SELECT x / 10 AS x FROM source WHERE t > 1"
    assert values_of(str(tmp_path / "rows.csv"), sql=query) == [2.0, 3.0]


def test_a_query_that_is_wrong_is_one_error(tmp_path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ValueError, match=r"the input cannot be read: .*speed"):
        Source(str(tmp_path / "rows.csv"), reading=ReadingOptions(sql="SELECT speed FROM source"))


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.csv"):
        Source(str(tmp_path / "none.csv"))


def test_an_ending_nobody_knows_is_told(tmp_path):
    (tmp_path / "rows.docx").write_text("x")
    with pytest.raises(ValueError, match=r"must end in \.csv"):
        find_files(str(tmp_path / "rows.docx"))


def test_files_of_two_kinds_in_one_folder_are_refused(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv")
    FRAME.to_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="files of several kinds"):
        find_files(str(tmp_path))


def test_a_file_cut_short_is_one_error(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises((ValueError, OSError), match="the input cannot be read"):
        Source(str(path))


def test_a_value_that_breaks_the_column_late_in_the_file_is_one_error(tmp_path):
    lines = ["x", *("1.5" for _ in range(60_000)), "not a number"]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"the input cannot be read: .*not a number"):
        values_of(str(tmp_path / "rows.csv"))


def test_a_sort_larger_than_its_memory_spills_and_is_right():
    n = 1_500_000
    table = pa.table({"t": pa.array(range(n, 0, -1), pa.float64()), "x": pa.array(range(n))})
    options = WindowOptions(features=("x",), time="t", every="100000")
    with Source(table, memory_limit="30MB") as source:
        batches = list(Windows(source, options))
    assert sum(batch.n_points for batch in batches) == n
    assert batches[0].row_ids[0] == n - 1
    assert all((batch.times[1:] > batch.times[:-1]).all() for batch in batches)


def test_files_without_rows_among_others_are_left_out(tmp_path):
    for name, text in {"1.csv": "", "2.csv": "x,y\n", "3.csv": "x,y\n1,2\n"}.items():
        (tmp_path / name).write_text(text)
    with Source(tmp_path) as source:
        assert source.rows('x, "y"') == [(1, 2)]


def test_a_packed_file_with_a_header_alone_is_refused(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n"))
    with pytest.raises(ValueError, match=r"rows.csv.gz' holds no rows, only a header"):
        Source(path)


def test_a_single_line_of_numbers_is_a_row(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("1,2.5\n")
    with Source(path) as source:
        assert source.rows("column1") == [(2.5,)]


def test_a_file_whose_lines_differ_in_length_is_refused_with_its_first_line(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n1\n3,4\n")
    with pytest.raises(ValueError, match=r"cannot be divided into columns.*the first, 'a,b'"):
        Source(path)


def test_an_address_that_nobody_knows_is_refused_without_its_password():
    with pytest.raises(ValueError, match=r"unknown address scheme 'nats://'\.\.\.") as refused:
        Source("nats://user:hunter2@localhost/rows")
    assert "hunter2" not in str(refused.value)
