"""Many streams and more rows than memory: the same step at other sizes."""

from dynmeans import _lazy

__all__, __getattr__, __dir__ = _lazy.public_names(__name__, __file__)
