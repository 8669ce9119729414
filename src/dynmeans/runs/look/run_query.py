"""A query over the tables of a run, in a DuckDB that reaches nothing else."""

import tempfile
from pathlib import Path

import pyarrow as pa

from dynmeans.runs.reading.sources import locked_duckdb
from dynmeans.runs.reading.sources.source import MEMORY_LIMIT
from dynmeans.runs.run import Run


def query_run(run: Run, sql: str) -> pa.Table:
    """Answer one SELECT over `labels`, `clusters` and `events`.

    >>> from dynmeans.runs import Recipe, RunConfig, Window
    >>> config = RunConfig(("x",), Recipe(new_penalty=1.0, random_state=0))
    >>> with Run.create(tempfile.mkdtemp() + "/run", config) as run:
    ...     n = run.process(Window([[0.0], [0.1], [5.0]]))
    ...     query_run(run, "SELECT cluster_id, count(*) AS n FROM labels GROUP BY ALL").to_pylist()
    [{'cluster_id': 0, 'n': 2}, {'cluster_id': 1, 'n': 1}]
    """
    select = locked_duckdb.checked_select(sql)
    with tempfile.TemporaryDirectory(prefix="dynmeans-sql-") as spill:
        connection = locked_duckdb.connect(MEMORY_LIMIT, Path(spill))
        try:
            connection.register("clusters", run.clusters(frame="arrow"))
            connection.register("events", run.events(frame="arrow"))
            tables = list(run.label_tables())
            connection.register(
                "labels", pa.concat_tables(tables) if tables else run.labels(frame="arrow")
            )
            locked_duckdb.close_off(connection, [])
            with locked_duckdb.source_errors("the query cannot be answered"):
                found: pa.Table = connection.sql(f"SELECT * FROM ({select}\n)").to_arrow_table()
        finally:
            connection.close()
    return found
