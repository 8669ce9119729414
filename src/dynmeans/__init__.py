"""Find and follow clusters in data that arrives batch by batch.

The public names are listed in ``__init__.pyi`` and loaded when first used.
"""

from dynmeans import _lazy

__version__ = "0.1.0"
__all__, __getattr__, _ = _lazy.public_names(__name__, __file__)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
