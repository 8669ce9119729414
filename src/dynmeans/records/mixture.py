"""The DDP Gaussian mixture: its parameters, and what is remembered between batches."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_number
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.cluster_rows import ClusterRows, check_cluster_arrays, freeze_arrays
from dynmeans.records.state import ClusterState

ARRAYS = ("ids", "counts", "last_counts", "centers", "variances", "ages")


@dataclass(frozen=True, slots=True, eq=False)
class MixtureParameters:
    """alpha, q, sigma, xi, phi and rho: the generative model of the batches (Sec. 3).

    Parameters
    ----------
    concentration : float, default=1.0
        alpha. Weight of the clusters that one step of time adds, in observations; above 0.
    survival : float, default=0.5
        q. Probability that a cluster lives through one step of time; between 0 and 1.
    noise_variance : float
        sigma. Variance of a point around its cluster, along each axis; above 0.
    motion_variance : float
        xi. Variance of a cluster's motion in one step of time, along each axis; above 0.
    prior_mean : float or array-like of shape (n_features,)
        phi. Where new clusters are expected; one number stands for every axis.
    prior_variance : float
        rho. Variance of new clusters around it, along each axis; above 0.
    log_concentration, log_survival : float, optional
        The logarithms of alpha and q instead of `concentration` and `survival`, which may then
        be below the smallest number above 0. Otherwise they follow from these.

    Examples
    --------
    >>> MixtureParameters(survival=0.05, noise_variance=0.0025).concentration
    1.0
    >>> MixtureParameters(survival=1.5)
    Traceback (most recent call last):
        ...
    ValueError: survival must be less than 1, got 1.5.
    """

    concentration: float = None  # type: ignore[assignment]
    survival: float = None  # type: ignore[assignment]
    noise_variance: float = 1.0
    motion_variance: float = 1.0
    prior_mean: npt.ArrayLike = 0.0
    prior_variance: float = 1.0
    log_concentration: float = None  # type: ignore[assignment]
    log_survival: float = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Check every parameter and freeze the prior mean."""
        for name in ("noise_variance", "motion_variance", "prior_variance"):
            object.__setattr__(self, name, check_number(name, getattr(self, name), above=0))
        self._tie_logarithm("concentration", 1.0)
        self._tie_logarithm("survival", 0.5)
        if self.survival >= 1:
            raise ValueError(f"survival must be less than 1, got {self.survival!r}.")
        object.__setattr__(self, "prior_mean", _check_mean(self.prior_mean))

    def _tie_logarithm(self, name: str, default: float) -> None:
        """Derive the logarithm from the parameter, or the parameter from a logarithm given."""
        value, logarithm = getattr(self, name), getattr(self, f"log_{name}")
        if logarithm is None:
            value = check_number(name, default if value is None else value, above=0)
            logarithm = math.log(value)
        else:
            logarithm = check_number(f"log_{name}", logarithm)
            derived = math.exp(min(logarithm, 700.0))
            if value is not None and not math.isclose(value, derived, rel_tol=1e-9):
                raise InputError(
                    f"log_{name}",
                    f"must be the logarithm of {{{name}}}, {value!r}, or None",
                    got=logarithm,
                )
            value = derived
        object.__setattr__(self, name, value)
        object.__setattr__(self, f"log_{name}", logarithm)

    def prior_mean_of(self, n_features: int) -> FloatArray:
        """Return phi with one value for each feature."""
        mean = np.asarray(self.prior_mean, dtype=np.float64)
        if mean.ndim and len(mean) != n_features:
            raise ValueError(
                f"prior_mean must be one number or have {n_features} values, got {len(mean)}."
            )
        return np.ascontiguousarray(np.broadcast_to(mean, (n_features,)))


@dataclass(frozen=True, slots=True, eq=False)
class MixtureState(ClusterRows):
    """Every remembered cluster, one row each, oldest identity first.

    The arrays are copied in and read-only: a state is a value.

    Attributes
    ----------
    ids : IntArray of shape (n_clusters,)
        Identity of each cluster for life; never reused.
    counts : FloatArray of shape (n_clusters,)
        c. Points it has had in all batches; expected ones after variational inference.
    centers : FloatArray of shape (n_clusters, n_features)
        Mean of its position when last seen.
    variances : FloatArray of shape (n_clusters,)
        Variance of that position, along each axis.
    ages : FloatArray of shape (n_clusters,)
        dt as the next batch will see it if it comes one step later; 1 means seen in the last.
    next_id : int
        Identity the next new cluster will get.
    n_steps : int
        Batches processed so far, empty ones included.
    time : float
        t. Steps of time so far; `n_steps` unless batches came at other intervals.
    last_counts : FloatArray of shape (n_clusters,)
        n when last seen; the counts where it is not given.

    Examples
    --------
    >>> state = MixtureState.empty(n_features=2)
    >>> state.n_clusters, state.n_features, state.next_id
    (0, 2, 0)
    """

    ids: IntArray
    counts: FloatArray
    centers: FloatArray
    variances: FloatArray
    ages: FloatArray
    next_id: int
    n_steps: int = 0
    time: float = 0.0
    last_counts: FloatArray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Copy the arrays, freeze them and check what every other part relies on."""
        if self.last_counts is None:
            object.__setattr__(self, "last_counts", self.counts)
        freeze_arrays(self, ARRAYS)
        check_cluster_arrays(self, ARRAYS)

    @classmethod
    def empty(cls, n_features: int) -> "MixtureState":
        """Nothing is remembered before the first batch."""
        none = np.empty(0)
        return cls(none.astype(np.int64), none, np.empty((0, n_features)), none, none, 0)

    def as_cluster_state(self, noise_variance: float) -> ClusterState:
        """Return the same clusters as Dynamic Means would remember them: w = sigma / variance."""
        return ClusterState(
            ids=self.ids,
            centers=self.centers,
            weights=noise_variance / self.variances,
            ages=self.ages,
            next_id=self.next_id,
            n_steps=self.n_steps,
            counts=self.last_counts,
            time=self.time,
        )


def _check_mean(value: npt.ArrayLike) -> FloatArray:
    try:
        mean = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"prior_mean must be numeric, got {value!r}.") from error
    if mean.ndim > 1:
        raise ValueError(f"prior_mean must have at most one dimension, got shape {mean.shape}.")
    mean.setflags(write=False)
    if not np.all(np.isfinite(mean)):
        raise ValueError(f"prior_mean must be finite, got {value!r}.")
    return mean
