r"""The DDP Gaussian mixture of one batch, given what is remembered (paper, Sec. 2 and 3).

Let c_k be the points cluster k had before, dt_k the time since it was last seen, and n_k its
points in this batch. Labels have the weight

    f(z) = prod_{old k, n_k > 0} q^dt_k c_k (c_k + 1) ... (c_k + n_k - 1)
           prod_{new k} alpha_t (n_k - 1)!                 alpha_t = alpha (1 - q^t) / (1 - q)

and given the labels, theta_k ~ N(center_k, (variance_k + xi dt_k) I) for old clusters,
theta_k ~ N(phi, rho I) for new ones, and y_i ~ N(theta_{z_i}, sigma I). The conditional of one
label given all others is the paper's: q^dt c for an old cluster without points, c + n for one
with points, alpha_t for a new one (decision 0100). f need not sum to one.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.mixture import ARRAYS, MixtureParameters, MixtureState

# A cluster is forgotten once a point where it was last seen would rather be new by these odds.
NEGLIGIBLE_ODDS = 1e-12


Seen = tuple[FloatArray, FloatArray, FloatArray]  # n, and mean and variance of theta, by slot


@dataclass(frozen=True, slots=True, eq=False)
class BatchPrior:
    """The prior of a batch, before its points are known."""

    # (n_old,); log(q^dt c). Weight of the first point of each remembered cluster.
    log_weights: FloatArray
    past_counts: FloatArray  # (n_old,); c. The n + 1-st point of a cluster has weight c + n.
    means: FloatArray  # (n_old, n_features); where each is expected
    variances: FloatArray  # (n_old,); variance of its position when last seen, plus xi dt
    log_new_weight: float  # log(alpha_t)
    # new_mean, new_variance: (n_features,); phi and rho.
    new_mean: FloatArray
    new_variance: float
    noise_variance: float  # sigma
    # (n_old,); variance of each old position as the first point of the cluster sees it;
    # `variances` by default. Gibbs sampling alone takes another one, for Eq. 3 as printed.
    first_variances: FloatArray | None = None

    @property
    def n_old(self) -> int:
        """Number of remembered clusters: slots from here on are new."""
        return len(self.log_weights)

    def arrays(self, points: FloatArray) -> Any:
        """Return the points and the fields as the compiled code takes them."""
        self._check_scale(points)
        return (
            points,
            self.log_weights,
            self.past_counts,
            self.means,
            self.variances,
            self.variances if self.first_variances is None else self.first_variances,
            self.log_new_weight,
            self.new_mean,
            self.new_variance,
            self.noise_variance,
        )

    def with_new(self, n_new: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return c, mean and variance of the remembered and `n_new` new clusters."""
        return (
            np.append(self.past_counts, np.zeros(n_new)),
            np.vstack([self.means, np.broadcast_to(self.new_mean, (n_new, len(self.new_mean)))]),
            np.append(self.variances, np.full(n_new, self.new_variance)),
        )

    def _check_scale(self, points: FloatArray) -> None:
        """Refuse what would overflow: all log densities must be finite."""
        sizes = [np.abs(a).max(initial=0.0) for a in (points, self.means, self.new_mean)]
        with np.errstate(over="ignore"):
            largest = points.shape[1] * (2 * max(sizes)) ** 2 * max(len(points), 1)
            is_finite = np.isfinite(largest / self.noise_variance)
        if not is_finite:
            raise ValueError(
                "noise_variance must be larger for points of this size: squared distances of up "
                f"to {largest:g} overflow when divided by it, got {self.noise_variance!r}."
            )


def batch_prior(
    state: MixtureState,
    parameters: MixtureParameters,
    elapsed: float = 1.0,
    revival: str = "exact",
) -> BatchPrior:
    """Return the prior of a batch that comes `elapsed` steps of time after the last one.

    With `revival="paper"` the label step takes old positions as known, as Eq. 3 is printed.
    """
    dt = state.ages - 1.0 + elapsed
    motion = parameters.motion_variance * dt
    return BatchPrior(
        log_weights=dt * parameters.log_survival + np.log(state.counts),
        past_counts=state.counts,
        means=state.centers,
        variances=state.variances + motion,
        log_new_weight=log_new_weight(parameters, state.time + elapsed),
        new_mean=parameters.prior_mean_of(state.n_features),
        new_variance=parameters.prior_variance,
        noise_variance=parameters.noise_variance,
        first_variances=motion if revival == "paper" else None,
    )


