"""The specification itself, as a backend."""

from dynmeans.algorithm.dynamic_means import step
from dynmeans.algorithm.predict_labels import predict_labels

__all__ = ["predict_labels", "step"]
