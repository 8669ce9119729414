"""DDPMixture: the Bayesian model behind Dynamic Means, by three methods of inference."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from dynmeans.engine.checks import checked_elapsed, one_for_each
from dynmeans.estimators.base import HistoryKeeper
from dynmeans.estimators.mixture_estimator import MixtureEstimator
from dynmeans.estimators.named_batches import labels_like, timed_batches
from dynmeans.inputs.numbers import checked_count, checked_number
from dynmeans.mixture.carried_sample import (
    check_carry,
    choose_sample,
    identities,
    remember,
    seen_in_posterior,
)
from dynmeans.mixture.gibbs import GibbsSamples, Progress, gibbs
from dynmeans.mixture.model import BatchPrior, Seen, batch_prior, center_posteriors
from dynmeans.mixture.particle_learning import Particles, particle_learning
from dynmeans.mixture.variational import VariationalPosterior, variational
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.history import History
from dynmeans.records.mixture import MixtureParameters, MixtureState
from dynmeans.records.penalties import REVIVAL_RULES

INFERENCES = ("gibbs", "variational", "particle")
_logger = logging.getLogger(__name__)


class DDPMixture(HistoryKeeper, MixtureEstimator):
    """Dependent Dirichlet process mixture of Gaussians; every cluster keeps its identity.

    Clusters appear, move, vanish and come back. The defaults suit standardized data.

    Parameters
    ----------
    inference : {"gibbs", "variational", "particle"}, default="gibbs"
        Gibbs sampling, variational inference or particle learning.
    concentration : float, default=1.0
        alpha. Weight of new clusters, in observations; above 0.
    survival : float, default=0.5
        q. Probability that a cluster lives through one step of time; between 0 and 1.
    noise_variance : float, default=0.1
        sigma. Variance of the points around their cluster, along each axis.
    motion_variance : float, default=0.1
        xi. Variance of a cluster's motion in one step of time, along each axis.
    prior_mean : float or array-like of shape (n_features,), default=0.0
        phi. Where new clusters are expected.
    prior_variance : float, default=1.0
        rho. Variance of new clusters around `prior_mean`, along each axis.
    parameters : MixtureParameters, optional
        All six as one value in place of them, such as `low_variance_mixture` returns.
    revival : {"exact", "paper"}, default="exact"
        How the first point of an old cluster sees its position: as uncertain as it is, or known
        exactly, as Eq. 3 is printed. The latter is for Gibbs sampling alone, and its samples are
        not from the posterior.
    n_samples, burn_in, thin : int, default=200, 100, 2
        Gibbs: samples recorded, sweeps before the first, and sweeps for each.
    n_particles : int, default=100
        Particle learning: number of particles.
    truncation : int, default=20
        Variational inference: most new clusters in one batch.
    tol, max_iter : float, int, default=1e-8, 1000
        Variational inference: stop when an iteration raises the bound by at most this share of
        it, or after `max_iter` iterations.
    carry : {"best", "last"} or callable, default="best"
        The sample or particle that becomes `labels_` and is carried on: the one with the highest
        posterior, the last, or the one ranked highest by a function. The function takes the
        identities of the points in all samples, of shape (n_samples, n_points), and returns a
        number for each sample. Variational inference has one posterior, and carries that.
    keep_history : bool or int, default=False
        Whether `history_` keeps the record of all batches; a number keeps only that many of the
        last ones.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.

    Attributes
    ----------
    labels_ : array of shape (n_points,)
        Identity of every row of the last batch.
    samples_ : array of shape (n_samples, n_points)
        Identities of the rows in every recorded sample or particle; new clusters are numbered in
        each sample as they first appear. The variational labels are the only row there.
    result_ : GibbsSamples, VariationalPosterior or Particles
        All that the inference gave for the last batch, by slot.
    cluster_ids_, cluster_centers_, cluster_variances_, cluster_counts_, cluster_ages_ : arrays
        The remembered clusters, one row each.
    events_, history_ : list of Event, History
        What the last batch did to each cluster, and the record where `keep_history` asks for it.
    cost_ : float
        Minus the log posterior of `labels_` up to a constant, or minus the bound.
    n_iter_ : int
        Sweeps, iterations, or 1 pass of the particles.
    state_ : MixtureState
        All that is remembered; `state_.save(path)` writes it to a file.
    n_steps_, n_features_in_, feature_names_in_ : int, int, array
        Batches taken in so far; the others as in scikit-learn.

    Examples
    --------
    >>> from dynmeans import DDPMixture
    >>> model = DDPMixture(noise_variance=0.01, prior_variance=25.0, random_state=0)
    >>> model.partial_fit([[0.0], [0.1], [5.0]]).labels_.tolist()
    [0, 0, 1]
    >>> model.partial_fit([[5.3], [9.0], [0.3]]).labels_.tolist()
    [1, 2, 0]
    """

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
        carry: Any = "best",
        keep_history: bool | int = False,
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
        self.carry = carry
        self.keep_history = keep_history
        self.random_state = random_state

    @classmethod
    def from_state(cls, state: MixtureState, **parameters: Any) -> Self:
        """Return an estimator that continues where `state` stopped."""
        return cls._from_state(state, MixtureState, parameters)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything and take in one batch."""
        with self._all_or_nothing():
            self._start_over()
            points = self._checked_points(X, reset=True)
            self._take_in(points, MixtureState.empty(points.shape[1]), 1.0)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, *, elapsed: Any = 1.0, time: Any = None, time_step: Any = None
    ) -> Self:
        """Take in the next batch.

        Parameters
        ----------
        X : array-like or data frame of shape (n_points, n_features)
            The batch. One of shape (0, n_features) only lets time pass.
        y : ignored
        elapsed : float or timedelta
            Steps of time since the previous batch, greater than 0; or a length of time.
        time, time_step : optional
            When the batch came, and the length of one step, as of `DynamicMeans.partial_fit`.
        """
        with self._all_or_nothing():
            self._take_next(X, self._elapsed_until(elapsed, time, time_step))
        return self

    def fit_sequence(
        self,
        batches: Iterable[Any],
        *,
        elapsed: Any = 1.0,
        times: Sequence[Any] | None = None,
        time_step: Any = None,
    ) -> tuple[list[Any], History]:
        """Forget everything and take in a whole sequence of batches.

        Parameters
        ----------
        batches, elapsed, times, time_step
            As for `DynamicMeans.fit_sequence`.

        Returns
        -------
        labels, history : list of arrays or series, History
            Identities of the rows of every batch, and the record of all of them.
        """
        given, when, elapsed = timed_batches(batches, elapsed, times, time_step)
        labels, history = list[Any](), History()
        with self._all_or_nothing():
            self._start_over()
            gaps = one_for_each("elapsed", elapsed, len(given))
            for X, gap, self._last_when in zip(given, gaps, when, strict=True):
                self._take_next(X, checked_elapsed(gap))
                history = history if labels else self._new_history()
                self._append_to(history)
                labels.append(labels_like(X, self.labels_))
        return labels, history

    def _take_next(self, X: Any, elapsed: float) -> None:
        is_first = not hasattr(self, "state_")
        points = self._checked_points(X, reset=is_first, min_points=0)
        state = MixtureState.empty(points.shape[1]) if is_first else self.state_
        self._take_in(points, state, elapsed)

    def _parameters(self) -> MixtureParameters:
        if self.parameters is not None:
            return self.parameters
        return MixtureParameters(
            concentration=self.concentration,
            survival=self.survival,
            noise_variance=self.noise_variance,
            motion_variance=self.motion_variance,
            prior_mean=self.prior_mean,
            prior_variance=self.prior_variance,
        )

    def _take_in(self, batch: BatchArray, state: MixtureState, elapsed: float) -> None:
        """Run the inference on one batch and keep its result."""
        points = batch.astype(np.float64, copy=False)
        parameters = self._parameters()
        check_carry(self.carry)
        window = self._checked_window()
        self._check_revival()
        prior = batch_prior(state, parameters, elapsed, self.revival)
        labels, seen, costs = self._infer(points, prior, state)
        self.state_, clustering = remember(state, labels, seen, parameters, elapsed, costs)
        sigma = parameters.noise_variance
        before, after = (s.as_cluster_state(sigma) for s in (state, self.state_))
        self._last_step = (before, elapsed, clustering, after)
        self._record(window)
        self.labels_ = clustering.labels
        self.cost_ = clustering.cost

    def _check_revival(self) -> None:
        if self.revival not in REVIVAL_RULES:
            raise ValueError(
                f"revival must be one of {', '.join(REVIVAL_RULES)}, got {self.revival!r}."
            )
        if self.revival == "paper" and self.inference != "gibbs":
            raise ValueError(
                "revival must be 'exact' unless inference is 'gibbs': Eq. 3 as printed is a step "
                f"of Gibbs sampling, got {self.revival!r} with {self.inference!r}."
            )

    def _infer(
        self, points: FloatArray, prior: BatchPrior, state: MixtureState
    ) -> tuple[IntArray, Seen, FloatArray]:
        """Return labels by slot, what they say of every slot, and the costs, the final one last."""
        self._run(points, prior, state.n_steps)
        if isinstance(self.result_, VariationalPosterior):
            labels, seen = seen_in_posterior(self.result_, prior.n_old)
            self.samples_ = identities(labels, state)[None, :]
            return labels, seen, -self.result_.bounds
        self.samples_ = identities(self.result_.labels, state)
        log_posteriors = self.result_.log_posteriors
        chosen = choose_sample(self.carry, self.samples_, log_posteriors)
        labels = self.result_.labels[chosen]
        return labels, center_posteriors(points, labels, prior), -log_posteriors[[chosen]]

    def _run(self, points: FloatArray, prior: BatchPrior, n_steps: int) -> None:
        """Set `result_` and `n_iter_`."""
        self.result_: GibbsSamples | VariationalPosterior | Particles
        seed, progress = self._seed(n_steps), _log_progress(self.inference)
        if self.inference == "gibbs":
            self.result_ = gibbs(
                points,
                prior,
                n_samples=checked_count("n_samples", self.n_samples),
                burn_in=checked_count("burn_in", self.burn_in, at_least=0),
                thin=checked_count("thin", self.thin),
                seed=seed,
                progress=progress,
            )
            self.n_iter_ = int(self.burn_in + self.n_samples * self.thin)
        elif self.inference == "variational":
            self.result_ = variational(
                points,
                prior,
                truncation=checked_count("truncation", self.truncation),
                tol=checked_number("tol", self.tol, at_least=0),
                max_iter=checked_count("max_iter", self.max_iter),
                seed=seed,
                progress=progress,
            )
            self.n_iter_ = len(self.result_.bounds)
        elif self.inference == "particle":
            n_particles = checked_count("n_particles", self.n_particles)
            self.result_ = particle_learning(
                points, prior, n_particles=n_particles, seed=seed, progress=progress
            )
            self.n_iter_ = 1
        else:
            raise ValueError(
                f"inference must be one of {', '.join(INFERENCES)}, got {self.inference!r}."
            )


def _log_progress(inference: str) -> Progress | None:
    """Return a function that logs the share done, or None if nobody listens."""
    if not _logger.isEnabledFor(logging.INFO):
        return None
    return lambda share: _logger.info("%s: %.0f %% done", inference, 100 * share)
