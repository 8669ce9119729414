"""The three free parameters: lambda, Q and tau, or lambda, N_Q and k_tau (Eq. 16)."""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from dynmeans.inputs.fields import one_of
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_count, check_number

# Good over many kinds of stream when only lambda is known (decision 0007).
DEFAULT_MAX_GAP = 6.8
DEFAULT_REACH = 1.2
# Penalties that are chosen from the points.
AUTO = "auto"
# The cost of reviving a cluster: equation 5 as printed, or the true rise of L_t (decision 0001).
REVIVAL_RULES = ("paper", "exact")
# Clusters wander about where they were, or keep a course (decision 0015).
MOTIONS = ("random_walk", "constant_velocity")
DEFAULT_MOTION = "random_walk"
# A center is the mean of its points, or that mean brought to length 1 (decision 0019).
CENTERS = ("mean", "sphere")
_DIRECT, _BEHAVIOR = ("revival_penalty", "drift"), ("max_gap", "reach")


@dataclass(frozen=True, slots=True, init=False)
class Penalties:
    """The penalties of Dynamic Means: lambda, with Q and tau or with N_Q and k_tau [1]_.

    Of the two pairs, the one that is not given is derived.

    Parameters
    ----------
    new_penalty : float
        lambda. Squared distance beyond which a point starts a new cluster; greater than 0. A larger
        value gives fewer, larger clusters.
    revival_penalty : float, optional
        Q. Squared distance that each inactive step adds to the cost of a revival; 0 or more.
    drift : float, optional
        tau. Rate at which a remembered position loses weight, per step; 0 or more.
    max_gap : float, optional
        N_Q. A cluster can return if fewer steps have passed since it was last active: 6.8 allows
        five missed batches, 5 allows three, 2 none. Greater than 1; infinity never forgets.
    reach : float, optional
        k_tau. How far a cluster may move between two batches: a squared distance in units of
        lambda, at least 1. A larger value tracks faster clusters.
    revival : {"paper", "exact"}
        Cost of reviving a cluster: equation 5 of the paper, or the exact increase of the cost.
    motion : {"random_walk", "constant_velocity"}
        Whether a cluster is expected at its last position, as in the paper, or at the position
        extrapolated from its velocity. With "constant_velocity", `reach` limits the deviation from
        the prediction, and is larger while the velocity is uncertain.
    moving_features : sequence of int, optional
        Features that have a velocity with "constant_velocity"; all by default.

    Attributes
    ----------
    centers : {"mean", "sphere"}
        Whether the center of a cluster is the mean of its points, or that mean scaled to length
        1, for points of length 1 that are compared by their cosine. The space of the points
        decides: "sphere" in the space "cosine". See `with_centers`.

    See Also
    --------
    suggest_penalties : Choose them from data without labels.
    tune : Choose them with labels.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    >>> p = Penalties(0.04, max_gap=6.8, reach=1.01)
    >>> round(p.revival_penalty, 5), round(p.drift, 5)
    (0.00588, 0.18414)
    >>> Penalties(0.04, revival_penalty=0.01, drift=0.5).max_gap
    4.0
    >>> eval(repr(p)) == p
    True
    """

    new_penalty: float
    revival_penalty: float
    drift: float
    max_gap: float
    reach: float
    revival: str
    motion: str
    moving_features: tuple[int, ...] | None
    centers: str = field(repr=False)

    def __init__(
        self,
        new_penalty: float,
        *,
        revival_penalty: float | None = None,
        drift: float | None = None,
        max_gap: float | None = None,
        reach: float | None = None,
        revival: str = "paper",
        motion: str = DEFAULT_MOTION,
        moving_features: Sequence[int] | None = None,
    ) -> None:
        new_penalty = check_number("new_penalty", new_penalty, above=0, hint=NEW_PENALTY_HINT)
        values_of_pairs = (revival_penalty, drift, max_gap, reach)
        pairs = zip(_DIRECT + _BEHAVIOR, values_of_pairs, strict=True)
        both = _both_pairs(new_penalty, {name: value for name, value in pairs if value is not None})
        one_of("revival", revival, REVIVAL_RULES)
        moving_features = _check_moving_features(motion, moving_features)
        values = (new_penalty, *both, revival, motion, moving_features, CENTERS[0])
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def with_revival(self, revival: str) -> "Penalties":
        """Return the same penalties with this revival rule."""
        one_of("revival", revival, REVIVAL_RULES)
        return self._replace(revival=revival)

    def with_motion(self, motion: str, moving_features: Sequence[int] | None = None) -> "Penalties":
        """Return the same penalties with this motion."""
        moving_features = _check_moving_features(motion, moving_features)
        _check_sphere(self.centers, motion)
        return self._replace(moving_features=moving_features, motion=motion)

    def with_centers(self, centers: str) -> "Penalties":
        """Return the same penalties with this kind of centers."""
        one_of("centers", centers, CENTERS)
        _check_sphere(centers, self.motion)
        return self if centers == self.centers else self._replace(centers=centers)

    def usable_search(self, search: str) -> str:
        """Return the search that centers of this kind allow; "split" is left out on the sphere.

        There a lower cost may mean worse clusters: two points at a right angle cost 1.17 in one
        cluster, and lambda in two.
        """
        if self.is_on_sphere and search == "deep":
            rule = "'deep' is not available for centers on the unit sphere"
            raise InputError("search", rule, hint="Use {search='paper'}.")
        return "paper" if self.is_on_sphere else search

    @property
    def is_on_sphere(self) -> bool:
        """Whether centers have length 1."""
        return self.centers == "sphere"

    def _replace(self, **values: Any) -> "Penalties":
        """Set fields of a copy: the pair that is not derived keeps its bits."""
        changed = copy.copy(self)
        for name, value in values.items():
            object.__setattr__(changed, name, value)
        return changed

    def to_json(self) -> dict[str, Any]:
        """Return every field, both pairs: one derived later could differ in its last bit."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return plain | {
            "moving_features": None if self.moving_features is None else list(self.moving_features)
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Penalties":
        """Read what `to_json` gave."""
        given = {name: known for name, known in value.items() if name != "centers"}
        return cls(**given).with_centers(value.get("centers", CENTERS[0]))


def penalties_with_defaults(
    new_penalty: float, *, max_gap: float | None = None, reach: float | None = None, **others: Any
) -> Penalties:
    """lambda, Q and tau from what was given; `max_gap` and `reach` have defaults."""
    if others.get("revival_penalty") is None and others.get("drift") is None:
        max_gap = DEFAULT_MAX_GAP if max_gap is None else max_gap
        reach = DEFAULT_REACH if reach is None else reach
    return Penalties(new_penalty, max_gap=max_gap, reach=reach, **others)


def dp_means_penalties(given: Penalties | float) -> Penalties:
    """Return penalties whose memory is never used: with one batch, Q and tau play no part."""
    new_penalty = given.new_penalty if isinstance(given, Penalties) else given
    return Penalties(new_penalty, revival_penalty=0.0, drift=0.0)


def _drift_from_reach(max_gap: float, reach: float) -> float:
    """Solve (lambda - Q) (tau + 1) = k_tau lambda for tau."""
    scaled = max_gap * (reach - 1) if reach > 1 else 0.0
    if math.isinf(max_gap):
        return reach - 1
    if math.isinf(scaled):  # the same in another order
        drift = (reach - 1) * (max_gap / (max_gap - 1))
    else:
        drift = (scaled + 1) / (max_gap - 1)
    if math.isinf(drift):
        rule = f"must be smaller for max_gap={max_gap!r}: drift would be infinite"
        raise InputError("reach", rule, got=reach)
    return drift


def _check_moving_features(
    motion: object, moving_features: Sequence[int] | None
) -> tuple[int, ...] | None:
    """Return the moving features in order; every feature may move where none is named."""
    one_of("motion", motion, MOTIONS)
    if moving_features is None:
        return None
    if motion != "constant_velocity":
        raise InputError(
            "moving_features", "needs {motion='constant_velocity'}", got=moving_features
        )
    features = tuple(
        sorted({check_count("moving_features", feature, at_least=0) for feature in moving_features})
    )
    if not features:
        raise InputError(
            "moving_features",
            "must name a feature",
            got=moving_features,
            hint="Leave it out to let all move.",
        )
    return features


NEW_PENALTY_HINT = "It is a squared distance; without it, one is chosen from the data."
REACH_HINT = "At 1, a cluster is expected not to move."


def _check_sphere(centers: str, motion: str) -> None:
    if centers == "sphere" and motion != DEFAULT_MOTION:
        rule = "must be 'random_walk' for centers on the unit sphere: a velocity would leave it"
        raise InputError("motion", rule, got=motion)


def _both_pairs(new_penalty: float, given: dict[str, float]) -> tuple[float, ...]:
    """Derive the pair that is not given; both may be, where one follows from the other."""
    if tuple(given) == _BEHAVIOR:
        max_gap = check_number("max_gap", given["max_gap"], above=1, infinity_allowed=True)
        reach = check_number("reach", given["reach"], at_least=1, hint=REACH_HINT)
        return new_penalty / max_gap, _drift_from_reach(max_gap, reach), max_gap, reach
    if tuple(given) == _DIRECT:
        revival_penalty, drift = (check_number(k, given[k], at_least=0) for k in _DIRECT)
        max_gap = new_penalty / revival_penalty if revival_penalty > 0 else math.inf
        return revival_penalty, drift, max_gap, (1 + drift) * (1 - 1 / max_gap)
    if tuple(given) == _DIRECT + _BEHAVIOR:
        both = tuple(check_number(k, v, infinity_allowed=True) for k, v in given.items())
        for pair in (_DIRECT, _BEHAVIOR):
            derived = _both_pairs(new_penalty, {name: given[name] for name in pair})
            if derived == both:
                return derived
    got = ", ".join(f"{{{name}={value!r}}}" for name, value in given.items()) or "neither"
    raise InputError(
        "",
        "give either {revival_penalty} and {drift}, or {max_gap} and {reach}, and not both "
        f"pairs; got {got}",
    )
