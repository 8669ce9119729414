"""Many small streams at once: independent Dynamic Means for each key of a data frame."""

from dynmeans import _lazy

__all__, __getattr__, __dir__ = _lazy.public_names(__name__, __file__)
