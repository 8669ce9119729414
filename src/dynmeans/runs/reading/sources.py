"""A table anywhere, read through DuckDB: CSV, Parquet, Arrow, a DuckDB database, a query."""

import importlib
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from dynmeans.runs.closing import Closing
from dynmeans.runs.reading.columns import missing_column, quote_name, quote_text
from dynmeans.runs.reading.csv_files import files_with_rows

MEMORY_LIMIT = "200MB"
ROWS_AT_A_TIME = 65_536
ROW = '"dynmeans row"'  # the number of a row in its source, from 0

_CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".feather", ".ipc")
_DATABASE = (".duckdb", ".ddb", ".db")
_NO_PARQUET = re.compile(r"magic bytes .* file ('.*?')|('.*?') too small to be a Parquet file")


class Source(Closing):
    """A table that can be read again and again, in its own order or sorted.

    Parameters
    ----------
    table : path, glob or table
        A CSV, Parquet or Arrow file, a pattern, a folder of such files, a DuckDB database; or a
        pyarrow Table, a pandas DataFrame, or anything else that DuckDB can scan.
    query : str, optional
        SQL to read instead; the table above is called ``source`` in it. For a database: any
        query over its tables.
    database_table : str, optional
        The table to read from a database.
    text_column : str, optional
        A column that a CSV file's reader must leave as the text it is.

    Examples
    --------
    >>> table = pa.table({"x": [3, 1, 2], "a name": ["p", "q", "r"]})
    >>> with Source(table, query="SELECT * FROM source WHERE x < 3") as source:
    ...     source.columns, [row for row in source.rows('"a name"', order="x")]
    ({'x': 'BIGINT', 'a name': 'VARCHAR'}, [('q',), ('r',)])
    """

    def __init__(
        self,
        table: Any,
        *,
        query: str | None = None,
        database_table: str | None = None,
        text_column: str | None = None,
        memory_limit: str = MEMORY_LIMIT,
    ) -> None:
        # Made only when something is spilled.
        self._spill = Path(tempfile.gettempdir()) / f"dynmeans-{uuid.uuid4().hex}"
        self._connection = duckdb.connect(
            config={
                "threads": 1,
                "memory_limit": memory_limit,
                "temp_directory": str(self._spill),
                "enable_external_file_cache": False,
            }
        )
        try:
            with source_errors():
                self._connection.execute("SET enable_progress_bar = false")
                self._connection.execute("SET TimeZone = 'UTC'")
                self._text_column = text_column
                self._define(table, query, database_table)
                rows = self._connection.execute("DESCRIBE dynmeans_rows").fetchall()
        except BaseException:
            self.close()
            raise
        self.columns = {str(row[0]): str(row[1]) for row in rows}
        if len(self.columns) == 1 and isinstance(table, str | os.PathLike) and query is None:
            self._check_divided(os.fspath(table))

    def set_timezone(self, name: str) -> None:
        """Say what a time without an offset means; UTC until then."""
        with source_errors():
            self._connection.execute(f"SET TimeZone = {quote_text(name)}")

    def batches(self, columns: str, *, order: str = "", skip: int = 0) -> Iterator[pa.RecordBatch]:
        """Stream `columns` as Arrow batches; sorting spills to disk when memory is short."""
        sql = f"SELECT {columns} FROM dynmeans_numbered"
        sql += f" ORDER BY {order}" if order else ""
        sql += f" OFFSET {skip:d}" if skip else ""
        with source_errors():
            yield from self._connection.sql(sql).to_arrow_reader(ROWS_AT_A_TIME)

    def rows(self, columns: str, *, where: str = "true", order: str = ROW) -> list[Any]:
        """Return a few rows as tuples."""
        sql = f"SELECT {columns} FROM dynmeans_numbered WHERE {where} ORDER BY {order} LIMIT 10"
        with source_errors():
            return self._connection.execute(sql).fetchall()

    @property
    def connection(self) -> Any:
        """The DuckDB connection, where ``dynmeans_numbered`` is the table with row numbers."""
        return self._connection

    def close(self) -> None:
        """Give memory and spilled files back."""
        self._connection.close()
        shutil.rmtree(self._spill, ignore_errors=True)

    def _define(self, table: Any, query: str | None, database_table: str | None) -> None:
        if isinstance(table, str | os.PathLike):
            reading = self._define_path(os.fspath(table), query, database_table)
        else:
            self._connection.register("source", table)
            reading = "SELECT * FROM source"
        text = f"({query.strip().rstrip(';')})" if query is not None else reading
        self._connection.execute(f"CREATE TEMP VIEW dynmeans_rows AS SELECT * FROM ({text})")
        self._connection.execute(
            "CREATE TEMP VIEW dynmeans_numbered AS "
            f"SELECT *, row_number() OVER () - 1 AS {ROW} FROM dynmeans_rows"
        )

    def _check_divided(self, path: str) -> None:
        """Refuse a CSV file in which no separator was found."""
        (name,) = self.columns
        if path.endswith(_CSV) and re.search(r"[,;|\t]", name):
            self.close()
            raise ValueError(
                f"{path!r} cannot be divided into columns. Do all lines have as many fields as the "
                f"first, {name!r}?"
            )

    def _define_path(self, path: str, query: str | None, database_table: str | None) -> str:
        if path.endswith(_DATABASE):
            return self._attach(path, query, database_table)
        if database_table is not None:
            raise ValueError(f"table is for a DuckDB database, got {path!r}.")
        files = find_files(path)
        if files[0].endswith(_ARROW):
            # Arrow's datasets load pandas, which no other source needs.
            datasets = importlib.import_module("pyarrow.dataset")
            self._connection.register("source", datasets.dataset(files, format="ipc"))
        else:
            is_csv = files[0].endswith(_CSV)
            files = files_with_rows(files) if is_csv else files
            reader = "read_csv" if is_csv else "read_parquet"
            names = ", ".join(quote_text(_without_patterns(name)) for name in files)
            self._define_files(f"{reader}([{names}]", has_types=is_csv)
        return "SELECT * FROM source"

    def _define_files(self, reading: str, *, has_types: bool) -> None:
        view = "CREATE OR REPLACE TEMP VIEW source AS SELECT * FROM"
        self._connection.execute(f"{view} {reading})")
        if self._text_column is None or not has_types:
            return
        columns = self._connection.execute("DESCRIBE source").fetchall()
        if self._text_column in (column[0] for column in columns):
            kinds = f"types = {{{quote_text(self._text_column)}: 'VARCHAR'}}"
            self._connection.execute(f"{view} {reading}, {kinds})")

    def _attach(self, path: str, query: str | None, database_table: str | None) -> str:
        if not Path(path).is_file():
            raise FileNotFoundError(f"there is no file {path!r}.")
        self._connection.execute(f"ATTACH {quote_text(path)} AS input (READ_ONLY)")
        self._connection.execute("USE input")
        found = self._connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'input'"
        ).fetchall()
        names = [str(row[0]) for row in found]
        if query is not None:
            return ""
        if database_table is None and len(names) == 1:
            database_table = names[0]
        if database_table is None:
            raise ValueError(
                f"{path!r} holds the tables {', '.join(map(repr, names)) or '(none)'}: name one "
                "with --table, or give a query with --sql."
            )
        if database_table not in names:
            raise missing_column("table", database_table, names, "table")
        return f"SELECT * FROM input.{quote_name(database_table)}"


