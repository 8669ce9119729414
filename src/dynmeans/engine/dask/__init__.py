"""One batch on a Dask cluster, with the labels of visiting its rows one by one on one machine."""

from dynmeans.engine.dask.batch import DaskBatch, prepare_batch
from dynmeans.engine.dask.predict import DaskRows
from dynmeans.engine.dask.step import step

__all__ = ["DaskBatch", "DaskRows", "prepare_batch", "step"]
