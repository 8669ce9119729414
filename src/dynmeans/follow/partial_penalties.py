"""PartialPenalties: penalties as far as they are given; the rest is chosen or has a default."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from dynmeans.inputs.fields import choice, option
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_number, number_or_none
from dynmeans.records.penalties import (
    AUTO,
    DEFAULT_MOTION,
    MOTIONS,
    NEW_PENALTY_HINT,
    REACH_HINT,
    REVIVAL_RULES,
    Penalties,
    penalties_with_defaults,
)

_PAIRS = ("max_gap", "reach", "revival_penalty", "drift")


def _features(name: str, value: Any) -> Any:
    if value is None:
        return None
    return (value,) if isinstance(value, str) else tuple(value)


@dataclass(frozen=True, slots=True)
class PartialPenalties:
    """Penalties as one value (`base`), by name, or both; each field is given once.

    Examples
    --------
    >>> PartialPenalties(new_penalty=4.0, max_gap=5).complete().reach
    1.2
    >>> fold_penalties(4.0) == fold_penalties(new_penalty=4.0)
    True
    """

    base: Penalties | None = None
    new_penalty: float | None = option(
        None,
        "Squared distance beyond which a point starts a new cluster (lambda of the paper), in "
        "the unit of `space`, squared. A larger value gives fewer, larger clusters. For "
        "clusters of radius r, try (2 r)² to (4 r)².",
        float,
        check=number_or_none(above=0, hint=NEW_PENALTY_HINT),
    )
    max_gap: float | None = option(
        None,
        "Maximum gap in steps, above 1 (N_Q of the paper): a cluster can return under its ID "
        "if fewer steps have passed since it was last active; otherwise it is forgotten. Default: "
        "6.8 (five missed batches), or chosen with the rest. A larger value reconnects "
        "clusters after longer gaps, but may give an old ID to a different cluster.",
        float,
        check=number_or_none(above=1, infinity_allowed=True),
    )
    reach: float | None = option(
        None,
        "How far a cluster may move between two batches: a squared distance in units of "
        "`new_penalty`, at least 1 (k_tau of the paper). Default: 1.2, or chosen with the rest. A "
        "larger value tracks faster clusters, but confuses clusters that are close to each "
        "other.",
        float,
        check=number_or_none(at_least=1, hint=REACH_HINT),
    )
    revival_penalty: float | None = option(
        None,
        "Squared distance that each inactive step adds to the cost of a revival (Q of the "
        "paper); with `drift`, instead of `max_gap` and `reach`. A larger value gives fewer "
        "returns and forgets clusters earlier.",
        float,
        check=number_or_none(at_least=0),
    )
    drift: float | None = option(
        None,
        "Rate at which a remembered position loses weight, per step (tau of the paper); with "
        "`revival_penalty`, instead of `max_gap` and `reach`. A larger value lets clusters "
        "move farther while they are inactive.",
        float,
        check=number_or_none(at_least=0),
    )
    motion: str | None = option(
        None,
        'Motion model: a cluster is expected at its last position ("random_walk", as in the '
        'paper) or at the position extrapolated from its velocity ("constant_velocity", for '
        "clusters that cross). Default: the model chosen with the penalties, else "
        '"random_walk".',
        choices=MOTIONS,
        check=choice(None, *MOTIONS),
    )
    moving_features: Sequence[str | int | bool] | None = option(
        None,
        'Features that have a velocity with "constant_velocity", by name or number, or a '
        "boolean for each. Default: all.",
        list,
        check=_features,
    )
    revival: str | None = option(
        None,
        'Cost of reviving a cluster: equation 5 of the paper ("paper"), or the exact increase '
        'of the cost ("exact"), which revives clusters of many points over shorter distances. '
        'Default: that of the penalties, else "paper".',
        choices=REVIVAL_RULES,
        check=choice(None, *REVIVAL_RULES),
    )

    def __post_init__(self) -> None:
        """Check every field by its rule, and those that exclude each other."""
        for name, one in NAMED.items():
            object.__setattr__(self, name, one.metadata["check"](name, getattr(self, name)))
        pairs = {name: getattr(self, name) for name in _PAIRS}
        given = [name for name, value in pairs.items() if value is not None]
        if self.base is None:
            penalties_with_defaults(self.new_penalty or 1.0, **pairs)
            if self.new_penalty is None and {"revival_penalty", "drift"} & set(given):
                raise InputError(
                    "penalties",
                    "'auto' takes {max_gap} and {reach}, not {revival_penalty} and {drift}, "
                    f"got {self.revival_penalty!r} and {self.drift!r}",
                )
        elif given or self.new_penalty is not None:
            twice = given if self.new_penalty is None else ["new_penalty", *given]
            listed = ", ".join(f"{{{name}}}" for name in ("new_penalty", *_PAIRS))
            raise InputError(
                "penalties",
                f"hold {listed} already: give either {{penalties}} or "
                f"{', '.join(f'{{{name}}}' for name in twice)}, and not both",
            )

    @property
    def is_open(self) -> bool:
        """Whether lambda is to be chosen."""
        return self.base is None and self.new_penalty is None

    def get(self, name: str) -> Any:
        """Return a field as it was given, by name or in `base`; None if it was not."""
        own = getattr(self, name)
        return getattr(self.base, name) if own is None and self.base is not None else own

    def complete(self, moving_features: tuple[int, ...] | None = None) -> Penalties:
        """Return lambda, Q and tau; `moving` are the coordinates that keep a course."""
        if self.base is not None:
            return self.adopt(self.base, moving_features)
        assert self.new_penalty is not None, "given"
        return penalties_with_defaults(
            self.new_penalty,
            **{name: getattr(self, name) for name in _PAIRS},
            revival=self.revival or REVIVAL_RULES[0],
            motion=self.motion or DEFAULT_MOTION,
            moving_features=moving_features,
        )

    def adopt(
        self, penalties: Penalties, moving_features: tuple[int, ...] | None = None
    ) -> Penalties:
        """Return these penalties with the revival rule and the motion that were given."""
        if (revival := self.get("revival")) not in (None, penalties.revival):
            penalties = penalties.with_revival(revival)
        if self.motion is None and self.moving_features is None:
            return penalties
        return penalties.with_motion(self.motion or penalties.motion, moving_features)


# Fields that are arguments of the interfaces beside `penalties`.
NAMED = {one.name: one for one in fields(PartialPenalties) if one.name != "base"}


def fold_penalties(penalties: object = AUTO, **named: Any) -> PartialPenalties:
    """Return the penalties that the arguments of an interface give, as one value.

    `penalties` are a `Penalties`, lambda as a number, or "auto"; `named` are further fields.
    """
    named = {name: value for name, value in named.items() if value is not None}
    if isinstance(penalties, PartialPenalties):
        return replace(penalties, **named)
    if isinstance(penalties, Penalties):
        return PartialPenalties(penalties, **named)
    if isinstance(penalties, str):
        if penalties != AUTO:
            raise ValueError(
                'penalties must be a Penalties, a number above 0 (lambda) or "auto", '
                f"got {penalties!r}."
            )
        return PartialPenalties(**named)
    new_penalty = check_number("penalties", penalties, above=0)
    if "new_penalty" in named:
        raise ValueError(
            f"give either penalties or new_penalty, and not both; got {penalties!r} and "
            f"{named['new_penalty']!r}."
        )
    return PartialPenalties(new_penalty=new_penalty, **named)
