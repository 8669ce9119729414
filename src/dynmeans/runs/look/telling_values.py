"""Values and words that tell one cluster from the others: a class-based TF-IDF, in DuckDB."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dynmeans.runs.export.labeled_rows import labeled_rows
from dynmeans.runs.export.original_rows import open_rows
from dynmeans.runs.look.kept_rows import Shown
from dynmeans.runs.reading.columns import TEXT, check_column, is_integer, is_number, quote_name
from dynmeans.runs.reading.sources.locked_duckdb import source_errors
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.run import Run

N_TELLING = 5
# Text of more different values than this is taken apart into words.
_MOST_VALUES = 1_000
_WORDS = r"[\p{L}\p{N}_]{2,}"
_LONGEST = 100  # characters of a value
_FEW = 10  # terms of a cluster, of which a single one may tell it
# Frequency in a cluster, times the logarithm of how rare the term is: with A terms in a cluster on
# average and f of this one in all, log(1 + A / f). What is as frequent elsewhere tells nothing.
_SCORES = f"""
WITH of_cluster AS (SELECT cluster_id, sum(n) AS size FROM terms GROUP BY cluster_id),
     of_term AS (SELECT term, sum(n) AS f FROM terms GROUP BY term),
     total AS (
        SELECT avg(size) AS a, sum(size) AS all_terms, count(*) AS n_clusters FROM of_cluster
     ),
     scored AS (
        SELECT cluster_id, term, n / size AS share, n / size * ln(1 + a / f) AS score
        FROM terms JOIN of_cluster USING (cluster_id) JOIN of_term USING (term), total
        WHERE (n / size > 1.1 * f / all_terms OR n_clusters = 1) AND (n > 1 OR size < {_FEW})
     )
SELECT cluster_id, term, share, score FROM scored
QUALIFY row_number() OVER (PARTITION BY cluster_id ORDER BY score DESC, term) <= {N_TELLING}
ORDER BY cluster_id, score DESC, term
"""


@dataclass(frozen=True, slots=True)
class Telling:
    """What a column says about clusters."""

    are_words: bool  # Whether values were taken apart into words
    # For each cluster the most telling values or words, the share of its rows (or words) that have
    # it, and the score.
    terms: dict[int, list[tuple[str, float, float]]]

    def values_of(self, cluster_id: int) -> list[str]:
        """Return the most telling values or words of a cluster."""
        return [term for term, _, _ in self.terms.get(cluster_id, [])]


def telling_values(
    run: Run,
    column: str,
    shown: Shown,
    *,
    input: Any = None,
    trust: bool = False,
    network: bool = False,
) -> Telling:
    """Read a column of the input once, and find what is frequent in one cluster and rare elsewhere.

    Counting is done by DuckDB, on disk where it is much. `shown` turns identities into the
    clusters or families that are described.
    """
    with open_rows(run, input, trust=trust, network=network) as source:
        check_column("describe", column, source.columns)
        dtype = source.columns[column]
        rows = labeled_rows(source, run, f"{_term(column, dtype)} AS term")
        schema = pa.schema([("term", pa.string()), ("cluster_id", pa.int64())])
        stream = pa.RecordBatchReader.from_batches(schema, _shown_rows(rows, shown))
        with Source(stream) as counted, source_errors():
            return _counted(counted.connection, dtype == TEXT)


def _term(column: str, dtype: str) -> str:
    """Return SQL for a value as text: of measured numbers the first two digits."""
    name = quote_name(column)
    if is_number(dtype) and not is_integer(dtype) and dtype != "BOOLEAN":
        return f"format('{{:.2g}}', CAST({name} AS DOUBLE))"
    return name if dtype == TEXT else f"left(CAST({name} AS VARCHAR), {_LONGEST})"


def _shown_rows(rows: pa.RecordBatchReader, shown: Shown) -> Iterator[pa.RecordBatch]:
    for batch in rows:
        ids = batch.column(2)
        is_there = ids.is_valid()
        terms, known = batch.column(0).filter(is_there).cast(pa.string()), ids.filter(is_there)
        merged = pa.array(shown(known.to_numpy()))
        yield pa.RecordBatch.from_arrays([terms, merged], names=["term", "cluster_id"])


def _counted(connection: Any, is_text: bool) -> Telling:
    connection.execute(
        "CREATE TEMP TABLE terms AS SELECT cluster_id, term, count(*) AS n FROM dynmeans_rows "
        "WHERE trim(term) <> '' GROUP BY ALL"
    )
    n_values = connection.execute("SELECT count(DISTINCT term) FROM terms").fetchone()[0]
    are_words = is_text and n_values > _MOST_VALUES
    if are_words:
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE terms AS SELECT cluster_id, term, sum(n) AS n FROM "
            f"(SELECT cluster_id, n, unnest(regexp_extract_all(lower(term), '{_WORDS}')) AS term "
            "FROM terms) GROUP BY ALL"
        )
    found: dict[int, list[tuple[str, float, float]]] = {}
    for k, term, share, score in connection.execute(_SCORES).fetchall():
        found.setdefault(k, []).append((term[:_LONGEST], float(share), float(score)))
    return Telling(are_words, found)