def find_files(path: str) -> list[str]:
    """Return the files that a path, a pattern or a folder stands for, sorted by name."""
    known = (*_CSV, *_PARQUET, *_ARROW)
    given = Path(path)
    if given.is_dir():
        files = sorted(str(p) for p in given.rglob("*") if p.name.endswith(known) and p.is_file())
    elif given.is_file():
        files = [path]
    else:
        anchor = given.anchor or "."
        pattern = str(given.relative_to(anchor)) if given.anchor else path
        files = sorted(str(p) for p in Path(anchor).glob(pattern) if p.is_file()) if path else []
    if not files:
        raise FileNotFoundError(f"there is no file {path!r} to read.")
    if bad := [name for name in files if not name.endswith(known)]:
        raise ValueError(f"{bad[0]!r} is no file to read: its name must end in {', '.join(known)}.")
    kinds = {next(k for k in (_CSV, _PARQUET, _ARROW) if name.endswith(k)) for name in files}
    if len(kinds) > 1:
        raise ValueError(f"{path!r} holds files of more than one kind; name those to read.")
    return files


def _without_patterns(name: str) -> str:
    """Keep DuckDB from reading a file's name as a pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


@contextmanager
def source_errors() -> Iterator[None]:
    """Turn errors of reading into one line; errors of our own pass as they are."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException) as error:
        raise _in_one_line(error) from error
    except OSError as error:
        # Arrow hands on what failed in DuckDB while it streams, under this type alone.
        if type(error) is not OSError:
            raise
        raise _in_one_line(error) from error


def _in_one_line(error: Exception) -> ValueError | OSError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # The last lines show the place in a query that is not the user's.
    lines = list(takewhile(lambda line: not line.startswith("LINE "), lines))
    is_system = lines and lines[0].startswith(("IO Error", "Out of Memory", "Permission"))
    told = re.sub(r"^[A-Z][\w ]* Error: ", "", " ".join(lines[:3]))
    if found := _NO_PARQUET.search(told):
        told = f"{found[1] or found[2]} is not a Parquet file."
    text = f"the input cannot be read: {told[:500]}"
    return OSError(text) if is_system else ValueError(text)
