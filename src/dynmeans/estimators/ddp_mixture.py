"""DDPMixture: the Bayesian model behind Dynamic Means, by three methods of inference."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from dynmeans.engine.checks import broadcast_to_batches, check_elapsed
from dynmeans.estimators.fitted_attributes import view
from dynmeans.estimators.input_checks import (
    HasLock,
    RollbackOnError,
    check_rows,
    start_over,
    until_fitted,
)
from dynmeans.estimators.named_batches import labels_in_type_of, parse_batches
from dynmeans.follow.follow import Step, labels_of
from dynmeans.follow.init_memory import draw_seed
from dynmeans.follow.model_config import check_seed
from dynmeans.inputs.fields import one_of
from dynmeans.inputs.numbers import check_count, check_number
from dynmeans.inputs.old_names import suggest_arguments
from dynmeans.mixture.carried_sample import (
    check_carry,
    choose_sample,
    identities,
    read_posterior,
    remember,
)
from dynmeans.mixture.gibbs import GibbsSamples, Progress, gibbs
from dynmeans.mixture.model import (
    BatchPrior,
    Seen,
    batch_prior,
    center_posteriors,
    log_first_densities,
)
from dynmeans.mixture.particle_learning import Particles, particle_learning
from dynmeans.mixture.variational import VariationalPosterior, variational
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.history import History
from dynmeans.records.mixture import MixtureParameters, MixtureState
from dynmeans.records.penalties import REVIVAL_RULES
from dynmeans.spaces.raw import RAW

INFERENCES = ("gibbs", "variational", "particle")
_MODEL = (
    *("concentration", "survival", "noise_variance", "motion_variance"),
    *("prior_mean", "prior_variance"),
)
_logger = logging.getLogger(__name__)


class DDPMixture(HasLock, ClusterMixin, BaseEstimator):
    """Cluster a sequence of batches by a dependent Dirichlet process mixture of Gaussians.

    This is the Bayesian model of which Dynamic Means is the small-variance limit [1]_. Clusters
    appear, move, disappear and return, and each keeps its ID. The defaults suit standardized data.

    Parameters
    ----------
    inference : {"gibbs", "variational", "particle"}, default="gibbs"
        Gibbs sampling, variational inference or particle learning.
    concentration : float, default=1.0
        alpha. Weight of new clusters, in observations; above 0. A larger value gives more clusters.
    survival : float, default=0.5
        q. Probability that a cluster survives one step; between 0 and 1. A larger value keeps
        inactive clusters longer.
    noise_variance : float, default=0.1
        sigma. Variance of the points around their cluster, along each axis. A larger value gives
        fewer, larger clusters.
    motion_variance : float, default=0.1
        xi. Variance of a cluster's motion in one step, along each axis. A larger value tracks
        faster clusters, but confuses clusters that are close to each other.
    prior_mean : float or array-like of shape (n_features,), default=0.0
        phi. Expected position of new clusters.
    prior_variance : float, default=1.0
        rho. Variance of new clusters around `prior_mean`, along each axis. It should cover the
        range of the data.
    parameters : MixtureParameters, optional
        All six as one value, instead of them.
    revival : {"exact", "paper"}, default="exact"
        Position of a remembered cluster for its first point in a batch: with its uncertainty, or
        as known exactly (Eq. 3 of [1]_ as printed). The latter is for Gibbs sampling only, and
        its samples are not from the posterior.
    n_samples, burn_in, thin : int, default=200, 100, 2
        Gibbs sampling: number of recorded samples, sweeps before the first, and sweeps per sample.
        Larger values are more accurate and take proportionally longer.
    n_particles : int, default=100
        Particle learning: number of particles. A larger value is more accurate and takes
        proportionally longer.
    truncation : int, default=20
        Variational inference: maximum number of new clusters in one batch.
    tol, max_iter : float, int, default=1e-8, 1000
        Variational inference: stop when an iteration raises the bound by at most this share of
        it, or after `max_iter` iterations.
    carried_sample : {"best", "last"} or callable, default="best"
        The sample or particle that becomes `labels_` and is carried on: the one with the highest
        posterior, the last, or the one ranked highest by a function. The function takes the
        cluster IDs of the points in all samples, of shape (n_samples, n_points), and returns a
        number for each sample. Variational inference has one posterior, and carries that.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.

    Attributes
    ----------
    labels_ : array of shape (n_points,)
        Cluster ID of every row of the last batch.
    samples_ : array of shape (n_samples, n_points)
        Cluster IDs of the rows in every recorded sample or particle; new clusters are numbered in
        each sample as they first appear. The variational labels are the only row there.
    result_ : GibbsSamples, VariationalPosterior or Particles
        Full result of the inference for the last batch, by slot.
    cluster_ids_, cluster_centers_, cluster_variances_, cluster_counts_, cluster_ages_ : arrays
        The remembered clusters, one row each.
    cost_ : float
        Minus the log posterior of `labels_` up to a constant, or minus the bound.
    n_iter_ : int
        Number of sweeps or iterations; 1 for particle learning.
    state_ : MixtureState
        Everything that is kept between batches; `state_.save(path)` writes it to a file.
    n_steps_, n_features_in_, feature_names_in_ : int, int, array
        Number of batches processed; the others as in scikit-learn.

    See Also
    --------
    DynamicMeans : The small-variance limit: deterministic, and faster by orders of magnitude.
    MixtureParameters : The six parameters of the model as one value.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    >>> from dynmeans import DDPMixture
    >>> model = DDPMixture(noise_variance=0.01, prior_variance=25.0, random_state=0)
    >>> model.partial_fit([[0.0], [0.1], [5.0]]).labels_.tolist()
    [0, 0, 1]
    >>> model.partial_fit([[5.3], [9.0], [0.3]]).labels_.tolist()
    [1, 2, 0]
    """

    state_: MixtureState = until_fitted()
    result_: GibbsSamples | VariationalPosterior | Particles = until_fitted()
    samples_: IntArray = until_fitted()
    n_iter_: int = until_fitted()
    _step: Step = until_fitted()

    @suggest_arguments()
    def __init__(
        self,
        inference: str = "gibbs",
        *,
        concentration: float = 1.0,
        survival: float = 0.5,
        noise_variance: float = 0.1,
        motion_variance: float = 0.1,
        prior_mean: Any = 0.0,
        prior_variance: float = 1.0,
        parameters: MixtureParameters | None = None,
        revival: str = "exact",
        n_samples: int = 200,
        burn_in: int = 100,
        thin: int = 2,
        n_particles: int = 100,
        truncation: int = 20,
        tol: float = 1e-8,
        max_iter: int = 1000,
        carried_sample: Any = "best",
        random_state: Any = None,
    ) -> None:
        self.inference = inference
        self.concentration = concentration
        self.survival = survival
        self.noise_variance = noise_variance
        self.motion_variance = motion_variance
        self.prior_mean = prior_mean
        self.prior_variance = prior_variance
        self.parameters = parameters
        self.revival = revival
        self.n_samples = n_samples
        self.burn_in = burn_in
        self.thin = thin
        self.n_particles = n_particles
        self.truncation = truncation
        self.tol = tol
        self.max_iter = max_iter
        self.carried_sample = carried_sample
        self.random_state = random_state

    @classmethod
    def from_state(cls, state: MixtureState, **parameters: Any) -> Self:
        """Return an estimator that continues where `state` stopped."""
        if not isinstance(state, MixtureState):
            raise TypeError(
                f"state must be a MixtureState, got {state!r}. "
                "Read one from a file with MixtureState.load(path)."
            )
        model = cls(**parameters)
        model.state_, model.n_features_in_ = state, state.n_features
        return model

    def fit(self, X: Any, y: Any = None) -> Self:
        """Reset the estimator and cluster one batch."""
        with RollbackOnError(self):
            start_over(self)
            self._take_next(X, 1.0, min_points=1)
        return self

    def partial_fit(self, X: Any, y: Any = None, *, elapsed: float = 1.0) -> Self:
        """Cluster the next batch and update the state.

        Parameters
        ----------
        X : array-like or data frame of shape (n_points, n_features)
            The batch. One of shape (0, n_features) only lets time pass.
        y : ignored
        elapsed : float
            Steps of time since the previous batch, greater than 0.
        """
        with RollbackOnError(self):
            self._take_next(X, check_elapsed(elapsed))
        return self

    def fit_sequence(
        self,
        batches: Iterable[Any],
        *,
        elapsed: Any = 1.0,
        times: Sequence[Any] | None = None,
        time_step: Any = None,
    ) -> tuple[list[Any], History]:
        """Reset the estimator and cluster a whole sequence of batches.

        Parameters are those of `DynamicMeans.fit_sequence`.

        Returns
        -------
        labels, history : list of arrays or series, History
            Identities of the rows of every batch, and the record of all of them.
        """
        given, when, elapsed = parse_batches(batches, elapsed, times, time_step)
        steps = []
        with RollbackOnError(self):
            start_over(self)
            for X, gap in zip(
                given, broadcast_to_batches("elapsed", elapsed, len(given)), strict=True
            ):
                self._take_next(X, check_elapsed(gap))
                steps.append(self._step)
        history = History(None, getattr(self, "feature_names_in_", None))
        history.extend(steps, when)
        found = zip(given, labels_of(steps), strict=True)
        return [labels_in_type_of(X, labels) for X, labels in found], history

    def predict(self, X: Any) -> IntArray:
        """Return the ID of the most probable cluster of each row, or -1 for a new cluster.

        Each row is judged separately; `labels_` were found for all rows of the batch together, and
        may differ where two clusters are about as likely.
        """
        best = self._log_densities(X).argmax(axis=1)
        return np.asarray(np.append(self.state_.ids, -1)[best])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each of `cluster_ids_`; the last column is a new cluster."""
        return np.asarray(softmax(self._log_densities(X), axis=1))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the rows, given what is remembered."""
        densities = logsumexp(self._log_densities(X), axis=1)
        prior = self._prior_now()
        total_weight = logsumexp(np.append(prior.log_weights, prior.log_new_weight))
        return float(np.mean(densities) - total_weight)

    cluster_ids_: IntArray = view("state_.ids")
    cluster_centers_: FloatArray = view("state_.centers")
    cluster_variances_: FloatArray = view("state_.variances")
    cluster_counts_: FloatArray = view("state_.counts")
    cluster_ages_: FloatArray = view("state_.ages")
    n_steps_: int = view("state_.n_steps")
    labels_: IntArray = view("_step.clustering.labels")
    cost_: float = view("_step.clustering.cost")

    def _take_next(self, X: Any, elapsed: float, *, min_points: int = 0) -> None:
        state: MixtureState | None = getattr(self, "state_", None)
        n_features = None if state is None else state.n_features
        points = check_rows(
            self, X, n_features=n_features, min_points=min_points, dtypes=np.float64
        )
        self._take_in(points, state or MixtureState.empty(points.shape[1]), elapsed)

    def _log_densities(self, X: Any) -> FloatArray:
        check_is_fitted(self, "state_")
        points = check_rows(self, X, n_features=self.state_.n_features, dtypes=np.float64)
        return log_first_densities(np.asarray(points, np.float64), self._prior_now())

    def _prior_now(self) -> BatchPrior:
        return batch_prior(self.state_, self._parameters(), elapsed=0.0)

    def _make_seed(self, n_steps: int) -> int:
        """Seed batch number `n_steps` separately, so that a restored estimator continues alike."""
        if not hasattr(self, "_entropy"):
            self._entropy = draw_seed(check_seed("random_state", self.random_state))
        sequence = np.random.SeedSequence(self._entropy, spawn_key=(n_steps,))
        return int(sequence.generate_state(1, dtype=np.uint64)[0])

    def _parameters(self) -> MixtureParameters:
        if self.parameters is not None:
            return self.parameters
        return MixtureParameters(**{name: getattr(self, name) for name in _MODEL})

    def _take_in(self, batch: BatchArray, state: MixtureState, elapsed: float) -> None:
        """Run the inference on one batch and keep its result."""
        points = batch.astype(np.float64, copy=False)
        parameters = self._parameters()
        check_carry(self.carried_sample)
        self._check_names()
        prior = batch_prior(state, parameters, elapsed, self.revival)
        labels, seen, costs = self._infer(points, prior, state)
        self.state_, clustering = remember(state, labels, seen, parameters, elapsed, costs)
        sigma = parameters.noise_variance
        before, after = (s.as_cluster_state(sigma) for s in (state, self.state_))
        self._step = Step(before, elapsed, clustering, after, RAW)

    def _check_names(self) -> None:
        one_of("revival", self.revival, REVIVAL_RULES)
        one_of("inference", self.inference, INFERENCES)
        if self.revival == "paper" and self.inference != "gibbs":
            raise ValueError(
                "revival must be 'exact' unless inference is 'gibbs': Eq. 3 as printed is a step "
                f"of Gibbs sampling, got {self.revival!r} with {self.inference!r}."
            )

    def _infer(
        self, points: FloatArray, prior: BatchPrior, state: MixtureState
    ) -> tuple[IntArray, Seen, FloatArray]:
        """Return labels by slot, the posterior of every slot, and the costs, the final one last."""
        self._run(points, prior, state.n_steps)
        if isinstance(self.result_, VariationalPosterior):
            labels, seen = read_posterior(self.result_, prior.n_old)
            self.samples_ = identities(labels, state)[None, :]
            return labels, seen, -self.result_.bounds
        self.samples_ = identities(self.result_.labels, state)
        log_posteriors = self.result_.log_posteriors
        chosen = choose_sample(self.carried_sample, self.samples_, log_posteriors)
        labels = self.result_.labels[chosen]
        return labels, center_posteriors(points, labels, prior), -log_posteriors[[chosen]]

    def _run(self, points: FloatArray, prior: BatchPrior, n_steps: int) -> None:
        """Set `result_` and `n_iter_`."""
        seed, progress = self._make_seed(n_steps), _log_progress(self.inference)
        if self.inference == "gibbs":
            self.result_ = gibbs(
                points,
                prior,
                n_samples=check_count("n_samples", self.n_samples),
                burn_in=check_count("burn_in", self.burn_in, at_least=0),
                thin=check_count("thin", self.thin),
                seed=seed,
                progress=progress,
            )
            self.n_iter_ = int(self.burn_in + self.n_samples * self.thin)
        elif self.inference == "variational":
            self.result_ = variational(
                points,
                prior,
                truncation=check_count("truncation", self.truncation),
                tol=check_number("tol", self.tol, at_least=0),
                max_iter=check_count("max_iter", self.max_iter),
                seed=seed,
                progress=progress,
            )
            self.n_iter_ = len(self.result_.bounds)
        else:
            n_particles = check_count("n_particles", self.n_particles)
            self.result_ = particle_learning(
                points, prior, n_particles=n_particles, seed=seed, progress=progress
            )
            self.n_iter_ = 1


def _log_progress(inference: str) -> Progress | None:
    """Return a function that logs the share done, or None if no one listens."""
    if not _logger.isEnabledFor(logging.INFO):
        return None
    return lambda share: _logger.info("%s: %.0f %% done", inference, 100 * share)
