"""fit_groups over Dask: rows travel to the worker of their key, labels travel back."""

from collections.abc import Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
import pyarrow as pa

from dynmeans.records.arrays import IntArray
from dynmeans.records.group_states import GroupStates, Key, merge_states
from dynmeans.scale.groups.fit_groups import GroupPlan, fit_table
from dynmeans.scale.groups.frame_columns import Columns, read_keys, to_arrow
from dynmeans.scale.groups.key_seeds import seeds_of_keys

Piece = tuple[pa.Table, IntArray]  # rows of one partition that go to one worker, and their places


def fit_partitions(
    frame: Any,
    columns: Columns,
    settings: dict[str, Any],
    plan: GroupPlan,
    state: GroupStates | None,
) -> tuple[Any, GroupStates, pa.Table]:
    """Cluster every key of a Dask data frame; labels stay on the cluster, in its partitions."""
    partitions = frame[columns.named()].to_delayed()
    n_parts = len(partitions)
    split = dask.delayed(_split, pure=False, nout=n_parts)
    pieces = [split(part, i, columns, n_parts) for i, part in enumerate(partitions)]
    fit = dask.delayed(_fit_part, pure=False, nout=3)
    fitted = [
        fit([piece[j] for piece in pieces], columns, settings, plan, own)
        for j, own in enumerate(_deal(state, n_parts))
    ]
    collect = dask.delayed(_collect, pure=False)
    labels = [collect([labels[i] for labels, _, _ in fitted], pieces[i]) for i in range(n_parts)]
    labels, fitted = dask.persist(labels, [part[1:] for part in fitted])
    sizes, parts = dask.compute([dask.delayed(len)(label) for label in labels], fitted)
    chunks = [
        da.from_delayed(label, shape=(size,), dtype=np.int64)
        for label, size in zip(labels, sizes, strict=True)
    ]
    return da.concatenate(chunks), *_join([part for part in parts if part[0] is not None], columns)


def _buckets(keys: Sequence[Key], n_parts: int) -> IntArray:
    """Return the worker of each key: a checksum of the key, whatever the seed."""
    return seeds_of_keys(0, keys).astype(np.int64) % n_parts


def _split(partition: Any, number: int, columns: Columns, n_parts: int) -> list[Piece]:
    """Part the rows of one partition by the worker of their key."""
    table = to_arrow(partition, columns.named())
    if table.num_rows == 0:
        return [(table, np.empty(0, dtype=np.int64))] * n_parts
    try:
        groups, keys = read_keys(table, columns)
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error
    buckets = _buckets(keys, n_parts)[groups]
    places = [np.flatnonzero(buckets == j) for j in range(n_parts)]
    return [(table.take(pa.array(rows)), rows) for rows in places]


def _fit_part(
    pieces: list[Piece],
    columns: Columns,
    settings: dict[str, Any],
    plan: GroupPlan,
    state: GroupStates | None,
) -> tuple[list[IntArray], GroupStates | None, pa.Table | None]:
    """Cluster the keys of one worker; return their labels partition by partition."""
    tables = [table for table, _ in pieces if table.num_rows]
    if not tables:
        return [np.empty(0, dtype=np.int64)] * len(pieces), state, None
    table = pa.concat_tables(tables, promote_options="permissive")
    sizes = [len(rows) for _, rows in pieces]
    origins = np.repeat(np.arange(len(pieces)), sizes)
    rows = np.concatenate([rows for _, rows in pieces])

    def name_row(place: int) -> str:
        return f"row {rows[place]} of partition {origins[place]}"

    labels, states, batches = fit_table(table, columns, settings, plan, state, name_row)
    return np.split(labels, np.cumsum(sizes)[:-1]), states, batches


def _collect(labels: list[IntArray], pieces: list[Piece]) -> IntArray:
    """Put the labels of one partition back in the order of its rows."""
    found = np.empty(sum(map(len, labels)), dtype=np.int64)
    for part, (_, rows) in zip(labels, pieces, strict=True):
        found[rows] = part
    return found


def _deal(state: GroupStates | None, n_parts: int) -> list[GroupStates | None]:
    """Give every worker the states of its keys."""
    if state is None:
        return [None] * n_parts
    buckets = _buckets(state.sorted_keys, n_parts)
    return [state.take(np.flatnonzero(buckets == j)) for j in range(n_parts)]


def _join(
    parts: list[tuple[GroupStates, pa.Table | None]], columns: Columns
) -> tuple[GroupStates, pa.Table]:
    """Join what the workers hand back, in the order of the keys."""
    tables = [batches for _, batches in parts if batches is not None]
    if not tables:
        raise ValueError("frame must have at least one row on Dask, got none.")
    batches = pa.concat_tables(tables)
    names = columns.by if columns.batch is None else [*columns.by, columns.batch]
    # First those with rows: their settings know what the batch column holds.
    parts = sorted(parts, key=lambda part: part[1] is None)
    states = merge_states([states for states, _ in parts])
    return states, batches.sort_by([(name, "ascending") for name in names])
