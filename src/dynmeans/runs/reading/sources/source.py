"""A table anywhere, read through DuckDB: files, databases, frames, a query over them."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyarrow as pa

from dynmeans.files.stale_files import hold, sweep
from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import TEXT, free_name, is_vector, quote_name, quote_text
from dynmeans.runs.reading.sources import sandboxed_duckdb
from dynmeans.runs.reading.sources.file_kinds import (
    ARROW,
    CSV,
    DATABASE,
    JSON_LINES,
    find_files,
    kind_of,
)
from dynmeans.runs.reading.sources.reading_options import AS_USUAL, UTF8, ReadingOptions
from dynmeans.runs.reading.sources.remote_files import (
    is_remote,
    remote_dataset,
    without_secrets,
)
from dynmeans.runs.reading.sources.sandboxed_duckdb import not_home, source_errors, without_patterns
from dynmeans.runs.reading.sources.text_files import files_with_rows, recode

MEMORY_LIMIT = "200MB"
ROWS_AT_A_TIME = 65_536

_SPILL = re.compile(r"dynmeans-(spill-\w+|[0-9a-f]{32})")


class Source(AbstractContextManager["Source"]):
    """A table that can be read repeatedly, in its own order or sorted.

    DuckDB reads it in a sandbox: only the files named here, no network, no extensions. Parquet at
    an address is read by Arrow.

    Parameters
    ----------
    input : path, glob or table
        A file of CSV, JSON lines, Parquet or Arrow, a pattern, a folder of such files, a DuckDB
        database, Parquet at https:// or s3://; or a pyarrow Table, a pandas or polars DataFrame,
        or anything else that DuckDB can scan.
    text_column : str, optional
        A column that is read as text.
    also : iterable of str
        Further files that `connection` may read or write.
    reading : ReadingOptions
        Format of the files, and which rows are read; with `sql` one SELECT is read
        instead, in which the table above is called ``source``, or any over those of a database.

    Attributes
    ----------
    columns : dict of str to str
        Columns of the table, and DuckDB's type of each.
    named : dict of str to str
        These, fields of nested columns as ``sensor.temp``.
    row : str
        SQL for the number of a row in its source, from 0.

    See Also
    --------
    dynmeans.runs.Windows : Divides it into windows.
    dynmeans.runs.ReadingOptions : How files are read.

    Examples
    --------
    >>> table = pa.table({"x": [3, 1, 2], "a name": ["p", "q", "r"]})
    >>> reading = ReadingOptions(sql="SELECT * FROM source WHERE x < 3")
    >>> with Source(table, reading=reading) as source:
    ...     source.columns, [row for row in source.rows('"a name"', order="x")]
    ({'x': 'BIGINT', 'a name': 'VARCHAR'}, [('q',), ('r',)])
    """

    def __init__(
        self,
        input: Any,
        *,
        text_column: str | None = None,
        memory_limit: str = MEMORY_LIMIT,
        also: Iterable[str] = (),
        reading: ReadingOptions = AS_USUAL,
    ) -> None:
        sweep(Path(tempfile.gettempdir()), _SPILL)
        self._spill = Path(tempfile.mkdtemp(prefix="dynmeans-spill-"))
        self._spill_handle: int | None = hold(self._spill)
        self._connection = sandboxed_duckdb.connect(memory_limit, self._spill)
        self._is_locked, self._timezone = False, "UTC"
        self._sniffed: str | None = None
        self.reading = reading
        try:
            with source_errors():
                self._text_column = text_column
                self._files = [*also]
                self._define(input)
        except BaseException:
            self.close()
            raise
        if len(self.columns) == 1 and isinstance(input, str | os.PathLike) and reading.sql is None:
            self._check_divided(os.fspath(input))

    def set_timezone(self, name: str) -> None:
        """Set the zone of times without an offset; UTC until then."""
        if name != self._timezone:
            with source_errors():
                self._connection.execute(f"SET TimeZone = {quote_text(name)}")
            self._timezone = name

    def batches(
        self, columns: str, *, order: str = "", limit: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Stream `columns` as Arrow batches; sorting spills to disk when memory is short."""
        sql = f"SELECT {columns} FROM dynmeans_numbered"
        sql += f" ORDER BY {order}" if order else ""
        sql += f" LIMIT {limit:d}" if limit is not None else ""
        with source_errors():
            yield from self.connection.sql(sql).to_arrow_reader(ROWS_AT_A_TIME)

    def rows(self, columns: str, *, where: str = "true", order: str = "") -> list[Any]:
        """Return a few rows as tuples, in order of number by default."""
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

    def date_form(self, name: str) -> str | None:
        """Return the form in which a CSV file has dates that are not written as ISO 8601."""
        dtype = self.columns.get(name, "")
        is_sniffed = self._sniffed is not None and self.reading.sql is None
        if not is_sniffed or dtype not in ("DATE", "TIMESTAMP"):
            return None
        with source_errors():
            found = self.connection.execute(
                f"SELECT {'DateFormat' if dtype == 'DATE' else 'TimestampFormat'} "
                f"FROM sniff_csv({quote_text(without_patterns(str(self._sniffed)))})"
            ).fetchall()
        return None if found[0][0] is None else str(found[0][0])

    def close(self) -> None:
        """Give memory and spilled files back."""
        self._connection.close()
        shutil.rmtree(self._spill, ignore_errors=True)
        if self._spill_handle is not None:
            os.close(self._spill_handle)
            self._spill_handle = None

    def __exit__(self, *_: object) -> None:
        """Close at the end of a ``with`` block."""
        self.close()

    def _define(self, table: Any) -> None:
        if isinstance(table, str | os.PathLike):
            self._define_path(os.fspath(table))
        else:
            self._refuse_encoding("a table in memory")
            self._connection.register("source", table)
        # From here on a query, a view of a database or a wicked name meets a closed door.
        sandboxed_duckdb.close_off(self._connection, self._files)
        sql = self.reading.sql
        text = "source" if sql is None else f"({sandboxed_duckdb.check_select(sql)}\n)"
        self._connection.execute(f"CREATE TEMP VIEW dynmeans_rows AS SELECT * FROM {text}")
        found = self._connection.execute("DESCRIBE dynmeans_rows").fetchall()
        self.columns = {str(row[0]): str(row[1]) for row in found}
        self.row = quote_name(free_name("dynmeans row", self.columns))
        fields = self._struct_fields()
        rows = f"SELECT *, {fields}row_number() OVER () - 1 AS {self.row} FROM dynmeans_rows"
        self._connection.execute(f"CREATE TEMP VIEW dynmeans_numbered AS {rows}")
        self._learn_names(bool(fields))

    def _struct_fields(self) -> str:
        """Return SQL that gives the fields of nested columns names such as ``sensor.temp``."""
        if not any(kind.startswith("STRUCT") for kind in self.columns.values()):
            return ""
        nothing = self._connection.sql("SELECT * FROM dynmeans_rows LIMIT 0").to_arrow_table()
        paths = [path for field in nothing.schema for path in _paths(field) if len(path) > 1]
        named = {".".join(path): ".".join(map(quote_name, path)) for path in paths}
        return "".join(
            f"{sql} AS {quote_name(name)}, "
            for name, sql in named.items()
            if name not in self.columns
        )

    def _learn_names(self, has_more: bool = True) -> None:
        """Learn what can be named: the columns and fields of nested ones."""
        self.named = self.columns
        if has_more:
            found = self._connection.execute("DESCRIBE dynmeans_numbered").fetchall()
            self.named = {str(row[0]): str(row[1]) for row in found if f'"{row[0]}"' != self.row}

    def vectors(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return the columns of vectors among these, with a name for each number of theirs."""
        return {name: self._with_row_numbers(name) for name in names if is_vector(self.named[name])}

    def _with_row_numbers(self, name: str) -> list[str]:
        width = re.search(r"\d+", self.named[name].partition("[")[2])
        if width is not None:
            n = int(width[0])
        else:
            lengths = self.rows(f"len({quote_name(name)})", where=f"{quote_name(name)} IS NOT NULL")
            n = lengths[0][0] if lengths else 0
        return [f"{name}[{j}]" for j in range(n)]

    def _check_divided(self, path: str) -> None:
        """Refuse a CSV file in which no separator was found."""
        (name,) = self.columns
        if path.lower().endswith(CSV) and re.search(r"[,;|\t]", name):
            self.close()
            raise ValueError(
                f"{path!r} cannot be divided into columns. Do all lines have as many fields as the "
                f"first, {name!r}?"
            )

    def _define_path(self, path: str) -> None:
        if is_remote(path):
            self._refuse_encoding(without_secrets(path))
            self._connection.register("source", remote_dataset(path))
            return
        if path.lower().endswith(DATABASE):
            self._refuse_encoding(path)
            self._attach(path)
            return
        files = [not_home(name) for name in find_files(path)]
        kind = kind_of(files[0])
        if kind not in (CSV, JSON_LINES):
            self._refuse_encoding(path)
        elif self.reading.encoding != UTF8:
            files = recode(files, self.reading.encoding, self._spill)
        if kind is CSV:
            files = files_with_rows(files)
        if kind is ARROW:
            # Arrow's datasets load pandas, which no other source needs.
            from pyarrow.dataset import dataset

            self._connection.register("source", dataset(files, format="ipc"))
            return
        self._files += files
        self._define_files(files, kind)

    def _refuse_encoding(self, got: str) -> None:
        if self.reading.encoding != UTF8:
            raise InputError("encoding", "is for CSV files and JSON lines", got=got)

    def _define_files(self, files: list[str], kind: tuple[str, ...]) -> None:
        names = ", ".join(quote_text(without_patterns(name)) for name in files)
        # A folder named x=5 is a name, not a column that takes the place of x.
        reading = f"([{names}], hive_partitioning = false"
        if kind is CSV:
            self._sniffed = files[0]
            reading = f"read_csv{reading}, decimal_separator = {quote_text(self.reading.decimal)}"
        elif kind is JSON_LINES:
            reading = f"read_json{reading}, format = 'newline_delimited'"
        else:
            reading = f"read_parquet{reading}"
        view = "CREATE OR REPLACE TEMP VIEW source AS SELECT * FROM"
        self._connection.execute(f"{view} {reading})")
        if self._text_column is None or kind not in (CSV, JSON_LINES):
            return
        found = self._connection.execute("DESCRIBE source").fetchall()
        kinds = {str(row[0]): str(row[1]) for row in found}
        if self._text_column not in kinds:
            return
        named = {self._text_column: TEXT} if kind is CSV else kinds | {self._text_column: TEXT}
        listed = ", ".join(f"{quote_text(n)}: {quote_text(t)}" for n, t in named.items())
        argument = "types" if kind is CSV else "columns"
        self._connection.execute(f"{view} {reading}, {argument} = {{{listed}}})")

    def _attach(self, path: str) -> None:
        if not Path(path).is_file():
            raise FileNotFoundError(f"there is no file {path!r}.")
        self._connection.execute(
            f"ATTACH {quote_text(not_home(path))} AS input (READ_ONLY, TYPE duckdb)"
        )
        self._connection.execute("USE input")
        if self.reading.sql is not None:
            return
        names = self._connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'input'"
        ).fetchall()
        if len(names) != 1:
            listed = ", ".join(repr(name) for (name,) in names) or "(none)"
            hint = "Read one with {sql='SELECT * FROM ...'}."
            raise InputError("", "{!r} holds the tables {}", path, listed, hint=hint)
        table = f"input.{quote_name(names[0][0])}"
        self._connection.execute(f"CREATE TEMP VIEW source AS SELECT * FROM {table}")


def _paths(field: pa.Field) -> Iterator[tuple[str, ...]]:
    yield (field.name,)
    if pa.types.is_struct(field.type):
        for inner in field.type:
            yield from ((field.name, *rest) for rest in _paths(inner))
