"""What a run says of single rows: the cluster of new ones, and how clearly each has its own."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from dynmeans.engine.batch import make_rows
from dynmeans.follow.predict import predict
from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.windows import Windows
from dynmeans.runs.run import Run
from dynmeans.runs.texts import table_of, vectors_of
from dynmeans.spaces.space import Space

_MAX_NUMBERS = 2**22  # of distances held at once


def predict_rows(run: Run, rows: Any, vector: str | None) -> IntArray:
    """Return the cluster that each new row would join now, -1 for none; nothing is changed.

    `vector` is the column of vectors that the run clusters, if it clusters one.
    """
    memory, features = run.memory, list(run.config.features)
    if memory is None:
        raise InputError(
            "", "the run has no windows yet", hint="Wait until the first is committed."
        )
    text = run.config.source.get("text")
    if text is not None:
        texts = rows[text] if hasattr(rows, "columns") else rows
        points: Any = table_of(run.store, run.config.source).map(list(texts))
    elif not hasattr(rows, "columns"):
        points = rows
    elif vector is not None:
        points = np.stack([np.asarray(one) for one in rows[vector]])
    else:
        points = np.column_stack([np.asarray(rows[name]) for name in features])
    checked = make_rows(np.asarray(points), len(features))
    found, _ = predict(run.config.model_config, memory, checked)
    return run.edits.resolve_ids(np.asarray(found, dtype=np.int64))


def confidences(run: Run, job: ClusterJob) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield, window by window, the numbers of the rows and how clearly each is in its cluster.

    1 less the distance to the own center over that to the nearest center of another cluster which
    the window holds; 0 for noise, and where another is nearer. Of a cluster with subclusters the
    nearest of their centers counts.
    """
    as_vectors, shown = vectors_of(run.config.source), run.edits.resolve_ids
    memory = run.memory
    assert memory is not None, "a run without a window raises before"
    with Source(
        job.input.rows, reading=job.input.reading, text_column=job.windows.text_column
    ) as source:
        windows = map(as_vectors, Windows(source, job.windows))
        for record, window in zip(run.history(), windows, strict=False):
            if len(record.labels) != window.n_points:
                raise InputError("frame", "must have the rows that were clustered")
            numbers = window.row_ids if window.rows is None else window.rows
            yield (
                np.asarray(numbers),
                _confidence(
                    window.points,
                    record.centers,
                    shown(record.ids),
                    shown(record.labels),
                    memory.space_or_raw,
                ),
            )


def _confidence(
    rows: BatchArray, centers: FloatArray, owners: IntArray, labels: IntArray, space: Space
) -> FloatArray:
    """Return 1 - own distance / next distance of each row, between 0 and 1."""
    known = owners >= 0
    centers, owners = space.to_points(centers[known]), owners[known]
    found = np.zeros(len(rows))
    step = max(1, _MAX_NUMBERS // max(len(owners), 1))
    for begin in range(0, len(rows) if len(owners) else 0, step):
        part = slice(begin, begin + step)
        squares = cdist(space.to_points(rows[part]).astype(np.float64), centers, "sqeuclidean")
        is_own = owners[None, :] == labels[part, None]
        own = np.where(is_own, squares, np.inf).min(axis=1)
        other = np.where(is_own, np.inf, squares).min(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(own < other, 1.0 - np.sqrt(own / other), 0.0)
        found[part] = np.where(np.isfinite(own), share, 0.0)
    return found
