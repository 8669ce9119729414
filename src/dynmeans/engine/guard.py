"""Guard against a growing number of clusters: warn early, and stop at a limit.

The rule. A step that would leave more than `max_clusters` clusters remembered is refused and
changes nothing. Before a batch that could do so, 1,024 of its rows, evenly spaced, are clustered
by themselves, then twice as many, and so on, while more than half of them open a cluster
of their own: if they alone pass the limit, the batch is refused at once, before work that grows
with the square of its rows. Without a limit there is a warning when the number of remembered
clusters passes 10,000, and at every doubling, unless most of them hold more than two points of the
present batch.
"""

import math
import warnings
from typing import Any

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.execution import Execution
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.records.cluster_rows import MAX_COUNTER
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

MANY_CLUSTERS = 10_000
_PROBE_ROWS = 1024
_SMALL_N_POINTS = 2  # a cluster of more is taken for a real one
_ADVICE = (
    "{new_penalty} may be too small for the distances in the data, or {max_gap} too large to "
    "forget outliers: raise {new_penalty} or lower {max_gap}"
)


class ClusterLimitError(ValueError):
    """A batch would leave more than `max_clusters` remembered clusters; nothing was changed.

    See Also
    --------
    ClusterGrowthWarning : The warning without a limit.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> DynamicMeans(1.0, max_clusters=2).fit([[0.0], [5.0], [9.0]])
    Traceback (most recent call last):
        ...
    dynmeans.engine.guard.ClusterLimitError: ...
    """


class ClusterGrowthWarning(UserWarning):
    """The number of remembered clusters is large and still growing.

    Raised at 10,000 remembered clusters and at every doubling. Labels are valid, but time and RAM
    grow. Increase `new_penalty` or lower `max_gap`; `max_clusters` sets a limit.

    See Also
    --------
    ClusterLimitError : Raised if `max_clusters` would be exceeded.
    """


def foresee(
    batch: Any, state: ClusterState, penalties: Penalties, elapsed: float, execution: Execution
) -> None:
    """Look at a part of a large batch; refuse the whole if that part passes the limit."""
    limit = execution.max_clusters
    if limit is None or not isinstance(batch, Batch):
        return
    if state.n_clusters + batch.n_points <= limit:
        return
    n_rows = _PROBE_ROWS
    while 2 * n_rows <= batch.n_points:
        after = _probe(batch, n_rows, state, penalties, elapsed, execution)
        if after.n_clusters > limit:
            _refuse(f"{n_rows:,} of the {batch.n_points:,} rows alone", after.n_clusters, limit)
        if after.next_id - state.next_id < n_rows / 2:
            return
        n_rows *= 2


def check_growth(before: ClusterState, after: ClusterState, limit: int | None) -> None:
    """Refuse a state beyond the limit; warn of one that is large and still growing."""
    n_clusters = len(after.ids)
    if limit is not None and n_clusters > limit:
        _refuse("this batch", n_clusters, limit)
    if after.next_id > MAX_COUNTER:
        raise ValueError(
            f"next_id must be at most 2**62, got {after.next_id}: no IDs are left for new "
            "clusters. Start from an empty state."
        )
    is_many = n_clusters >= MANY_CLUSTERS
    if is_many and _doublings(n_clusters) > _doublings(before.n_clusters) and not _are_real(after):
        message = ArgumentText(
            f"{n_clusters:,} clusters are remembered, and the number is growing. {_ADVICE}; "
            "{max_clusters} sets a limit."
        )
        warnings.warn(message, ClusterGrowthWarning, stacklevel=2)


def _are_real(state: ClusterState) -> bool:
    """Return whether most clusters are active and have more than a few points."""
    return bool(np.mean((state.ages == 1.0) & (state.counts > _SMALL_N_POINTS)) > 0.5)


def _probe(
    batch: Batch,
    n_rows: int,
    state: ClusterState,
    penalties: Penalties,
    elapsed: float,
    execution: Execution,
) -> ClusterState:
    """Return what would be remembered if evenly spaced rows were all there are."""
    part = batch.take_rows(np.linspace(0, batch.n_points - 1, n_rows).astype(np.int64))
    orders = np.arange(n_rows, dtype=np.int64)[None]
    step = part.engine(execution).step
    after: ClusterState = step(part, state, penalties, orders, elapsed, execution)[0]
    return after


def _refuse(what: str, n_clusters: int, limit: int) -> None:
    raise ClusterLimitError(
        ArgumentText(
            f"{{max_clusters}}: {what} would leave {n_clusters:,} clusters remembered, more than "
            f"{limit:,}. {_ADVICE}, or raise {{max_clusters}}."
        )
    )


def _doublings(n_clusters: int) -> int:
    return math.floor(math.log2(max(n_clusters, 1) / MANY_CLUSTERS))
