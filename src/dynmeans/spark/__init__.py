"""Dynamic Means inside Spark: micro-batches into a run folder, labels for the rows of a frame."""

from dynmeans import _lazy

__all__, __getattr__, __dir__ = _lazy.public_names(__name__, __file__)
