"""Tables of PostgreSQL that grow: rows are read in order of a column that rises."""

import threading
import zlib
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.streams.addresses import Address
from dynmeans.runs.streams.backoff import Backoff, Connected
from dynmeans.runs.streams.message import (
    PARTITION,
    Item,
    Message,
    RowsLostError,
    SinglePartitionStream,
)

_AT_ONCE = 2000
_INTEGERS = ("smallint", "integer", "bigint")
# Of psycopg's OperationalErrors these are no matter of waiting.
_WRONG = (
    "authentication failed", "does not exist", "no password supplied", "invalid sslmode",
    "invalid when SSL", "SSL was required", "invalid integer value", "invalid port",
    "certificate verify failed",
)  # fmt: skip
_COLUMNS = """
SELECT format_type(a.atttypid, a.atttypmod), EXISTS (
    SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique
    AND i.indnatts = 1 AND i.indkey[0] = a.attnum AND i.indpred IS NULL), c.relkind
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE a.attrelid = %s::regclass AND a.attname = %s AND NOT a.attisdropped
"""
# Transactions that have begun to write to the table, or to a partition of it.
_WRITERS = """
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND relation IN (SELECT %s::regclass UNION SELECT relid FROM pg_partition_tree(%s::regclass))
"""


def connect_postgresql(address: Address, backoff: Backoff, **options: str) -> Connected[Any]:
    """Return a connection; options that are not ours are libpq's."""
    host, port = address.host_and_port(5432)
    given = {
        "host": host,
        "port": str(port),
        "dbname": address.path,
        "user": address.user,
        "password": address.password,
        "connect_timeout": "10",
        "application_name": "dynmeans",
        **options,
    }

    def connect() -> Any:
        text = psycopg.conninfo.make_conninfo(**{n: v for n, v in given.items() if v})
        one = psycopg.connect(text, autocommit=True)
        one.execute("SET TIME ZONE 'UTC'")  # a row is the same text wherever it is read
        return one

    return Connected(connect, _is_away, lambda one: one.close(), backoff)


def _is_away(error: Exception) -> bool:
    away = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return away and not any(text in str(error) for text in _WRONG)


