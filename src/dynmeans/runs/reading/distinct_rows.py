"""Rows that equal an earlier one in every column, left out of a numbered table."""

from collections.abc import Iterable
from typing import Any

from dynmeans.runs.reading.columns import quote_name


def leave_duplicates_out(
    connection: Any, numbered: str, rows: str, row: str, columns: Iterable[str]
) -> int:
    """Say how many of `rows` come again, and make `numbered` a view without them.

    The first of equal rows stays, and all keep their numbers, which stand in column `row`. What
    is too much for DuckDB's memory goes to disk.
    """
    names = ", ".join(map(quote_name, columns))
    connection.execute(
        "CREATE TEMP TABLE dynmeans_firsts AS "
        f"SELECT min({row}) AS number FROM ({rows}) GROUP BY {names}"
    )
    connection.execute(
        f"CREATE TEMP TABLE dynmeans_duplicates AS SELECT {row} AS number FROM ({rows}) "
        f"WHERE {row} NOT IN (SELECT number FROM dynmeans_firsts)"
    )
    connection.execute("DROP TABLE dynmeans_firsts")
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW {numbered} AS SELECT * FROM ({rows}) "
        f"WHERE {row} NOT IN (SELECT number FROM dynmeans_duplicates)"
    )
    return int(connection.execute("SELECT count(*) FROM dynmeans_duplicates").fetchone()[0])
