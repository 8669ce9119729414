"""Labels of a batch on a cluster: a Dask array in the chunks of the batch."""

import pickle
import uuid
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, Future, wait

from dynmeans.engine import native
from dynmeans.engine.dask.layout import SpreadPiece
from dynmeans.engine.dask.messages import PieceInfo, Request
from dynmeans.engine.dask.pass_log import KeyArray
from dynmeans.engine.dask.worker_memory import Hand
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


def spread_labels(
    client: Client, pieces: list[SpreadPiece], sizes: list[int], message: tuple[bytes, bytes]
) -> da.Array:
    """Have every worker label its rows, and leave the labels there."""
    found: dict[int, list[Future]] = {chunk: [] for chunk in range(len(sizes))}
    for piece in pieces:
        future = client.submit(
            name_rows,
            message,
            piece.info,
            piece.points,
            piece.weights,
            piece.positions,
            pure=False,
        )
        found[piece.chunk].append(future)
    name = f"labels-{uuid.uuid4().hex}"
    chunks = [client.submit(join_labels, parts, key=(name, n)) for n, parts in found.items()]
    for chunk in wait(chunks).done:
        if chunk.status != "finished":
            chunk.result()
    # As a persisted array: the keys of its chunks are those of the futures.
    graph = {chunk.key: chunk for chunk in chunks}
    return da.Array(graph, name, (tuple(sizes),), dtype=np.int64)


def name_rows(
    message: tuple[bytes, bytes],
    info: PieceInfo,
    points: BatchArray,
    weights: FloatArray | None,
    positions: KeyArray | None,
) -> IntArray:
    """Identities of the rows of one piece.

    The request says which pass the labels follow from. Rows of weight 0 took no part, and get
    the label a prediction would give them.
    """
    request: Request = pickle.loads(message[0])
    ids, after, penalties = pickle.loads(message[1])
    hand = Hand(request, [info], [points], [weights], [positions])
    labels: IntArray = np.append(ids, -1)[hand.states[0].labels]
    if weights is not None:
        rows = slice(*info.rows)
        bystanders = weights[rows] == 0
        labels[bystanders] = _predicted(points[rows][bystanders], after, penalties)
    return labels


def join_labels(parts: list[IntArray]) -> IntArray:
    """Labels of one chunk from those of its pieces."""
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=np.int64), *parts])


def pack_names(
    request: Request, ids: IntArray, after: ClusterState, penalties: Penalties
) -> tuple[bytes, bytes]:
    """What workers need to name their rows."""
    return pickle.dumps(request), pickle.dumps((ids, after, penalties))


def _predicted(points: Any, state: ClusterState, penalties: Penalties) -> IntArray:
    rows = np.ascontiguousarray(points)
    return native.predict_labels(rows, state, penalties)[0]
