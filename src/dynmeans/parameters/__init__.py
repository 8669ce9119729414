"""Choosing lambda, max_gap and reach: from the points alone, or with labels."""

from dynmeans import _lazy

__all__, __getattr__, __dir__ = _lazy.public_names(__name__, __file__)
