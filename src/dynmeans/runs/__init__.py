"""A long clustering as files: what is durable, and what resumes."""

from dynmeans import _lazy

__all__, __getattr__, __dir__ = _lazy.public_names(__name__, __file__)
