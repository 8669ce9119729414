"""What an estimator shows of its memory and its last batch, under names of scikit-learn's kind."""

from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from dynmeans.engine.device_input import to_numpy
from dynmeans.estimators.input_checks import until_fitted
from dynmeans.families.find import build_families
from dynmeans.follow.follow import Step
from dynmeans.follow.lifetimes import confirmed_by_lifetime
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import PARAMETERS, ModelConfig
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.events import Event
from dynmeans.records.families import Families
from dynmeans.records.history import History
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState
from dynmeans.spaces.space import Space


def view(path: str) -> Any:
    """Show a part of the memory or of the last step under a name of scikit-learn's kind."""
    return property(attrgetter(path))


class FittedAttributes:
    """Attributes that are read from `memory_` and the last step; parameters are the estimator's."""

    memory_: Memory = until_fitted()
    history_: History = until_fitted("history_ is available after fitting with keep_history=True.")
    _step: Step = until_fitted()
    families: bool
    n_clusters: Any

    @property
    def events_(self) -> list[Event]:
        """What the last batch did to each cluster: born, moved, vanished, returned, ...

        With `families=True` also the families that joined an older one since the last earlier
        batch whose `events_` were read.
        """
        return [*self._step.events, *self._joins()]

    @property
    def families_(self) -> Families:
        """Families of the clusters so far, computed on access."""
        check_is_fitted(self, "memory_")
        evidence = self.memory_.evidence
        if not self.families or evidence is None:
            raise AttributeError("families_ is available with families=True.")
        key = self.n_steps_, self.n_clusters
        if self.__dict__.get("_found", (None,))[0] != key:
            found = build_families(evidence, hint=self.n_clusters)
            self.__dict__["_found"] = key, found
        families: Families = self.__dict__["_found"][1]
        return families

    @property
    def family_labels_(self) -> IntArray:
        """Family of every row of the last batch, named after its oldest member."""
        labels: IntArray = self.families_.map_labels(to_numpy(self.labels_))
        return labels

    @property
    def confirmed_labels_(self) -> IntArray:
        """`labels_` with -1 for identities that have not held enough points or batches so far."""
        check_is_fitted(self, "memory_")
        rules, labels = self._model_config(), to_numpy(self.labels_)
        limits = rules.min_cluster_size, rules.min_batches
        known = confirmed_by_lifetime(self.memory_.lifetimes, *limits)
        return np.where(np.isin(labels, known), labels, -1)

    @property
    def state_(self) -> ClusterState:
        """The remembered clusters, where rows are points."""
        if self.memory_.space_or_raw.name != "raw":
            rule = "state_ is available only with space='raw'; this estimator uses space"
            hint = "Use memory_.clusters, whose centers are points of that space."
            raise AttributeError(f"{rule} {self.space_.name!r}. {hint}")
        return self.memory_.clusters

    @property
    def penalties_(self) -> Penalties:
        """lambda, Q and tau as given or chosen."""
        if self.memory_.penalties is None:
            raise NotFittedError("penalties_ is available after the first batch with points.")
        return self.memory_.penalties

    cluster_ids_: IntArray = view("memory_.clusters.ids")
    cluster_centers_: FloatArray = view("memory_.centers")
    cluster_velocities_: FloatArray = view("memory_.velocities")
    cluster_weights_: FloatArray = view("memory_.clusters.weights")
    cluster_ages_: FloatArray = view("memory_.clusters.ages")
    n_steps_: int = view("memory_.clusters.n_steps")
    space_: Space = view("memory_.space_or_raw")
    labels_: IntArray = view("_step.clustering.labels")
    cost_: float = view("_step.clustering.cost")
    cost_trace_: FloatArray = view("_step.clustering.cost_trace")
    n_iter_: int = view("_step.clustering.n_iter")

    def _joins(self) -> list[Event]:
        """Families that joined an older one since the last batch whose events were asked for."""
        if not self.families:
            return []
        now, n_steps = self.families_, self.n_steps_
        step, last, before_last = self.__dict__.get("_looked_at", (n_steps, None, None))
        before: Families | None = before_last if step == n_steps else last
        self.__dict__["_looked_at"] = n_steps, now, before
        return [] if before is None else now.merges_since(before)

    def _model_config(self) -> ModelConfig:
        return ModelConfig(**{name: getattr(self, name) for name in PARAMETERS})
