"""A batch on a cluster of which all moves of sets are made: gathered, and searched in memory."""

from dataclasses import replace
from typing import Any

import dask.array as da
import numpy as np

from dynmeans.engine import native
from dynmeans.engine.batch import Batch
from dynmeans.engine.dask.batch import DaskBatch
from dynmeans.engine.dask.piece import Piece
from dynmeans.engine.execution import DEFAULT
from dynmeans.engine.orders import Orders
from dynmeans.records.arrays import FloatArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState


def step_on_client(
    batch: DaskBatch,
    state: ClusterState,
    penalties: Penalties,
    orders: Orders,
    elapsed: float,
    search: str,
) -> tuple[ClusterState, Clustering]:
    """Cluster with moves of whole sets."""
    rows = _gather(batch)
    after, clustering = native.step(rows, state, penalties, orders, elapsed, DEFAULT, search)
    labels = da.from_array(np.asarray(clustering.labels), chunks=(tuple(batch.sizes),))
    return after, replace(clustering, labels=labels, execution="dask")


def _gather(batch: DaskBatch) -> Batch:
    """Return all rows, each where it stood."""
    client = batch.client
    pieces = client.gather([client.submit(_rows_of, piece, pure=False) for piece in batch.pieces])
    dtype = np.result_type(*(points.dtype for points, _ in pieces))
    points = np.empty((batch.n_points, batch.n_features), dtype=dtype)
    weights: FloatArray | None = np.empty(batch.n_points) if batch.is_weighted else None
    for (rows, row_weights), infos in zip(pieces, batch.chunks, strict=True):
        begin = 0
        for info in infos:
            here, end = slice(info.first_row, info.first_row + info.n_rows), begin + info.n_rows
            points[here] = rows[begin:end]
            if weights is not None:
                weights[here] = row_weights[begin:end]
            begin = end
    return Batch(points, weights)


def _rows_of(piece: Piece) -> tuple[Any, Any]:
    points = np.concatenate([part.points for part in piece.parts])
    weights = [part.weights for part in piece.parts if part.weights is not None]
    return points, np.concatenate(weights) if weights else None
