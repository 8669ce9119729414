"""One batch spread over a Dask cluster, with the labels of visiting its rows one by one."""

from dynmeans.engine.dask.spread_batch import DaskBatch, take_batch
from dynmeans.engine.dask.spread_predict import distances, predict_labels
from dynmeans.engine.dask.spread_step import step

__all__ = ["DaskBatch", "distances", "predict_labels", "step", "take_batch"]
