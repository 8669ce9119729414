"""Records to figures: one file a figure, data first, drawing second. Needs matplotlib."""

from dynmeans import _lazy

__all__, __getattr__, __dir__ = _lazy.public_names(__name__, __file__)
