"""A table anywhere, read through DuckDB: CSV, Parquet, Arrow, a DuckDB database, a query."""

import importlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from dynmeans.files.leftovers import hold, sweep
from dynmeans.inputs.input_error import InputError
from dynmeans.runs.closing import Closing
from dynmeans.runs.reading import locked_duckdb
from dynmeans.runs.reading.columns import free_name, missing_column, quote_name, quote_text
from dynmeans.runs.reading.csv_files import files_with_rows
from dynmeans.runs.reading.locked_duckdb import source_errors, without_patterns

MEMORY_LIMIT = "200MB"
ROWS_AT_A_TIME = 65_536

_SPILL = re.compile(r"dynmeans-(spill-\w+|[0-9a-f]{32})")
_CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".feather", ".ipc")
_DATABASE = (".duckdb", ".ddb", ".db")


class Source(Closing):
    """A table that can be read again and again, in its own order or sorted.

    DuckDB reads it closed off: no file but those named here, no network, no extension.

    Parameters
    ----------
    table : path, glob or table
        A CSV, Parquet or Arrow file, a pattern, a folder of such files, a DuckDB database; or a
        pyarrow Table, a pandas DataFrame, or anything else that DuckDB can scan.
    query : str, optional
        One SELECT to read instead; the table above is called ``source`` in it. For a database:
        any SELECT over its tables.
    database_table : str, optional
        The table to read from a database.
    text_column : str, optional
        A column that a CSV file's reader must leave as the text it is.
    also : iterable of str
        Further files that `connection` may read or write.

    Attributes
    ----------
    columns : dict of str to str
        Columns of the table, and DuckDB's type of each.
    row : str
        SQL for the number of a row in its source, from 0.

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
        also: Iterable[str] = (),
    ) -> None:
        sweep(Path(tempfile.gettempdir()), _SPILL)
        self._spill = Path(tempfile.mkdtemp(prefix="dynmeans-spill-"))
        self._spill_handle: int | None = hold(self._spill)
        self._connection = locked_duckdb.connect(memory_limit, self._spill)
        self._is_locked, self._timezone = False, "UTC"
        try:
            with source_errors():
                self._text_column = text_column
                self._files = [*also]
                self._define(table, query, database_table)
        except BaseException:
            self.close()
            raise
        if len(self.columns) == 1 and isinstance(table, str | os.PathLike) and query is None:
            self._check_divided(os.fspath(table))

    def set_timezone(self, name: str) -> None:
        """Say what a time without an offset means; UTC until then."""
        if name != self._timezone:
            with source_errors():
                self._connection.execute(f"SET TimeZone = {quote_text(name)}")
            self._timezone = name

    def batches(self, columns: str, *, order: str = "", skip: int = 0) -> Iterator[pa.RecordBatch]:
        """Stream `columns` as Arrow batches; sorting spills to disk when memory is short."""
        sql = f"SELECT {columns} FROM dynmeans_numbered"
        sql += f" ORDER BY {order}" if order else ""
        sql += f" OFFSET {skip:d}" if skip else ""
        with source_errors():
            yield from self.connection.sql(sql).to_arrow_reader(ROWS_AT_A_TIME)

    def rows(self, columns: str, *, where: str = "true", order: str = "") -> list[Any]:
        """Return a few rows as tuples, in order of number unless told otherwise."""
        sql = f"SELECT {columns} FROM dynmeans_numbered WHERE {where} "
        with source_errors():
            found = self.connection.execute(f"{sql} ORDER BY {order or self.row} LIMIT 10")
            rows: list[Any] = found.fetchall()
        return rows

    @property
    def connection(self) -> Any:
        """The DuckDB connection, where ``dynmeans_numbered`` is the table with row numbers."""
        if not self._is_locked:
            self._connection.execute("SET lock_configuration = true")
            self._is_locked = True
        return self._connection

    def close(self) -> None:
        """Give memory and spilled files back."""
        self._connection.close()
        shutil.rmtree(self._spill, ignore_errors=True)
        if self._spill_handle is not None:
            os.close(self._spill_handle)
            self._spill_handle = None

    def _define(self, table: Any, query: str | None, database_table: str | None) -> None:
        if isinstance(table, str | os.PathLike):
            reading = self._define_path(os.fspath(table), query, database_table)
        else:
            self._connection.register("source", table)
            reading = "SELECT * FROM source"
        # From here on a query, a view of a database or a wicked name meets a closed door.
        locked_duckdb.close_off(self._connection, self._files)
        text = reading if query is None else f"({locked_duckdb.checked_select(query)}\n)"
        self._connection.execute(f"CREATE TEMP VIEW dynmeans_rows AS SELECT * FROM ({text})")
        found = self._connection.execute("DESCRIBE dynmeans_rows").fetchall()
        self.columns = {str(row[0]): str(row[1]) for row in found}
        self.row = quote_name(free_name("dynmeans row", self.columns))
        self._connection.execute(
            "CREATE TEMP VIEW dynmeans_numbered AS "
            f"SELECT *, row_number() OVER () - 1 AS {self.row} FROM dynmeans_rows"
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
            raise InputError("database_table", "is for a DuckDB database", got=path)
        files = find_files(path)
        if files[0].endswith(_ARROW):
            # Arrow's datasets load pandas, which no other source needs.
            datasets = importlib.import_module("pyarrow.dataset")
            self._connection.register("source", datasets.dataset(files, format="ipc"))
        else:
            is_csv = files[0].endswith(_CSV)
            files = files_with_rows(files) if is_csv else files
            reader = "read_csv" if is_csv else "read_parquet"
            self._files += files
            names = ", ".join(quote_text(without_patterns(name)) for name in files)
            # A folder named x=5 is a name, not a column that takes the place of x.
            reading = f"{reader}([{names}], hive_partitioning = false"
            self._define_files(reading, has_types=is_csv)
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
        if locked_duckdb.is_sqlite(path):
            raise ValueError(
                f"{path!r} is a SQLite database, not a DuckDB one. Write its table to a CSV file "
                "first: sqlite3 -csv -header FILE 'SELECT * FROM name' > rows.csv"
            )
        self._connection.execute(f"ATTACH {quote_text(path)} AS input (READ_ONLY, TYPE duckdb)")
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
            raise InputError(
                "",
                "{!r} holds the tables {}",
                path,
                ", ".join(map(repr, names)) or "(none)",
                hint="Name one with {database_table=...}, or give a query with {query=...}.",
            )
        if database_table not in names:
            raise missing_column("database_table", database_table, names, "table")
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
