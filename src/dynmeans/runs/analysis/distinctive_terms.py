"""Values and words that distinguish clusters: a class-based TF-IDF, in DuckDB."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dynmeans.runs.analysis.sampled_rows import JobCallbacks
from dynmeans.runs.edits import WORDS
from dynmeans.runs.export.labeled_rows import labeled_rows
from dynmeans.runs.export.original_rows import open_rows
from dynmeans.runs.reading.columns import TEXT, check_column, is_integer, is_number, quote_name
from dynmeans.runs.reading.sources.sandboxed_duckdb import source_errors
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.run import Run

N_TELLING, N_OF_NAME = 5, 3
_MAX_NAMES = 5_000
# Text of more different values than this is taken apart into words; and so is text of which most
# values come once, unless it is a short list.
_MAX_VALUES, _SHORT_LIST = 1_000, 50
_WORDS = r"[\p{L}\p{N}_]{2,}"
_LONGEST = 100  # characters of a value
_COLUMNS = ("term", "cluster_id", "distance")
_FEW = 10  # terms of a cluster, of which a single one may tell it
# A name must hold for the cluster: a value for more than half of its rows. No word is in half of
# the short texts of a topic; a fifth is what a page asks of the words of a cluster. A row has its
# own values, so one alone shares nothing with others.
_IN_NAME = "(n > 1 OR size = 1) AND n / size {}"
_SHARED_VALUE, _SHARED_WORD = "> 0.5", ">= 0.2"
_NAME_LENGTH = 30  # characters, as of topics
# Share of a cluster's rows, times the logarithm of how rare the term is: with A rows in a cluster
# on average and f of them with this term in all, log(1 + A / f). A term that is not at least twice
# as frequent here as elsewhere tells nothing: so stop words go, in any language.
_SCORES = f"""
WITH of_term AS (SELECT term, sum(n) AS f FROM terms GROUP BY term),
     total AS (SELECT avg(size) AS a, sum(size) AS n_rows, count(*) AS n_clusters FROM sizes),
     scored AS (
        SELECT cluster_id, term, n / size AS share, n / size * ln(1 + a / f) AS score
        FROM terms JOIN sizes USING (cluster_id) JOIN of_term USING (term), total
        WHERE (n_clusters = 1 OR n / size >= 2 * (f - n) / (n_rows - size))
          AND (n > 1 OR size < {_FEW}) AND {{condition}}
     )
