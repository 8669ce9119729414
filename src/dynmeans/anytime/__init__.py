"""Any-time clustering of data that never fits: random subset after random subset (Sec. 4.1)."""

from dynmeans import _lazy

__all__, __getattr__, __dir__ = _lazy.public_names(__name__, __file__)
