"""A batch on a Dask cluster, checked at the door: futures of chunks, their sizes and weights."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, Future, get_client

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import MAX_COORDINATE, MAX_WEIGHT, check_features, checked_weights
from dynmeans.engine.dask.chunk_facts import (
    ChunkFacts,
    describe_points,
    describe_weights,
    hold,
    to_rows,
    to_weights,
    to_wide_rows,
)
from dynmeans.engine.dask.clear_errors import speaking_clearly
from dynmeans.engine.dask_input import dask_engine
from dynmeans.engine.execution import Execution

WAYS_OUT = (
    "Start one first: from dask.distributed import Client; client = Client() uses this machine, "
    'Client("tcp://host:8786") a cluster.'
)


@dataclass(frozen=True, slots=True)
class DaskBatch:
    """Y_t in chunks that lie on workers.

    Attributes
    ----------
    client : Client
        The way to the cluster.
    chunks : list of Future
        Arrays of rows, all float64 or all float32.
    sizes : list of int
        Rows of each.
    weights : list of Future, optional
        The weight of each row.
    n_features : int
        Coordinates of a row.
    feature_names : list, optional
        Names of the columns of a data frame.
    has_weight : bool
        Whether any row takes part.
    """

    client: Client
    chunks: list[Future]
    sizes: list[int]
    weights: list[Future] | None
    n_features: int
    feature_names: list[Any] | None
    has_weight: bool

    @property
    def n_points(self) -> int:
        """Rows of the whole batch."""
        return sum(self.sizes)

    def in_memory(self, purpose: str) -> Batch:
        """Refuse: the rows stay on the cluster."""
        raise ValueError(
            f"{purpose} needs a first batch in memory. Choose on a part of the rows "
            "with suggest_penalties, and give new_penalty, max_gap and reach."
        )

    def engine(self, execution: Execution) -> Any:
        """Return the module that runs a step on a cluster."""
        return dask_engine(execution)


def take_batch(
    points: Any, sample_weight: Any, n_features: int | None, name: str = "points"
) -> DaskBatch:
    """Bring a Dask array, a Dask data frame or a list of futures to rows on the workers."""
    client = find_client(points)
    with speaking_clearly():
        return _take_batch(client, points, sample_weight, n_features, name)


def _take_batch(
    client: Client, points: Any, sample_weight: Any, n_features: int | None, name: str
) -> DaskBatch:
    raw = _futures_of(client, points, name)
    facts = client.gather([client.submit(describe_points, chunk, pure=False) for chunk in raw])
    _check_chunks(facts, name, f"be finite and at most {MAX_COORDINATE:g} in magnitude")
    n_found = facts[0].n_features
    for number, fact in enumerate(facts):
        if fact.n_features != n_found:
            raise ValueError(
                f"{name} must have as many features in every chunk, got {n_found} in chunk 0 "
                f"and {fact.n_features} in chunk {number}."
            )
    if n_features is not None:
        check_features(n_found, n_features, name)
    sizes = [fact.n_rows for fact in facts]
    weights, has_weight = _take_weights(client, sample_weight, sizes)
    is_mixed = len({fact.dtype for fact in facts}) > 1
    chunks = _converted(client, raw, facts, to_wide_rows if is_mixed else to_rows)
    names = list(points.columns) if hasattr(points, "columns") else None
    return DaskBatch(client, chunks, sizes, weights, n_found, names, has_weight)


def find_client(points: Any) -> Client:
    """Return the client that futures came from, or the one that is running."""
    if isinstance(points, list | tuple):
        return points[0].client
    try:
        return get_client(timeout=0)
    except ValueError as error:
        raise ValueError(f"a Dask batch needs a running Dask client. {WAYS_OUT}") from error


def _futures_of(client: Client, points: Any, name: str) -> list[Future]:
    if isinstance(points, list | tuple):
        return list(points)
    if hasattr(points, "npartitions") and hasattr(points, "columns"):
        _check_columns(points, name)
        return _computed(client, points.to_delayed(optimize_graph=False))
    if not isinstance(points, da.Array):
        raise TypeError(
            f"{name} must be a Dask array, a Dask data frame or a list of futures, "
            f"got {type(points).__name__}."
        )
    if points.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got shape {points.shape}.")
    if points.dtype.kind not in "fiubO":
        raise TypeError(f"{name} must be numeric, got dtype {points.dtype}.")
    whole_rows = points if points.numblocks[1] == 1 else points.rechunk({1: -1})
    return _computed(client, whole_rows.to_delayed(optimize_graph=False).ravel().tolist())


def _check_columns(frame: Any, name: str) -> None:
    bad = [
        str(column)
        for column, dtype in frame.dtypes.items()
        if getattr(dtype, "kind", "O") not in "fiub"
    ]
    if bad:
        raise TypeError(
            f"{name} must have numeric columns, got {', '.join(bad)}. "
            "Choose columns first: frame[['x', 'y']]."
        )


def _computed(client: Client, parts: Any) -> list[Future]:
    futures: list[Future] = client.compute(list(parts), optimize_graph=False)
    return futures


def _check_chunks(facts: list[ChunkFacts], name: str, rule: str) -> None:
    first_row = 0
    for number, fact in enumerate(facts):
        if fact.error is not None:
            raise type(fact.error)(f"chunk {number} of {name}: {fact.error}")
        if fact.bad_row is not None:
            raise ValueError(
                f"{name} must {rule}, got {fact.bad_value} in row {fact.bad_row} of chunk "
                f"{number} (row {first_row + fact.bad_row} of the batch)."
            )
        first_row += fact.n_rows


def _converted(
    client: Client, raw: list[Future], facts: list[ChunkFacts], convert: Callable[[Any], Any]
) -> list[Future]:
    """Convert the chunks that need it; the others stay what they are, and are not copied."""
    is_wide = convert is to_wide_rows
    return [
        chunk
        if fact.is_ready and not (is_wide and fact.dtype == "float32")
        else client.submit(convert, chunk, pure=False)
        for chunk, fact in zip(raw, facts, strict=True)
    ]


def _take_weights(
    client: Client, weights: Any, sizes: list[int]
) -> tuple[list[Future] | None, bool]:
    """Return the weights on the workers, and whether any is above 0."""
    if weights is None:
        return None, sum(sizes) > 0
    raw = _weight_futures(client, weights, sizes)
    facts = client.gather([client.submit(describe_weights, chunk, pure=False) for chunk in raw])
    _check_chunks(facts, "sample_weight", f"be at least 0 and at most {MAX_WEIGHT:g}")
    if [fact.n_rows for fact in facts] != sizes:
        raise ValueError(
            f"sample_weight must have one value for each of {sum(sizes)} points, in the same "
            f"chunks; got chunks of {[fact.n_rows for fact in facts]} for {sizes}."
        )
    has_weight = any(fact.has_weight for fact in facts)
    return _converted(client, raw, facts, to_weights), has_weight


def _weight_futures(client: Client, weights: Any, sizes: list[int]) -> list[Future]:
    if isinstance(weights, list | tuple) and weights and isinstance(weights[0], Future):
        return list(weights)
    if hasattr(weights, "to_delayed"):
        is_known = isinstance(weights, da.Array) and not np.isnan(weights.shape).any()
        if is_known and weights.ndim == 1 and weights.shape[0] == sum(sizes):
            weights = weights.rechunk((tuple(sizes),))
        return _computed(client, np.ravel(weights.to_delayed(optimize_graph=False)).tolist())
    whole = checked_weights(weights, sum(sizes))
    assert whole is not None
    parts = np.split(whole, np.cumsum(sizes)[:-1])
    return [client.submit(hold, part, pure=False) for part in parts]
