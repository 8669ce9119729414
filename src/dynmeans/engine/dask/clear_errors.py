"""What a lost cluster means for the caller."""

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from distributed.scheduler import KilledWorker


class ClusterLostError(ConnectionError):
    """The cluster went away in the middle of a step; nothing was changed."""


@contextmanager
def speaking_clearly() -> Iterator[None]:
    """Turn the many ways in which a cluster can be lost into one error."""
    try:
        yield
    except (KilledWorker, CancelledError, OSError) as error:
        # Files that a worker could not read have a number; connections that broke have none.
        if isinstance(error, ClusterLostError) or getattr(error, "errno", None) is not None:
            raise
        raise ClusterLostError(
            f"the Dask cluster was lost in the middle of a step ({_in_one_line(error)}). "
            "Nothing was changed: once the cluster is back, load the batch again and repeat the "
            "step."
        ) from error


def _in_one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
