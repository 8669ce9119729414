"""Centers where they are drawn: among their points."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynmeans.records.history import History
from dynmeans.runs.reading.sampling import Sample
from dynmeans.spaces.cosine import Cosine, unit_rows
from dynmeans.spaces.space import Space


def align_centers(
    history: History, samples: Sequence[Sample], space: Space
) -> tuple[History, Sequence[Sample]]:
    """Return records and kept rows so that both are drawn in one place.

    Directions have length 1 and rows any length: rows are brought to length 1, and a
    center to the length of the mean of such rows, for in many features that lies far inside.
    """
    if not isinstance(space, Cosine):
        return history, samples
    kept = [replace(one, points=unit_rows(one.points)) for one in samples]
    sums: dict[int, tuple[float, int]] = {}
    for record, sample in zip(history, kept, strict=False):
        for k, center in zip(record.ids.tolist(), record.centers, strict=True):
            along = sample.points[sample.cluster_ids == k] @ center
            before, n = sums.get(k, (0.0, 0))
            sums[k] = before + float(along.sum()), n + len(along)
    drawn = History(feature_names=history.feature_names)
    for record in history:
        lengths = [sums[k][0] / sums[k][1] if sums[k][1] else 1.0 for k in record.ids.tolist()]
        drawn.add(replace(record, centers=record.centers * np.reshape(lengths, (-1, 1))))
    return drawn, kept
