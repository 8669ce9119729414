"""Many streams and more rows than memory: the same step at other sizes."""

from dynmeans import _lazy

__all__, __getattr__ = _lazy.public_names(__name__, __file__)


def __dir__() -> list[str]:
    return list(__all__)
