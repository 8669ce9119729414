"""assign_udf: labels for the rows of a Spark frame, with the clusters of a saved memory."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql.functions import pandas_udf

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import MAX_COORDINATE
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import ModelConfig
from dynmeans.follow.predict import predict
from dynmeans.runs.run import Run


def assign_udf(memory: Any) -> Any:
    """Return a pandas UDF that labels each row without learning from it.

    A row gets -1 if it would start a new cluster, and null if a value is missing. The memory is
    sent to the executors with the function; dynmeans must be installed there.

    Parameters
    ----------
    memory : path, or Memory
        A run folder, a file written by `Memory.save`, or the memory itself.

    See Also
    --------
    foreach_batch : Cluster a stream.

    Examples
    --------
    ::

        from dynmeans.spark import assign_udf

        assign = assign_udf("run")
        frame.withColumn("cluster_id", assign("x", "y"))
    """
    return pandas_udf(assigner(memory), "long")


def assigner(memory: Any) -> Callable[..., pd.Series]:
    """Return the function that the UDF runs on the columns of some rows."""
    known = _read(memory)
    model_config = ModelConfig(space=known.space)

    def assign(*columns: pd.Series) -> pd.Series:
        if len(columns) != known.n_features:
            raise ValueError(
                f"the memory was made with {known.n_features} features, got {len(columns)} columns."
            )
        points = np.column_stack(
            [column.to_numpy(np.float64, na_value=np.nan) for column in columns]
        )
        is_whole = (np.abs(points) <= MAX_COORDINATE).all(axis=1)
        labels = pd.Series(pd.NA, index=range(len(points)), dtype="Int64")
        batch = Batch(np.ascontiguousarray(points[is_whole]))
        labels[is_whole] = predict(model_config, known, batch)[0]
        return labels

    return assign


def _read(memory: Any) -> Memory:
    if isinstance(memory, str | os.PathLike) and Path(memory).is_dir():
        with Run.open(memory) as run:
            known = run.memory
        if known is None:
            raise ValueError(
                f"the run {str(memory)!r} has no windows yet. Wait for the first commit."
            )
        return known
    if isinstance(memory, str | os.PathLike):
        return Memory.load(memory)
    if not isinstance(memory, Memory):
        raise TypeError(f"memory must be a Memory, or the path of one or of a run, got {memory!r}.")
    return memory
