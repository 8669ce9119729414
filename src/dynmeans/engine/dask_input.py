"""Recognize batches on a Dask cluster without loading Dask."""

from typing import Any

from dynmeans.engine.execution import DEFAULT, Execution

_ROOTS = ("dask", "dask_expr")


def is_on_dask(points: object) -> bool:
    """Return whether this is a Dask collection, or a list of futures."""
    if isinstance(points, list | tuple):
        return bool(points) and all(_root(part) == "distributed" for part in points)
    return _root(points) in _ROOTS


def dask_engine(execution: Execution = DEFAULT) -> Any:
    """Load what runs a step on a cluster; the workers use the native backend."""
    if execution.backend not in ("native", "auto"):
        raise ValueError(
            f"backend must be native for a batch on a cluster, got {execution.backend!r}."
        )
    try:
        from dynmeans.engine import dask
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"a batch on a cluster needs {error.name}: pip install 'dynmeans[dask]'.",
            name=error.name,
        ) from error
    return dask


def _root(value: object) -> str:
    return type(value).__module__.partition(".")[0]
