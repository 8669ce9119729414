"""How often each true identity got each found one: what scores are made of, in little memory."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dynmeans.metrics.report import report_of_counts
from dynmeans.records.arrays import IntArray
from dynmeans.runs.export.labeled_rows import label_stream, labeled_rows
from dynmeans.runs.export.original_rows import open_rows
from dynmeans.runs.reading.columns import check_column, plain_expression
from dynmeans.runs.reading.sources.sandboxed_duckdb import source_errors
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.run import Run

_COUNT = (
    "SELECT step, true_label, cluster_id, count(*) AS n FROM dynmeans_rows "
    "WHERE true_label IS NOT NULL AND step IS NOT NULL GROUP BY ALL ORDER BY ALL"
)


class TruthCounts(NamedTuple):
    """Rows of each step, true identity and cluster; those without a true identity are left out."""

    steps: IntArray
    truth: npt.NDArray[Any]
    cluster_ids: IntArray
    counts: IntArray


def count_truth(
    run: Run, column: str, input: Any = None, *, allow_stored_sql: bool = False
) -> TruthCounts:
    """Count rows by step, true identity and cluster."""
    if run.config.source.get("truth") == column and input is None:
        return _count(label_stream(run, ["step", "true_label", "cluster_id"]))
    with open_rows(run, input, allow_stored_sql=allow_stored_sql) as source:
        check_column("truth", column, source.named)
        expression = plain_expression(column, source.named[column])
        names = "true_label", "step", "cluster_id", "distance"
        rows = labeled_rows(source, run, f"{expression} AS true_label")
        renamed = (pa.RecordBatch.from_arrays(b.columns, names=names) for b in rows)
        schema = pa.schema(list(zip(names, rows.schema.types, strict=True)))
        return _count(pa.RecordBatchReader.from_batches(schema, renamed))


def score_run(
    run: Run, column: str, input: Any = None, *, allow_stored_sql: bool = False
) -> dict[str, float]:
    """Score the identities of a run against a column of true ones; arguments of `count_truth`."""
    return report_of_counts(*count_truth(run, column, input, allow_stored_sql=allow_stored_sql))


def _count(rows: pa.RecordBatchReader) -> TruthCounts:
    with Source(rows) as source, source_errors():
        found = source.connection.sql(_COUNT).to_arrow_table()
    steps, truth, ids, counts = (column.combine_chunks() for column in found.columns)
    values = truth.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "O":
        values = values.astype(np.str_)
    return TruthCounts(steps.to_numpy(), values, ids.to_numpy(), counts.to_numpy())
