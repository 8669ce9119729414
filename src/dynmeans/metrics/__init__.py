"""Scores: pure functions of true and found labels, one array for each batch."""

from dynmeans import _lazy

__all__, __getattr__, __dir__ = _lazy.public_names(__name__, __file__)