SELECT cluster_id, term, share, score FROM scored
QUALIFY row_number() OVER (PARTITION BY cluster_id ORDER BY score DESC, term) <= {N_TELLING}
ORDER BY cluster_id, score DESC, term
"""


@dataclass(frozen=True, slots=True)
class DistinctiveTerms:
    """The most characteristic values of a column, for each cluster."""

    are_words: bool  # Whether values were taken apart into words
    # For each cluster the most telling values or words, the share of its rows that have it, and
    # the score.
    terms: dict[int, list[tuple[str, float, float]]]
    typical: dict[int, str]  # The text of the row nearest to the center

    def values_of(self, cluster_id: int) -> list[str]:
        """Return the most characteristic values or words of a cluster."""
        return [term for term, _, _ in self.terms.get(cluster_id, [])]


def distinctive_terms(
    run: Run,
    column: str,
    shown: JobCallbacks,
    *,
    input: Any = None,
    allow_stored_sql: bool = False,
) -> DistinctiveTerms:
    """Find what is frequent in one cluster and rare elsewhere; the column is read once."""
    with (
        open_rows(run, input, allow_stored_sql=allow_stored_sql) as source,
        _terms(source, run, column, shown) as (connection, are_words),
    ):
        return _select_terms(connection, are_words)


def name_clusters_by_terms(run: Run, column: str, source: Source) -> None:
    """Name clusters by values or words that their rows share; user names take precedence.

    A cluster whose rows share none keeps its number.
    """
    with _terms(source, run, column, lambda ids: ids) as (connection, are_words):
        shared = _IN_NAME.format(_SHARED_WORD if are_words else _SHARED_VALUE)
        found = _select_terms(connection, are_words, shared).terms
    names = {str(k): _name(terms) for k, terms in list(found.items())[:_MAX_NAMES]}
    run.lock()
    run.store.note({WORDS: names})


def _name(terms: list[tuple[str, float, float]]) -> str:
    (first, _, best), *others = terms
    name = _short(first, _NAME_LENGTH)
    for term, _, score in others[: N_OF_NAME - 1]:
        longer = f"{name}, {term}"
        if 3 * score >= best and len(longer) <= _NAME_LENGTH:
            name = longer
    return name


def _term(column: str, dtype: str) -> str:
    """Return SQL for a value as text: of measured numbers the first two digits."""
    name = quote_name(column)
    if is_number(dtype) and not is_integer(dtype) and dtype != "BOOLEAN":
        return f"format('{{:.2g}}', CAST({name} AS DOUBLE))"
    return name if dtype == TEXT else f"left(CAST({name} AS VARCHAR), {_LONGEST + 1})"


@contextmanager
def _terms(
    source: Source, run: Run, column: str, shown: JobCallbacks
) -> Iterator[tuple[Any, bool]]:
    """Make the tables texts, terms and sizes; return whether values were taken apart into words."""
    check_column("describe", column, source.named)
    dtype = source.named[column]
    rows = labeled_rows(source, run, f"{_term(column, dtype)} AS term")
    kinds = zip(_COLUMNS, (pa.string(), pa.int64(), pa.float64()), strict=True)
    stream = pa.RecordBatchReader.from_batches(pa.schema(list(kinds)), _resolve_rows(rows, shown))
    with Source(stream) as labeled, source_errors():
        connection = labeled.connection
        connection.execute(
            "CREATE TEMP TABLE texts AS SELECT cluster_id, term, count(*) AS n, "
            "min(distance) AS distance FROM dynmeans_rows WHERE trim(term) <> '' GROUP BY ALL"
        )
        numbers = "SELECT count(DISTINCT term), coalesce(sum(n), 0) FROM texts"
        n_values, n_rows = connection.execute(numbers).fetchone()
        is_free = n_values > _SHORT_LIST and 2 * n_values > n_rows
        are_words = dtype == TEXT and (n_values > _MAX_VALUES or is_free)
        words = f"list_distinct(regexp_extract_all(lower(term), '{_WORDS}'))"
        each = f"unnest({words})" if are_words else "term"
        connection.execute(
            "CREATE TEMP TABLE terms AS SELECT cluster_id, term, sum(n) AS n FROM "
            f"(SELECT cluster_id, n, {each} AS term FROM texts) GROUP BY ALL; "
            "CREATE TEMP TABLE sizes AS SELECT cluster_id, sum(n) AS size FROM texts GROUP BY ALL"
        )
        yield connection, are_words


def _resolve_rows(rows: pa.RecordBatchReader, shown: JobCallbacks) -> Iterator[pa.RecordBatch]:
    for batch in rows:
        is_there = batch.column(2).is_valid()
        terms, _, ids, away = (batch.column(j).filter(is_there) for j in range(4))
        columns = [terms.cast(pa.string()), pa.array(shown(ids.to_numpy())), away]
        yield pa.RecordBatch.from_arrays(columns, names=_COLUMNS)


def _select_terms(connection: Any, are_words: bool, condition: str = "TRUE") -> DistinctiveTerms:
    found: dict[int, list[tuple[str, float, float]]] = {}
    with source_errors():
        for k, term, share, score in connection.execute(
            _SCORES.format(condition=condition)
        ).fetchall():
            found.setdefault(k, []).append((_short(term), float(share), float(score)))
        nearest = connection.execute(
            "SELECT cluster_id, arg_min(term, (distance, term)) FROM texts GROUP BY ALL"
        )
        typical = {k: _short(term) for k, term in nearest.fetchall()} if are_words else {}
    return DistinctiveTerms(are_words, found, typical)


def _short(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
