"""A batch on a Dask cluster, checked at the door: pieces on workers, each of some chunks."""

import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from distributed import Client, Future

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import MAX_COORDINATE, MAX_WEIGHT, check_features
from dynmeans.engine.dask.chunks import (
    ChunkSummary,
    describe_points,
    describe_weights,
    find_client,
    point_chunks,
    weight_chunks,
)
from dynmeans.engine.dask.piece import ChunkInfo, Piece, make_piece
from dynmeans.engine.dask.workers import (
    answer_requests,
    find_workers,
    gather_results,
    lost_cluster_errors,
    piece_key,
)
from dynmeans.engine.dask_input import dask_engine
from dynmeans.engine.execution import Execution
from dynmeans.records.arrays import FloatArray
from dynmeans.spaces.space import Space

_MAX_BYTES = 2**29  # Rows of one piece.


@dataclass(frozen=True, slots=True)
class DaskBatch:
    """Y_t in pieces that lie on workers."""

    client: Client  # The way to the cluster
    name: str  # RowBlock of the keys of the pieces
    pieces: list[Future]  # Of `Piece`, without empty chunks
    chunks: list[list[ChunkInfo]]  # What each piece is made of
    sizes: list[int]  # Rows of each chunk of the batch
    n_features: int  # Coordinates of a row
    feature_names: list[Any] | None  # Names of the columns of data frames
    # is_weighted, has_weight: whether rows have weights, and whether any is above 0.
    is_weighted: bool
    has_weight: bool
    # Largest coordinate of each feature, least and largest weight.
    magnitudes: tuple[FloatArray, float, float]

    @property
    def n_points(self) -> int:
        """Rows of the whole batch."""
        return sum(self.sizes)

    def to_numpy(self, purpose: str) -> Batch:
        """Refuse: the rows stay on the cluster."""
        raise ValueError(
            f"{purpose} needs a first batch in memory. Choose on a part of the rows "
            "with suggest_penalties, and give new_penalty, max_gap and reach."
        )

    def row_off_sphere(self) -> tuple[int, float] | None:
        """Return the first row that does not have length 1, with its length."""
        tasks = [self.client.submit(Piece.row_off_sphere, p, pure=False) for p in self.pieces]
        return min((found for found in gather_results(tasks) if found is not None), default=None)

    def engine(self, execution: Execution) -> Any:
        """Return the module that runs a step on a cluster."""
        return dask_engine(execution)

    def map_to_space(self, space: Space) -> "DaskBatch":
        """Return the batch as points of a space, mapped by the workers that hold its rows."""
        name = f"dynmeans-{uuid.uuid4().hex}"
        pieces = [
            self.client.submit(_map_piece, piece, space, key=piece_key(name, n), pure=False)
            for n, piece in enumerate(self.pieces)
        ]
        found = gather_results(
            [self.client.submit(Piece.magnitudes, p, pure=False) for p in pieces]
        )
        n_features = space.n_coordinates(self.n_features)
        farthest = _merge_chunks(found, n_features)
        if not (farthest[0] <= MAX_COORDINATE).all():
            raise ValueError(
                f"points of {space.name} space must be finite and at most {MAX_COORDINATE:g} in "
                f"magnitude, got {farthest[0].max()}."
            )
        return replace(self, name=name, pieces=pieces, n_features=n_features, magnitudes=farthest)


def prepare_batch(
    points: Any, sample_weight: Any, n_features: int | None, name: str = "points"
) -> DaskBatch:
    """Bring a Dask array, a Dask data frame or a list of futures to rows on the workers."""
    client = find_client(points)
    with lost_cluster_errors():
        chunks = point_chunks(client, points, name)
        facts = _summarize_chunks(client, describe_points, chunks)
        _check_chunks(facts, name, f"be finite and at most {MAX_COORDINATE:g} in magnitude")
        _check_columns(facts, name)
        if n_features is not None:
            check_features(facts[0].n_features, n_features, name)
        sizes = [fact.n_rows for fact in facts]
        weights, weight_facts = _take_weights(client, sample_weight, sizes)
        return _make_pieces(client, chunks, facts, weights, weight_facts)


