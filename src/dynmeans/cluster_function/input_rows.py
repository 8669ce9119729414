"""Rows of the input of a result: some by number, one column of all, and the typical ones."""

from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.cluster_function.input_tables import VECTOR
from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.reading.columns import quote_name
from dynmeans.runs.reading.sources.source import Source

ADDED = ("row", "kind", "distance", "confidence")  # columns of examples


def read_examples(
    job: ClusterJob,
    cluster_id: int,
    n: int,
    labels: FloatArray,
    distances: FloatArray,
    confidence: FloatArray,
) -> pa.Table:
    """Return the rows most typical of a cluster, then those nearest to its border."""
    rows = np.flatnonzero(labels == cluster_id)
    if not len(rows):
        raise InputError("cluster", ": there is no row of cluster {}", cluster_id)
    order = rows[np.lexsort((distances[rows], -confidence[rows]))]
    n_typical = min(n, (len(order) + 1) // 2)
    n_border = min(n, len(order) - n_typical)
    chosen = np.concatenate([order[:n_typical], order[len(order) - n_border :][::-1]])
    table = _read_rows(job, chosen)
    kinds = ["typical"] * n_typical + ["border"] * n_border
    columns = (chosen, kinds, distances[chosen], confidence[chosen])
    for name, values in zip(ADDED, columns, strict=True):
        table = table.append_column(name, pa.array(values))
    return table


def _read_rows(job: ClusterJob, numbers: IntArray) -> pa.Table:
    """Return some rows of the input, in this order."""
    found, first = [], 0
    places = np.sort(numbers)
    with Source(job.input.rows, reading=job.input.reading) as source:
        columns = [name for name in source.columns if name not in (VECTOR, *ADDED)]
        for batch in source.batches(", ".join(map(quote_name, columns))):
            here = places[(places >= first) & (places < first + batch.num_rows)]
            found.append(pa.Table.from_batches([batch.take(pa.array(here - first))]))
            first += batch.num_rows
    return pa.concat_tables(found).take(pa.array(np.argsort(np.argsort(numbers))))


def read_column(job: ClusterJob, name: str) -> Any:
    """Return one column of all rows."""
    with Source(job.input.rows, reading=job.input.reading) as source:
        parts = [batch.column(0).to_pandas() for batch in source.batches(quote_name(name))]
    return np.concatenate(parts)
