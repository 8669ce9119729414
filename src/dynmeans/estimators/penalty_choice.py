"""Penalties of DynamicMeans from its parameters: given, or chosen from the data."""

from collections.abc import Sequence
from typing import Any

from dynmeans.estimators.cluster_estimator import ClusterEstimator
from dynmeans.inputs.features import feature_numbers
from dynmeans.records.penalties import DEFAULT_MOTION, Penalties, penalties_with_defaults


def _checked_penalties(new_penalty: Any, *others: Any) -> Penalties:
    names = ("max_gap", "reach", "revival_penalty", "drift", "revival", "motion", "moving")
    return penalties_with_defaults(new_penalty, **dict(zip(names, others, strict=True)))


class PenaltyChooser(ClusterEstimator):
    """Settles lambda, Q, tau and the motion of an estimator with these parameters."""

    max_gap: float | None
    reach: float | None
    revival_penalty: float | None
    drift: float | None
    n_clusters: float | None
    families: bool
    revival: str | None
    motion: str | None
    moving: Sequence[str | int | bool] | None

    def _penalties_for(self, given: Penalties | float) -> Penalties:
        others = (self.max_gap, self.reach, self.revival_penalty, self.drift)
        if isinstance(given, Penalties):
            _refuse_more(others)
            return self._adopted(given)
        values = (
            *(given, *others, "paper" if self.revival is None else self.revival),
            *(self.motion or DEFAULT_MOTION, self._moving_features()),
        )
        return _checked_penalties(*values)

    def _moving_features(self) -> tuple[int, ...] | None:
        if self.moving is None:
            return None
        names = getattr(self, "feature_names_in_", None)
        return feature_numbers(self.moving, getattr(self, "n_features_in_", None), names)

    def _adopted(self, suggested: Penalties) -> Penalties:
        adopted = suggested if self.revival is None else suggested.with_revival(self.revival)
        if self.motion is None and self.moving is None:
            return adopted
        motion = adopted.motion if self.motion is None else self.motion
        return adopted.with_motion(motion, self._moving_features())

    def _suggestable(self) -> dict[str, Any]:
        if self.revival_penalty is not None or self.drift is not None:
            raise ValueError(
                'penalties="auto" goes with max_gap and reach, not with revival_penalty and '
                f"drift, got {self.revival_penalty!r} and {self.drift!r}."
            )
        return {
            "max_gap": self.max_gap,
            "reach": self.reach,
            "n_clusters": self.n_clusters,
            "families": self.families,
            "motion": self.motion,
            "moving": self._moving_features(),
        }

    def _given(self) -> Penalties | float | None:
        is_number_given = self.n_clusters is not None and not self.families
        return None if is_number_given else super()._given()


def _refuse_more(others: Sequence[float | None]) -> None:
    names = ("max_gap", "reach", "revival_penalty", "drift")
    more = [name for name, value in zip(names, others, strict=True) if value is not None]
    if more:
        raise ValueError(
            f"penalties hold {', '.join(names)} already: give either penalties or "
            f"{', '.join(more)}, and not both."
        )
