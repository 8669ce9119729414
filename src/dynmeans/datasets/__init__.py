"""Streams whose truth is known."""

from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.records.stream import LabelledStream

__all__ = ["LabelledStream", "moving_gaussians"]
