"""Which sample of a batch is carried on to the next, and what is remembered of it."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dynmeans.mixture.model import Seen, carry_over
from dynmeans.mixture.variational import VariationalPosterior
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.mixture import MixtureParameters, MixtureState
from dynmeans.records.state import Clustering

Ranking = Callable[[IntArray], npt.ArrayLike]
CARRIES = ("best", "last")


def check_carry(carry: object) -> None:
    """Refuse anything but the two names and callables."""
    if carry not in CARRIES and not callable(carry):
        raise ValueError(f"carry must be one of {', '.join(CARRIES)} or a callable, got {carry!r}.")


def choose_sample(carry: str | Ranking, labels: IntArray, log_posteriors: FloatArray) -> int:
    """Return the row of the sample to carry: that of the highest rank, or the last.

    A function is given the most probable sample first: of equal ranks the first is carried.
    """
    if carry == "last":
        return len(labels) - 1
    if not callable(carry):
        return int(log_posteriors.argmax())
    most_probable_first = np.argsort(-log_posteriors, kind="stable")
    ranks = np.asarray(carry(labels[most_probable_first]), dtype=np.float64)
    if ranks.shape != (len(labels),) or np.isnan(ranks).any():
        raise ValueError(
            f"carry must return one number for each of {len(labels)} samples, got {ranks!r}."
        )
    return int(most_probable_first[ranks.argmax()])


def identities(labels: IntArray, state: MixtureState) -> IntArray:
    """Turn slots into identities: those remembered, then the next ones."""
    n_new = max(int(labels.max(initial=-1)) + 1 - state.n_clusters, 0)
    return np.append(state.ids, state.next_id + np.arange(n_new))[labels]


def read_posterior(q: VariationalPosterior, n_old: int) -> tuple[IntArray, Seen]:
    """Return labels and the q of every slot that is the most probable one of a point.

    New components without such points are dropped, the others numbered as they first appear.
    """
    components, first = np.unique(q.labels, return_index=True)
    is_new = components >= n_old
    by_appearance = components[is_new][np.argsort(first[is_new])]
    kept = np.append(np.arange(n_old), by_appearance)
    slots = np.zeros(len(q.variances), dtype=np.int64)
    slots[kept] = np.arange(len(kept))
    labels = slots[q.labels]
    is_seen = np.bincount(labels, minlength=len(kept)) > 0
    n = np.where(is_seen, q.responsibilities.sum(axis=0)[kept], 0.0)
    return labels, (n, q.means[kept], q.variances[kept])


def remember(
    state: MixtureState,
    labels: IntArray,
    seen: Seen,
    parameters: MixtureParameters,
    elapsed: float,
    costs: FloatArray,
) -> tuple[MixtureState, Clustering]:
    """Return the state after the batch and the batch as a `Clustering` of the last of `costs`."""
    after = carry_over(state, seen, parameters, elapsed)
    ids = identities(labels, state)
    active, counts = np.unique(ids, return_counts=True)
    clustering = Clustering(
        labels=ids,
        ids=active,
        counts=counts.astype(np.int64),
        centers=after.centers[np.searchsorted(after.ids, active)],
        cost=float(costs[-1]),
        n_iter=len(costs),
        cost_trace=costs,
    )
    return after, clustering
