"""Streams whose truth is known."""

from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.records.stream import LabeledStream

__all__ = ["LabeledStream", "moving_gaussians"]
