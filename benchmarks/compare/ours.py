"""What dynmeans finds if it is given only the rows; no other file knows the default call."""

from typing import Any

import numpy as np

from dynmeans import DynamicMeans
from dynmeans.records.arrays import FloatArray, IntArray

Labels = list[IntArray]


def name_online(batches: list[FloatArray], seed: int, **given: Any) -> Labels:
    """Name every row when its batch came; no name is changed afterwards."""
    model = DynamicMeans(families=True, random_state=seed, **given)
    return [np.asarray(model.partial_fit(batch).family_labels_) for batch in batches]


def name_in_hindsight(batches: list[FloatArray], seed: int, **given: Any) -> Labels:
    """Name all rows after the last batch: what joined later has one name from its beginning."""
    model = DynamicMeans(families=True, random_state=seed, **given)
    labels, _ = model.fit_sequence(batches)
    return [np.asarray(one) for one in model.families_.map_labels(labels)]
