"""What follows from the state of a mixture, whatever the inference."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from dynmeans.backends.batch import check_size, checked_coordinates
from dynmeans.baselines.ddp_mixture import BatchPrior, batch_prior, log_first_densities
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.mixture import MixtureParameters, MixtureState


class MixtureEstimator(ClusterMixin, BaseEstimator, ABC):
    """An estimator whose fitted self is a `MixtureState`."""

    state_: MixtureState
    random_state: Any

    @abstractmethod
    def _parameters(self) -> MixtureParameters:
        """alpha, q, sigma, xi, phi and rho from the parameters, checked."""

    @property
    def cluster_ids_(self) -> IntArray:
        """Identities of the remembered clusters."""
        return self.state_.ids

    @property
    def cluster_centers_(self) -> FloatArray:
        """Expected positions of the remembered clusters when last seen."""
        return self.state_.centers

    @property
    def cluster_variances_(self) -> FloatArray:
        """Variance of each position along each axis, when last seen."""
        return self.state_.variances

    @property
    def cluster_counts_(self) -> FloatArray:
        """Points each has had in all batches."""
        return self.state_.counts

    @property
    def cluster_ages_(self) -> FloatArray:
        """Batches since each was last seen; 1 means in the last batch."""
        return self.state_.ages

    @property
    def n_steps_(self) -> int:
        """Batches taken in so far, empty ones included."""
        return self.state_.n_steps

    def predict(self, X: Any) -> IntArray:
        """Give the most probable identity of each row now, -1 where that is a new cluster.

        Each row is judged by itself; `labels_` were found for all rows of the batch together, and
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
        return log_first_densities(self._checked_points(X, reset=False), self._prior_now())

    def _prior_now(self) -> BatchPrior:
        """What the model says of a point that comes together with the last batch."""
        return batch_prior(self.state_, self._parameters(), elapsed=0.0)

    def _checked_points(self, X: Any, *, reset: bool, min_points: int = 1) -> FloatArray:
        if hasattr(X, "shape") and len(X.shape):
            check_size("X", X.shape[0])
        points: FloatArray = validate_data(
            self, X, reset=reset, dtype=np.float64, order="C", ensure_min_samples=min_points
        )
        if not reset and points.shape[1] != self.state_.n_features:
            raise ValueError(
                f"X has {points.shape[1]} features, but the state was built with "
                f"{self.state_.n_features}. Call fit() to start over."
            )
        checked_coordinates(points, "X")
        return points

    def _start_over(self) -> None:
        self.__dict__.pop("state_", None)
        self._draw_entropy()

    def _seed(self, n_steps: int) -> int:
        """Seed batch number `n_steps` by itself, so that a restored estimator continues alike."""
        if not hasattr(self, "_entropy"):
            self._draw_entropy()
        sequence = np.random.SeedSequence(self._entropy, spawn_key=(n_steps,))
        return int(sequence.generate_state(1, dtype=np.uint64)[0])

    def _draw_entropy(self) -> None:
        random = check_random_state(self.random_state)
        self._entropy = [int(x) for x in random.randint(np.iinfo(np.int32).max, size=4)]

    @contextmanager
    def _all_or_nothing(self) -> Iterator[Self]:
        """Leave every attribute as it was if anything fails inside."""
        before = dict(self.__dict__)
        try:
            yield self
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
