"""Tables of a SQLite database as Parquet files, a few thousand rows at a time.

Read by Python's own module: DuckDB would need an extension. Of the database only plain tables are
read; views, which are queries that came with the file, are not.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dynmeans.runs.reading.columns import quote_name

_ROWS = 65_536


@contextmanager
def open_sqlite(path: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """Open a database to read; a damaged one is one line."""
    connection = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        yield connection
    except sqlite3.Error as error:
        raise ValueError(f"the SQLite database {str(path)!r} cannot be read: {error}.") from error
    finally:
        connection.close()


def table_names(connection: sqlite3.Connection) -> list[str]:
    """Return the plain tables, in order of their making."""
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' "
        "ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY rowid"
    )
    return [str(row[0]) for row in found]


def write_table(connection: sqlite3.Connection, name: str, target: Path) -> str:
    """Write a table in its own order; return the name of the file."""
    schema, selection = _columns_of(connection, name)
    rows = connection.execute(f"SELECT {selection} FROM {quote_name(name)}")
    with pq.ParquetWriter(target, schema, compression="zstd", compression_level=1) as writer:
        while taken := rows.fetchmany(_ROWS):
            columns = zip(*taken, strict=True)
            arrays = [
                pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return str(target)


def _columns_of(connection: sqlite3.Connection, name: str) -> tuple[pa.Schema, str]:
    """See what a column holds, which in SQLite no declaration says; mixed ones become text."""
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({quote_name(name)})")]
    kinds = ", ".join(f"group_concat(DISTINCT typeof({quote_name(n)}))" for n in names)
    found = connection.execute(f"SELECT {kinds} FROM {quote_name(name)}").fetchone()
    types = [_type_of(set((text or "").split(",")) - {"null", ""}) for text in found]
    selection = ", ".join(
        f"CAST({quote_name(n)} AS TEXT)" if kind == pa.string() else quote_name(n)
        for n, kind in zip(names, types, strict=True)
    )
    return pa.schema(list(zip(names, types, strict=True))), selection


def _type_of(kinds: set[str]) -> Any:
    if kinds == {"integer"}:
        return pa.int64()
    if kinds and kinds <= {"integer", "real"}:
        return pa.float64()
    return pa.binary() if kinds == {"blob"} else pa.string()