def log_new_weight(parameters: MixtureParameters, time: float) -> float:
    """log alpha_t = log(alpha (1 - q^t) / (1 - q))."""
    log_q = parameters.log_survival
    return float(
        parameters.log_concentration + np.log(-np.expm1(time * log_q)) - np.log(-np.expm1(log_q))
    )


def log_first_densities(points: FloatArray, prior: BatchPrior) -> FloatArray:
    """log(weight) + log density of each point as the first of each cluster; the last is new."""
    _, means, variances = prior.with_new(1)
    if prior.first_variances is not None:
        variances[:-1] = prior.first_variances
    log_weights = np.append(prior.log_weights, prior.log_new_weight)
    return log_weights + log_densities(points, means, prior.noise_variance + variances)


def log_densities(
    points: FloatArray, means: FloatArray, variances: FloatArray | float
) -> FloatArray:
    """log N(y | mean, variance I) for each point and each mean."""
    squares, d = cdist(points, means, "sqeuclidean"), points.shape[1]
    return np.asarray(-0.5 * (squares / variances + d * np.log(2 * np.pi * variances)))


def center_posteriors(points: FloatArray, labels: IntArray, prior: BatchPrior) -> Seen:
    """Return n, and mean and variance of theta given the labels, of every slot (Eq. 7 and 10)."""
    n_new = max(int(labels.max(initial=-1)) + 1 - prior.n_old, 0)
    _, means, variances = prior.with_new(n_new)
    n = np.bincount(labels, minlength=len(variances)).astype(np.float64)
    offsets = np.zeros_like(means)  # sum of y - mean
    np.add.at(offsets, labels, points - means[labels])
    sigma = prior.noise_variance
    shrinkage = variances / (sigma + n * variances)
    return n, means + shrinkage[:, None] * offsets, shrinkage * sigma


def carry_over(
    state: MixtureState,
    seen: Seen,
    parameters: MixtureParameters,
    elapsed: float,
) -> MixtureState:
    """Return what is remembered after a batch in which the clusters by slot were `seen`.

    Notes
    -----
    An unseen cluster is forgotten once its odds against a new one, for a point where it was last
    seen, are below `NEGLIGIBLE_ODDS` (decision 0101).
    """
    n, centers, variances = seen
    n_new = len(n) - state.n_clusters
    is_seen = n > 0
    old = slice(0, state.n_clusters)
    centers, variances = centers.copy(), variances.copy()
    centers[old] = np.where(is_seen[old, None], centers[old], state.centers)
    variances[old] = np.where(is_seen[old], variances[old], state.variances)
    ages = np.where(is_seen, 1.0, np.append(state.ages, np.zeros(n_new)) + elapsed)
    everyone = MixtureState(
        ids=np.append(state.ids, state.next_id + np.arange(n_new)),
        counts=np.append(state.counts, np.zeros(n_new)) + n,
        last_counts=np.where(is_seen, n, np.append(state.last_counts, np.zeros(n_new))),
        centers=centers,
        variances=variances,
        ages=ages,
        next_id=state.next_id + n_new,
        n_steps=state.n_steps + 1,
        time=state.time + elapsed,
    )
    return _keep_clusters(everyone, is_seen | is_worth_remembering(everyone, parameters, elapsed))


def is_worth_remembering(
    state: MixtureState, parameters: MixtureParameters, elapsed: float
) -> npt.NDArray[np.bool_]:
    """Return which clusters have more than negligible odds of being seen again.

    The next batch is taken to come at least one step later, unless this one came sooner than
    that itself; then it may come at any moment.
    """
    prior = batch_prior(state, parameters, elapsed=1.0 if elapsed >= 1.0 else 0.0)
    d = state.n_features
    spread = prior.noise_variance + prior.variances
    revived = prior.log_weights - 0.5 * d * np.log(2 * np.pi * spread)
    new_spread = prior.noise_variance + prior.new_variance
    new = prior.log_new_weight + log_densities(state.centers, prior.new_mean[None], new_spread)
    return np.asarray(revived - new[:, 0] >= np.log(NEGLIGIBLE_ODDS))


def _keep_clusters(state: MixtureState, is_kept: npt.NDArray[np.bool_]) -> MixtureState:
    kept: dict[str, Any] = {name: getattr(state, name)[is_kept] for name in ARRAYS}
    return replace(state, **kept)