class PostgresqlTable(SinglePartitionStream):
    """The rows of the table at ``postgresql://host/DATABASE?table=NAME&by=COLUMN``.

    Numbers of a sequence are given before rows are committed, so a row may appear after one with
    a higher number. The highest number is read first; then those transactions are waited for
    that write to the table at that time; then rows up to that number are read, for none can be
    added to them any more.
    """

    def __init__(self, address: Address, columns: Sequence[str], stop: threading.Event) -> None:
        mine, others = address.split_options("table", "by")
        if not mine.get("table") or not mine.get("by"):
            raise InputError(
                "input",
                ": {!r} must name a table and a column of integers that rises from row to row: "
                "?table=NAME&by=COLUMN",
                str(address),
            )
        self._address, self._stop = address, stop
        self._name, self._by = mine["table"], mine["by"]
        self._columns = dict.fromkeys((self._by, *columns))
        self._connection = connect_postgresql(address, Backoff(address, stop), **others)
        self._end: int | None = None  # up to here all rows are there
        self._is_checked = False

    def poll(self, seconds: float) -> list[Message] | None:
        """Return the next rows; wait if there are none."""
        messages = self._connection.call(self._read)
        if messages:
            self._after = messages[-1].offset
        elif messages is not None:
            self._stop.wait(seconds)
        return messages

    def _read(self, connection: Any) -> list[Message]:
        if not self._is_checked:
            self._check(connection)
        after = None if self._after is None else self._after[0]
        if self._end is None or (after is not None and after >= self._end):
            self._end = self._last_settled_position(connection, after)
        if self._end is None:
            return []
        rows = self._rows_of(connection, after, self._end)
        if not rows:
            self._end = None
        return [
            Message(PARTITION, [number, zlib.crc32(text.encode())], number, text)
            for number, text in rows
        ]

    def _rows_of(self, connection: Any, after: int | None, end: int) -> list[tuple[int, str]]:
        """Return the first rows after a number, each with its text."""
        table, by = sql.Identifier(*self._name.split(".")), sql.Identifier(self._by)
        query = sql.SQL(
            "SELECT {by}, row_to_json(r)::text FROM (SELECT {columns} FROM {table} "
            "WHERE {by} <= %s AND ({by} > %s OR %s) ORDER BY {by} LIMIT {limit}) r"
        ).format(
            by=by,
            table=table,
            columns=sql.SQL(", ").join(map(sql.Identifier, self._columns)),
            limit=sql.Literal(_AT_ONCE),
        )
        found: list[tuple[int, str]] = connection.execute(
            query, (end, after or 0, after is None)
        ).fetchall()
        return found

    def _check_same_rows(self, connection: Any, after: int, end: int) -> None:
        """Refuse a table that ends before what was read, or has another row there."""
        there = self._rows_of(connection, after - 1, after)
        read = [] if self._after is None else self._after[1:]
        is_other = bool(there) and [zlib.crc32(text.encode()) for _, text in there] != read
        if end < after or is_other:
            what = f"it ends at {end}" if end < after else f"its row {after} is another one"
            raise RowsLostError(str(self._address), f"{what}, and row {after} was read before")

    def _last_settled_position(self, connection: Any, after: int | None) -> int | None:
        """Return the highest number, once all who could still add a lower one are done."""
        table, by = sql.Identifier(*self._name.split(".")), sql.Identifier(self._by)
        highest = sql.SQL("SELECT max({by}) FROM {table}").format(by=by, table=table)
        (end,) = connection.execute(highest).fetchone()
        if end is not None and after is not None:
            self._check_same_rows(connection, after, end)
        if end is None or end == after:
            return None
        waited_for = self._writers(connection)
        while waited_for and not self._stop.wait(0.05):
            waited_for &= self._writers(connection)
        return None if waited_for else int(end)

    def _writers(self, connection: Any) -> set[str]:
        name = self._quote(connection)
        return {row[0] for row in connection.execute(_WRITERS, (name, name)).fetchall()}

    def _quote(self, connection: Any) -> str:
        return sql.Identifier(*self._name.split(".")).as_string(connection)

    def _check(self, connection: Any) -> None:
        """Refuse a column that cannot be a position."""
        try:
            found = connection.execute(_COLUMNS, (self._quote(connection), self._by)).fetchone()
        except psycopg.errors.UndefinedTable as error:
            raise InputError(
                "input", ": {!r} has no table {!r}", str(self._address), self._name
            ) from error
        if found is None:
            raise InputError("input", ": the table {!r} has no column {!r}", self._name, self._by)
        kind, is_unique, relation = found
        if relation not in ("r", "p", b"r", b"p"):
            raise InputError(
                "input", ": {!r} is not a table; a view cannot be followed", self._name
            )
        if kind not in _INTEGERS or not is_unique:
            rule = ": the column {!r} must hold integers under a unique index; it is {}{}"
            missing = "" if is_unique else ", without such an index"
            raise InputError("input", rule, self._by, kind, missing)
        self._is_checked = True

    def position_of(self, partition: str, offset: Any) -> str:
        """Name a row."""
        return f"row {offset[0]}"


class PostgresqlSink:
    """A table with one row for each item, made if it is not there: exactly once.

    Columns: run, step, number (together the primary key), and the item as jsonb.
    """

    def __init__(self, address: Address, stop: threading.Event) -> None:
        mine, others = address.split_options("table")
        if not mine.get("table"):
            raise InputError("to", ": {!r} must name a table: ?table=NAME", str(address))
        self._table = sql.Identifier(*mine["table"].split("."))
        backoff = Backoff(address, stop, is_waiting=False)
        self._connection = connect_postgresql(address, backoff, **others)

    def send(self, run: str, items: Sequence[Item]) -> bool:
        """Insert what is not there yet, in one transaction."""
        return self._connection.call(lambda one: self._insert(one, run, items)) is not None

    def _insert(self, connection: Any, run: str, items: Sequence[Item]) -> int:
        columns = "run text, step bigint, number bigint, item jsonb NOT NULL"
        make = "CREATE TABLE IF NOT EXISTS {} ({}, PRIMARY KEY (run, step, number))"
        insert = "INSERT INTO {} VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute(sql.SQL(make).format(self._table, sql.SQL(columns)))
            rows = [(run, item.step, item.number, item.body(run)) for item in items]
            cursor.executemany(sql.SQL(insert).format(self._table), rows)
        return len(rows)

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()


open_stream, open_sink = PostgresqlTable, PostgresqlSink
