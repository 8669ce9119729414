"""Dynamic Means inside Spark: micro-batches into a run folder, labels for the rows of a frame."""

from dynmeans import _lazy

__all__, __getattr__ = _lazy.public_names(__name__, __file__)


def __dir__() -> list[str]:
    return list(__all__)
