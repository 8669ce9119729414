"""Streams whose truth is known."""

from dynmeans.datasets.dependent_dirichlet import dependent_dirichlet
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.records.stream import LabeledStream

__all__ = ["LabeledStream", "dependent_dirichlet", "moving_gaussians"]
