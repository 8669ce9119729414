"""RiverDynamicMeans: Dynamic Means behind the interface of river, row by row."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from river import base

from dynmeans.engine.checks import MAX_COORDINATE
from dynmeans.estimators.dynamic_means import DynamicMeans
from dynmeans.follow.defaults import defaults_of, with_defaults
from dynmeans.inputs.features import feature_numbers
from dynmeans.inputs.numbers import check_count
from dynmeans.records.arrays import FloatArray
from dynmeans.records.penalties import AUTO, Penalties

NO_CLUSTER = -1


@with_defaults("RiverDynamicMeans")
class RiverDynamicMeans(base.Clusterer):
    """Dynamic Means [1]_ with the interface of river, for rows that arrive one at a time.

    Rows are buffered; every `window_size` of them are clustered as one batch. A cluster keeps its
    ID, so an ID means the same cluster however long the stream is.

    The features are those of the first window. If a later row lacks a feature, the mean of its
    earlier values is used; features that do not occur in the first window are ignored.

    Parameters
    ----------
    window_size : int, default=100
        Number of rows of a batch. With a larger value, clusters are estimated from more rows, and
        a row waits longer for its cluster.
    penalties : Penalties, float or "auto"
        All penalties as one value, a number (`new_penalty` only), or "auto": choose them from the
        first window.
    **parameters
        All other parameters of `DynamicMeans`. {defaults}

    See Also
    --------
    DynamicMeans : The same algorithm for whole batches.
    dynmeans.cluster : The same for a table with a time column.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    >>> import random
    >>> from dynmeans import RiverDynamicMeans
    >>> rng = random.Random(0)
    >>> model = RiverDynamicMeans(window_size=40, penalties=1.0)
    >>> for number in range(120):
    ...     model.learn_one({"x": 5.0 * (number % 2) + rng.gauss(0, 0.1), "y": rng.gauss(0, 0.1)})
    >>> first, second = model.predict_one({"x": 0.1, "y": 0}), model.predict_one({"x": 5, "y": 0})
    >>> sorted([first, second]), model.predict_one({"x": 20, "y": 0})
    ([0, 1], -1)
    """

    def __init__(
        self,
        window_size: int = 100,
        penalties: Penalties | float | str = AUTO,
        **parameters: Any,
    ) -> None:
        self.window_size = window_size
        self.penalties = penalties
        self.parameters = parameters
        self._rows: list[dict[Any, float]] = []
        self._features: list[Any] = []
        self._seen: dict[Any, tuple[float, int]] = {}  # sum and number of values of each feature
        self._model: DynamicMeans | None = None
        self._make_model([])  # A name that there is not is refused now.

    @property
    def model(self) -> DynamicMeans:
        """The estimator that has processed the complete windows."""
        if self._model is None:
            raise AttributeError(
                f"model is available after the first window of {self.window_size} rows; "
                f"{len(self._rows)} came so far."
            )
        return self._model

    @property
    def centers(self) -> dict[int, dict[Any, float]]:
        """Last position of each remembered cluster, by ID and feature."""
        if self._model is None:
            return {}
        ids, places = self._model.cluster_ids_.tolist(), self._model.cluster_centers_.tolist()
        return {
            name: dict(zip(self._features, place, strict=True))
            for name, place in zip(ids, places, strict=True)
        }

    def learn_one(self, x: Mapping[Any, Any]) -> None:
        """Add a row; the last row of a window starts its clustering."""
        size = check_count("window_size", self.window_size)
        row = {name: _number(name, value) for name, value in x.items()}
        if self._features:  # others are not kept: there may be ever new ones
            row = {name: row[name] for name in self._features if name in row}
        rows, seen = [*self._rows, row], self._seen.copy()
        for name, value in row.items():
            total, n = seen.get(name, (0.0, 0))
            seen[name] = total + value, n + 1
        if len(rows) >= size:
            features = self._features or sorted({name for known in rows for name in known}, key=str)
            if not features:
                raise ValueError("x must have a feature in at least one row of the first window.")
            model = self._model or self._make_model(features)
            model.partial_fit(np.vstack([_point(known, features, seen) for known in rows]))
            self._model, self._features, rows = model, features, []
        self._rows, self._seen = rows, seen

    def predict_one(self, x: Mapping[Any, Any]) -> int:
        """Return the identity that would take the row now; -1 for none."""
        if self._model is None:
            return NO_CLUSTER
        row = {name: _number(name, value) for name, value in x.items()}
        point = _point(row, self._features, self._seen)
        return int(self._model.predict(point[None])[0])

    def _make_model(self, features: list[Any]) -> DynamicMeans:
        parameters = defaults_of("RiverDynamicMeans") | self.parameters
        if (
            features and parameters.get("moving_features") is not None
        ):  # rows of arrays have no names
            names = list(map(str, features))
            parameters["moving_features"] = feature_numbers(
                parameters["moving_features"], len(names), names
            )
        return DynamicMeans(self.penalties, **parameters)


def _point(
    row: Mapping[Any, float], features: list[Any], seen: Mapping[Any, tuple[float, int]]
) -> FloatArray:
    return np.array(
        [row[name] if name in row else seen[name][0] / seen[name][1] for name in features]
    )


def _number(name: Any, value: Any) -> float:
    # A value that a window cannot hold is refused now: later, all rows of the window would be lost.
    is_real = isinstance(value, Real)
    if not is_real or not -MAX_COORDINATE <= value <= MAX_COORDINATE:
        raise ValueError(
            f"x must hold finite numbers of at most {MAX_COORDINATE:g}, got {str(value)[:80]!r} "
            f"for {name!r}. river.preprocessing and river.compose turn other values into numbers "
            "or leave them out."
        )
    return float(value)
