"""The last pass: label every row of a source, out of core."""

import importlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import checked_coordinates
from dynmeans.engine.threads import choose_n_threads
from dynmeans.files.whole_file import whole_file
from dynmeans.inputs.numbers import checked_count
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.scale.anytime.array_source import ArraySource
from dynmeans.scale.anytime.result import AnytimeResult
from dynmeans.scale.anytime.sources import open_source

_CHUNK_ROWS = 1 << 18

Progress = Callable[[float, float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Labeling:
    """Every row labeled.

    Attributes
    ----------
    labels : array
        Cluster of each row, -1 where all are farther than lambda: an array or a memory map of the
        file; for a Parquet source the paths of the files written.
    counts : IntArray of shape (n_clusters,)
        Rows of each cluster.
    n_unlabeled : int
        Rows of label -1.
    cost : float
        The DP-Means cost of all rows, if each row without a cluster opens its own.
    """

    labels: Any
    counts: IntArray
    n_unlabeled: int
    cost: float


class Tally:
    """Adds up counts and costs over the chunks, in their order."""

    def __init__(self, result: AnytimeResult) -> None:
        self._ids = result.memory.clusters.ids
        self._opened = result.new_penalty * result.n_clusters
        self._counts = np.zeros(result.n_clusters + 1, dtype=np.int64)
        self._cost = 0.0

    def add(self, labels: IntArray, costs: FloatArray) -> None:
        """Take in one chunk."""
        slots = np.searchsorted(self._ids, labels) + 1
        slots[labels < 0] = 0
        self._counts += np.bincount(slots, minlength=len(self._counts))
        self._cost += float(costs.sum())

    def close(self, labels: Any) -> Labeling:
        """Return the sums."""
        cost = self._cost + self._opened
        return Labeling(labels, self._counts[1:], int(self._counts[0]), cost)


def label_rows(
    source: Any,
    result: AnytimeResult,
    *,
    to: str | os.PathLike[str] | None = None,
    columns: list[str] | None = None,
    n_threads: int | None = None,
    on_progress: Progress | None = None,
) -> Labeling:
    """Label every row of a source with the clusters of a result, chunk by chunk.

    Parameters
    ----------
    source : array, path or Dask array
        As in `fit_anytime`; an iterator cannot be read twice.
    result : AnytimeResult
        The clusters.
    to : path, optional
        Where the labels go: a .npy file, or for a Parquet source a folder outside of it, which gets
        one file of one column, `cluster_id`, for each file of the source. Each file is written
        whole or not at all, and never over the source. By default labels stay in memory; a Parquet
        source needs a folder.
    columns : list of str, optional
        Columns of a Parquet source; by default all numeric ones.
    n_threads : int, optional
        By default all cores.
    on_progress : callable, optional
        Called with rows done and rows in all.

    Examples
    --------
    >>> import numpy as np
    >>> from dynmeans.scale import fit_anytime, label_rows
    >>> points = np.repeat([[0.0], [9.0]], 500, axis=0)
    >>> result = fit_anytime(points, penalties=1.0, batch_size=100, max_batches=3, random_state=0)
    >>> labeling = label_rows(points, result)
    >>> labeling.counts.tolist(), labeling.cost
    ([500, 500], 2.0)
    """
    if not isinstance(result, AnytimeResult):
        raise TypeError(f"result must be an AnytimeResult, got {type(result).__name__}.")
    opened: Any = open_source(source, columns, _CHUNK_ROWS)
    if not hasattr(opened, "read"):
        raise TypeError("source must be one that can be read again, got an iterator.")
    if opened.n_features != result.memory.n_features:
        raise ValueError(
            f"source has {opened.n_features} features, but the result was built with "
            f"{result.memory.n_features}."
        )
    n_threads = (
        choose_n_threads(1 << 30) if n_threads is None else checked_count("n_threads", n_threads)
    )
    report = on_progress or (lambda done, total: None)
    if isinstance(opened, ArraySource):
        _check_other_file(to, source)
        return _label_array(opened, result, to, n_threads, report)
    if to is None:
        raise ValueError("to must be a path for a source that is not an array, got None.")
    if hasattr(opened, "files"):
        parquet_labels = importlib.import_module("dynmeans.scale.anytime.parquet_labels")
        labeling: Labeling = parquet_labels.label_files(opened, result, Path(to), n_threads, report)
        return labeling
    chunks = (opened.read(piece) for piece in range(len(opened.sizes)))
    return _label_chunks(chunks, int(opened.sizes.sum()), result, to, n_threads, report)


def _label_array(
    source: ArraySource,
    result: AnytimeResult,
    to: str | os.PathLike[str] | None,
    n_threads: int,
    report: Progress,
) -> Labeling:
    n_rows = int(source.sizes.sum())
    chunks = (source.rows(first, first + _CHUNK_ROWS) for first in range(0, n_rows, _CHUNK_ROWS))
    return _label_chunks(chunks, n_rows, result, to, n_threads, report)


def _label_chunks(
    chunks: Iterable[BatchArray],
    n_rows: int,
    result: AnytimeResult,
    to: str | os.PathLike[str] | None,
    n_threads: int,
    report: Progress,
) -> Labeling:
    """Label one chunk after the other into an array or a file."""
    tally, found = Tally(result), labeled(chunks, result, n_threads)
    if to is None:
        labels = np.empty(n_rows, dtype=np.int64)
        for first, part in _counted(found, n_rows, tally, report):
            labels[first : first + len(part)] = part
        return tally.close(labels)
    header = {"descr": "<i8", "fortran_order": False, "shape": (n_rows,)}
    with whole_file(to) as temporary, open(temporary, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for _, part in _counted(found, n_rows, tally, report):
            file.write(part.astype("<i8", copy=False).tobytes())
    return tally.close(np.load(to, mmap_mode="r"))


def _counted(
    found: Iterable[tuple[IntArray, FloatArray]], n_rows: int, tally: Tally, report: Progress
) -> Iterator[tuple[int, IntArray]]:
    """Give the first row and the labels of each chunk; there must be as many as the source said."""
    done = 0
    for labels, costs in found:
        tally.add(labels, costs)
        yield done, labels[: n_rows - done]
        done += len(labels)
        report(done, n_rows)
    if done != n_rows:
        raise ValueError(f"source must have the {n_rows} rows it said it had, got {done}.")


def _check_other_file(to: str | os.PathLike[str] | None, source: Any) -> None:
    """Refuse to write labels over the file they are made from, whatever its name."""
    mapped = source
    while isinstance(mapped, np.ndarray) and not isinstance(mapped, np.memmap):
        mapped = mapped.base
    path = mapped.filename if isinstance(mapped, np.memmap) else mapped
    if to is None or not isinstance(path, str | os.PathLike) or not os.path.exists(to):
        return
    if os.path.exists(path) and os.path.samefile(to, path):
        raise ValueError(f"to must not be the file of the source, got {os.fspath(to)!r}.")


def labeled(
    chunks: Iterable[BatchArray], result: AnytimeResult, n_threads: int
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Label chunks in several threads, a few ahead of the one given back."""

    def label(rows: BatchArray) -> tuple[IntArray, FloatArray]:
        return result.judge(Batch(checked_coordinates(rows, "source")))

    with ThreadPoolExecutor(n_threads) as pool:
        waiting = []
        for rows in chunks:
            waiting.append(pool.submit(label, rows))
            if len(waiting) > n_threads:
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()
