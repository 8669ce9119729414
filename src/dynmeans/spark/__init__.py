"""Dynamic Means inside Spark: micro-batches into a run folder, labels for the rows of a frame."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynmeans.spark.labelling import assign_udf
    from dynmeans.spark.micro_batches import foreach_batch

__all__ = ["assign_udf", "foreach_batch"]

_HOMES = {
    "assign_udf": "dynmeans.spark.labelling",
    "foreach_batch": "dynmeans.spark.micro_batches",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