def _groups(client: Client, futures: list[Future], weigh: list[int]) -> list[tuple[str, list[int]]]:
    """Numbers of the futures on each worker, by thread or finer; `weigh` are their bytes."""
    by_worker: dict[str, list[int]] = defaultdict(list)
    for number, worker in enumerate(find_workers(futures)):
        by_worker[worker].append(number)
    n_threads, groups = client.nthreads(), list[tuple[str, list[int]]]()
    for worker, numbers in by_worker.items():
        n_bytes = sum(weigh[number] for number in numbers)
        n_groups = max(n_threads.get(worker, 1), -(-n_bytes // _MAX_BYTES))
        portions = np.array_split(numbers, min(n_groups, len(numbers)))
        groups.extend((worker, portion.tolist()) for portion in portions)
    return groups


def _summarize_chunks(
    client: Client, describe: Callable[..., list[ChunkSummary]], chunks: list[Future]
) -> list[ChunkSummary]:
    """Have workers look at the chunks they hold, a task for each thread."""
    groups = _groups(client, chunks, [0] * len(chunks))
    found = gather_results(
        [_submit(client, worker, describe, [chunks[n] for n in group]) for worker, group in groups]
    )
    facts = {
        n: fact
        for (_, group), part in zip(groups, found, strict=True)
        for n, fact in zip(group, part, strict=True)
    }
    return [facts[n] for n in range(len(chunks))]


def _submit(client: Client, worker: str, function: Any, *arguments: Any, **options: Any) -> Future:
    """Run a function on a worker, on another one only if that is gone."""
    where = [worker] if worker else None
    return client.submit(
        function,
        *arguments,
        workers=where,
        allow_other_workers=bool(worker),
        pure=False,
        **options,
    )


def _check_chunks(facts: list[ChunkSummary], name: str, rule: str) -> None:
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


def _check_columns(facts: list[ChunkSummary], name: str) -> None:
    first = facts[0]
    for number, fact in enumerate(facts):
        if (fact.columns is None) != (first.columns is None) or (
            first.columns is not None and set(fact.columns or ()) != set(first.columns)
        ):
            raise ValueError(
                f"{name} must have the same columns in every chunk, got "
                f"{_list_chunks(first.columns)} "
                f"in chunk 0 and {_list_chunks(fact.columns)} in chunk {number}."
            )
        if fact.n_features != first.n_features:
            raise ValueError(
                f"{name} must have as many features in every chunk, got {first.n_features} in "
                f"chunk 0 and {fact.n_features} in chunk {number}."
            )
    if first.columns is not None and len(set(first.columns)) < len(first.columns):
        raise ValueError(f"{name} must have columns of different names, got {list(first.columns)}.")


def _list_chunks(columns: tuple[Any, ...] | None) -> str:
    return "an array without names" if columns is None else str(list(columns))


def _take_weights(
    client: Client, weights: Any, sizes: list[int]
) -> tuple[list[Future] | None, list[ChunkSummary]]:
    if weights is None:
        return None, []
    chunks = weight_chunks(client, weights, sizes)
    facts = _summarize_chunks(client, describe_weights, chunks)
    _check_chunks(facts, "sample_weight", f"be at least 0 and at most {MAX_WEIGHT:g}")
    if [fact.n_rows for fact in facts] != sizes:
        raise ValueError(
            f"sample_weight must have one value for each of {sum(sizes)} points, in the same "
            f"chunks; got chunks of {[fact.n_rows for fact in facts]} for {sizes}."
        )
    return chunks, facts


def _make_pieces(
    client: Client,
    chunks: list[Future],
    facts: list[ChunkSummary],
    weights: list[Future] | None,
    weight_facts: list[ChunkSummary],
) -> DaskBatch:
    """Group the chunks by the worker and thread that looks after them."""
    first_rows = list(accumulate((fact.n_rows for fact in facts), initial=0))
    numbers = [n for n, fact in enumerate(facts) if fact.n_rows]
    weigh = [8 * facts[n].n_rows * facts[n].n_features for n in numbers]
    name, pieces = f"dynmeans-{uuid.uuid4().hex}", list[Future]()
    infos: list[list[ChunkInfo]] = []
    for worker, group in _groups(client, [chunks[n] for n in numbers], weigh):
        members = [numbers[n] for n in group]
        info = [
            ChunkInfo(
                n,
                first_rows[n],
                facts[n].n_rows,
                facts[n].checksum,
                weight_facts[n].checksum if weights else None,
            )
            for n in members
        ]
        info.sort(key=lambda chunk: chunk.is_small)
        members = [chunk.number for chunk in info]
        own = [weights[n] for n in members] if weights else None
        piece = _submit(
            client,
            worker,
            _make_piece,
            info,
            [chunks[n] for n in members],
            own,
            facts[0].columns,
            key=piece_key(name, len(pieces)),
        )
        pieces.append(piece)
        infos.append(info)
    n_features, columns = facts[0].n_features, facts[0].columns
    found = gather_results([client.submit(Piece.magnitudes, piece, pure=False) for piece in pieces])
    return DaskBatch(
        client=client,
        name=name,
        pieces=pieces,
        chunks=infos,
        sizes=[fact.n_rows for fact in facts],
        n_features=n_features,
        feature_names=None if columns is None else list(columns),
        is_weighted=weights is not None,
        has_weight=any(fact.has_weight for fact in weight_facts) if weights else bool(pieces),
        magnitudes=_merge_chunks(found, n_features),
    )


def _make_piece(*arguments: Any) -> Piece:
    answer_requests()
    return make_piece(*arguments)


def _map_piece(piece: Piece, space: Space) -> Piece:
    answer_requests()
    return piece.map_to_space(space)


def _merge_chunks(
    parts: list[tuple[FloatArray, float, float]], n_features: int
) -> tuple[FloatArray, float, float]:
    farthest = np.max([part[0] for part in parts], axis=0, initial=0.0) if parts else None
    return (
        np.zeros(n_features) if farthest is None else farthest,
        min((part[1] for part in parts), default=np.inf),
        max((part[2] for part in parts), default=0.0),
    )
