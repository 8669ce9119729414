"""What follows from the state of a mixture, whatever the inference."""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.utils.validation import check_is_fitted

from dynmeans.estimators.base import StreamEstimator
from dynmeans.mixture.model import BatchPrior, batch_prior, log_first_densities
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.mixture import MixtureParameters, MixtureState


class MixtureEstimator(StreamEstimator):
    """An estimator whose fitted self is a `MixtureState`."""

    state_: MixtureState

    @abstractmethod
    def _parameters(self) -> MixtureParameters:
        """alpha, q, sigma, xi, phi and rho from the parameters, checked."""

    @property
    def cluster_variances_(self) -> FloatArray:
        """Variance of each position along each axis, when last seen."""
        return self.state_.variances

    @property
    def cluster_counts_(self) -> FloatArray:
        """Points each has had in all batches."""
        return self.state_.counts

    def predict(self, X: Any) -> IntArray:
        """Give the most probable identity of each row now, -1 where that is a new cluster.

        Each row is judged separately; `labels_` were found for all rows of the batch together, and
        may differ where two clusters are about as likely.
        """
        best = self._log_densities(X).argmax(axis=1)
        return np.asarray(np.append(self.state_.ids, -1)[best])

    def predict_proba(self, X: Any) -> FloatArray:
        """Give the probability of each of `cluster_ids_`, and in the last column of a new one."""
        return np.asarray(softmax(self._log_densities(X), axis=1))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the rows, given what is remembered."""
        densities = logsumexp(self._log_densities(X), axis=1)
        prior = self._prior_now()
        total_weight = logsumexp(np.append(prior.log_weights, prior.log_new_weight))
        return float(np.mean(densities) - total_weight)

    def _log_densities(self, X: Any) -> FloatArray:
        check_is_fitted(self, "state_")
        points = self._checked_points(X, reset=False).astype(np.float64, copy=False)
        return log_first_densities(points, self._prior_now())

    def _prior_now(self) -> BatchPrior:
        """What the model says of a point that comes together with the last batch."""
        return batch_prior(self.state_, self._parameters(), elapsed=0.0)

    def _seed(self, n_steps: int) -> int:
        """Seed batch number `n_steps` by itself, so that a restored estimator continues alike."""
        sequence = np.random.SeedSequence(self._entropy_drawn(), spawn_key=(n_steps,))
        return int(sequence.generate_state(1, dtype=np.uint64)[0])
