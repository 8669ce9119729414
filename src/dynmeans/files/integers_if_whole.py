"""Numbers of points in tables: integers, unless rows have weights."""

from typing import Any

import numpy as np
import numpy.typing as npt


def integers_if_whole(values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Return sums of weights as integers if all are whole, as they are where rows have no weights.

    >>> integers_if_whole(np.array([3.0, 12.0])), integers_if_whole(np.array([3.0, 1.5]))
    (array([ 3, 12]), array([3. , 1.5]))
    """
    return values.astype(np.int64) if (values == np.floor(values)).all() else values
