"""assign_udf: labels for the rows of a Spark frame, with the clusters of a saved state."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql.functions import pandas_udf

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import MAX_COORDINATE
from dynmeans.engine.predict import predict_labels
from dynmeans.estimators.dynamic_means import DynamicMeans
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState
from dynmeans.runs.run import Run
from dynmeans.spaces.raw import RAW
from dynmeans.spaces.space import Space


def assign_udf(state: Any, model: DynamicMeans | None = None) -> Any:
    """Return a pandas UDF that names the cluster of each row.

    Nothing is changed. A row gets -1 where a new cluster would be cheaper, and null where a value
    is missing. The state travels to the executors with the function; dynmeans must be installed
    there.

    Parameters
    ----------
    state : path, or ClusterState
        A run folder, a file written by `ClusterState.save`, or the state itself.
    model : DynamicMeans, optional
        The parameters the state was made with; a run folder knows its own.

    Examples
    --------
    ::

        from dynmeans.spark import assign_udf

        assign = assign_udf("run")
        frame.withColumn("cluster_id", assign("x", "y"))
    """
    clusters, penalties, space = _read(state, model)
    n_features = clusters.n_features

    def assign(*columns: pd.Series) -> pd.Series:
        if len(columns) != n_features:
            raise ValueError(
                f"the state was built with {n_features} features, got {len(columns)} columns."
            )
        points = np.column_stack(
            [column.to_numpy(np.float64, na_value=np.nan) for column in columns]
        )
        is_whole = (np.abs(points) <= MAX_COORDINATE).all(axis=1)
        rows = space.to_points(points[is_whole])
        labels = pd.Series(pd.NA, index=range(len(points)), dtype="Int64")
        batch = Batch(np.ascontiguousarray(rows))
        found, _ = predict_labels(batch, clusters, penalties)
        labels[is_whole] = found
        return labels

    return pandas_udf(assign, "long")


def _read(state: Any, model: DynamicMeans | None) -> tuple[ClusterState, Penalties, Space]:
    if isinstance(state, str | os.PathLike) and Path(state).is_dir():
        if model is not None:
            raise ValueError("model must not be given for a run folder, which knows its own.")
        with Run.open(state) as run:
            memory, penalties = run.memory, run.penalties
        if memory is None or penalties is None:
            raise ValueError(f"the run {str(state)!r} has no windows yet.")
        return memory.clusters, penalties, memory.known_space
    if isinstance(state, str | os.PathLike):
        state = ClusterState.load(state)
    if not isinstance(state, ClusterState):
        raise TypeError(
            f"state must be a ClusterState, or the path of one or of a run, got {state!r}."
        )
    if not isinstance(model, DynamicMeans):
        raise TypeError(
            f"model must be the DynamicMeans whose parameters made the state, got {model!r}."
        )
    return state, model._penalties(), RAW
