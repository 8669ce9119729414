"""One self-contained HTML page from a History, its points and its scores."""

from dynmeans import _lazy

__all__, __getattr__, __dir__ = _lazy.public_names(__name__, __file__)
