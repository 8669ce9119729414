"""Recipe: all that decides what is found in a stream, each field once."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from inspect import signature
from textwrap import wrap
from typing import Any, TypeVar

import numpy as np

from dynmeans.follow.methods import OURS, checked_method, method_text
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import checked_count, checked_number, checked_range
from dynmeans.records.orders import BY, MOST_ORDERS, SEARCHES
from dynmeans.records.penalties import (
    AUTO,
    MOTIONS,
    REVIVAL_RULES,
    Penalties,
    given_penalties,
    penalties_with_defaults,
)
from dynmeans.spaces.named import find_space, space_from_json
from dynmeans.spaces.space import Space

_MAX_SEED = 2**32 - 1

Check = Callable[[str, Any], Any]
Face = TypeVar("Face")


def _field(default: Any, check: Check, kind: Any, words: str, choices: Any = None) -> Any:
    """Write a field down: its rule, its type for a command line, and one sentence of help."""
    about = {"help": words, "check": check, "type": kind, "choices": choices}
    return field(default=default, metadata=about)


def _number(**rule: Any) -> Check:
    return lambda name, value: None if value is None else checked_number(name, value, **rule)


def _count_or_none(name: str, value: Any) -> int | None:
    return None if value is None else checked_count(name, value)


def _number_or_range(name: str, value: Any) -> float | tuple[float, float] | None:
    """Return a number, or a pair of them; texts such as "5" and "4-8" are read."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = [float(end) for end in value.split("-")]
        except ValueError:
            raise InputError(name, "must be a number or a range such as 4-8", got=value) from None
        value = value[0] if len(value) == 1 else value
    low, high = checked_range(name, value)
    return (low, high) if isinstance(value, tuple | list) else low


def _one_of(*choices: str | None) -> Check:
    def check(name: str, value: Any) -> Any:
        if not (value is None or isinstance(value, str)) or value not in choices:
            listed = ", ".join(choice for choice in choices if choice is not None)
            raise InputError(name, f"must be one of {listed}", got=value)
        return value

    return check


def _penalties(name: str, value: Any) -> Any:
    given = given_penalties(value)
    return AUTO if given is None else given


def _yes_or_no(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def _features(name: str, value: Any) -> Any:
    if value is None:
        return None
    return (value,) if isinstance(value, str) else tuple(value)


def _space(name: str, value: Any) -> Any:
    find_space(value)
    return value


def checked_seed(name: str, value: Any) -> Any:
    """Return a seed as scikit-learn takes it, or refuse it by name."""
    if value is None or isinstance(value, np.random.RandomState):
        return value
    rule = "must be None, an integer from 0 to 2**32 - 1 or a RandomState"
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise TypeError(f"{name} {rule}, got {value!r}.")
    if not 0 <= value <= _MAX_SEED:
        raise InputError(name, rule, got=value)
    return int(value)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is done with every batch of a stream; the same in every face of this package.

    How it is run (backend, threads) is no part of it: that never changes a result. Each field has
    its rule, its type and a sentence of help in its `metadata`, from which the options of the
    command and the documentation are made.

    Examples
    --------
    >>> recipe = Recipe(new_penalty=4.0, max_gap=5)
    >>> recipe.max_gap, recipe.space, recipe.changed()
    (5.0, 'raw', {'new_penalty': 4.0, 'max_gap': 5.0})
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    penalties: Penalties | float | str = _field(
        AUTO,
        _penalties,
        None,
        "All penalties as one value, such as `suggest_penalties` returns; lambda alone, as a "
        'number; or "auto": chosen on the first batches that have points.',
    )
    new_penalty: float | None = _field(
        None,
        _number(above=0),
        float,
        "lambda: how far, as a squared distance, a point may be from every cluster before it opens "
        "a new one.",
    )
    max_gap: float | None = _field(
        None,
        _number(above=1, infinity_allowed=True),
        float,
        "N_Q: a cluster comes back under its identity if fewer steps than this have passed since "
        "it was last seen, the one in which it returns counted; above 1, by default 6.8 or chosen "
        "with the rest.",
    )
    reach: float | None = _field(
        None,
        _number(at_least=1),
        float,
        "k_tau: how far a cluster may have moved since the last batch and still be recognized, as "
        "a squared distance in units of lambda; at least 1, by default 1.2 or chosen with "
        "the rest.",
    )
    revival_penalty: float | None = _field(
        None,
        _number(at_least=0),
        float,
        "Q: squared distance that each step unseen adds to reviving a cluster; with `drift` in "
        "place of `max_gap` and `reach`.",
    )
    drift: float | None = _field(
        None,
        _number(at_least=0),
        float,
        "tau: how fast the memory of a position fades, per step; with `revival_penalty` in place "
        "of `max_gap` and `reach`.",
    )
    n_clusters: float | tuple[float, float] | None = _field(
        None,
        _number_or_range,
        str,
        "About how many clusters a batch holds, as a number or a range such as 4-8, (4, 8) in "
        "Python: lambda is chosen to give as many, in place of that of `penalties`; with "
        "`families`, about how many families.",
    )
    motion: str | None = _field(
        None,
        _one_of(None, *MOTIONS),
        str,
        'Whether a cluster is expected where it was ("still"), as in the paper, or where its '
        'velocity takes it ("steady"); by default that of the penalties.',
        MOTIONS,
    )
    moving: Sequence[str | int | bool] | None = _field(
        None,
        _features,
        list,
        "Features that keep a course in steady motion, by name or number, or a yes or no for each; "
        "all by default.",
    )
    revival: str | None = _field(
        None,
        _one_of(None, *REVIVAL_RULES),
        str,
        'The cost of reviving a cluster: equation 5 of the paper ("paper"), or the true rise of '
        'the cost ("exact"); by default that of the penalties, else "paper".',
        REVIVAL_RULES,
    )
    space: str | Space = _field(
        "raw",
        _space,
        str,
        "How rows become the points that are clustered, as learned on the first batches that have "
        'points: "raw", as they are; "standard", each feature brought to mean 0 and spread 1; '
        '"robust", to median 0 and quartile range 1; "auto", standard where one feature spreads '
        'more than ten times as far as another; "geo", latitude and longitude, in km; "angle:24", '
        'features with a period; "direction", by cosine, on leading axes with "direction:30"; '
        '"landmarks", by a kernel; or groups of features, "0.1*geo(lat,lon) + angle:24(hour)".',
    )
    method: Any = _field(
        OURS,
        checked_method,
        str,
        "What finds the clusters of a batch: ours; a clusterer of scikit-learn, as an object or by "
        'name, such as "dbscan(eps=0.3)" or "hdbscan" (whose clusters have at least 0.6 times the '
        'root of a batch\'s rows, unless told), noise -1; or "detections", where '
        "every row is an object of its own. Clusters of another one are matched one to one to "
        "those remembered.",
    )
    n_init: int = _field(
        3,
        lambda name, value: checked_count(name, value, at_most=MOST_ORDERS),
        int,
        "Visiting orders tried on every batch, at most 10,000; the one of lowest cost is kept.",
    )
    order: str = _field(
        "content",
        _one_of(*BY),
        str,
        "What visiting orders are made from: the content of the rows, whatever order they come in, "
        'or their numbers ("row"), as always for a batch on a Dask cluster.',
        BY,
    )
    search: str = _field(
        "split",
        _one_of(*SEARCHES),
        str,
        'Whether the search for the lowest cost ends with Algorithm 2 ("paper"), then splits what '
        'is plainly two ("split"), or goes on with all moves of whole sets of points ("deep").',
        SEARCHES,
    )
    random_state: Any = _field(
        None,
        checked_seed,
        int,
        "Seed of the visiting orders; None draws one.",
    )
    families: bool = _field(
        False,
        _yes_or_no,
        bool,
        "Whether to gather evidence for identities that belong together.",
    )
    min_cluster_size: float = _field(
        1,
        lambda name, value: checked_number(name, value, at_least=0),
        float,
        "Points that an identity must have held so far to be confirmed.",
    )
    min_life: int = _field(
        1,
        checked_count,
        int,
        "Batches that must have seen an identity so far for it to be confirmed.",
    )
    max_clusters: int | None = _field(
        None,
        _count_or_none,
        int,
        "Refuse a batch that would leave more clusters remembered, without any change.",
    )

    def __post_init__(self) -> None:
        """Check every field by its rule, and those that exclude each other."""
        for name, one in FIELDS.items():
            checked = one.metadata["check"](name, getattr(self, name))
            object.__setattr__(self, name, checked)
        self._check_together()

    def _check_together(self) -> None:
        given = given_penalties(self.penalties, self.new_penalty)
        pairs = {name: getattr(self, name) for name in _PAIRS}
        if not isinstance(given, Penalties):
            penalties_with_defaults(given or 1.0, **pairs)
        more = [name for name, value in pairs.items() if value is not None]
        if isinstance(given, Penalties) and more:
            listed = ", ".join(f"{{{name}}}" for name in _PAIRS)
            raise InputError(
                "penalties",
                f"hold {listed} already: give either {{penalties}} or "
                f"{', '.join(f'{{{name}}}' for name in more)}, and not both",
            )
        if given is None and {"revival_penalty", "drift"} & set(more):
            raise InputError(
                "penalties",
                "'auto' takes {max_gap} and {reach}, not {revival_penalty} and {drift}, "
                f"got {self.revival_penalty!r} and {self.drift!r}",
            )
        if self.new_penalty is not None and self.n_clusters is not None and not self.families:
            raise InputError(
                "n_clusters",
                "chooses lambda: give either {n_clusters} or {new_penalty}, and not both, unless "
                "with {families}",
                got=self.n_clusters,
            )

        if self.method != OURS:
            where = f"{{method={method_text(self.method)!r}}}"
            unused = ("n_clusters", "revival", "n_init", "order", "search", "families")
            self.refuse(where, unused, "It is for the clusters of {method='dynmeans'}.")

    @property
    def is_auto(self) -> bool:
        """Whether penalties will be chosen on the first batches."""
        return self.given is None

    @property
    def given(self) -> Penalties | float | None:
        """The penalties or the lambda that was given; None where they will be chosen."""
        if self.n_clusters is not None and not self.families:
            return None
        return given_penalties(self.penalties, self.new_penalty)

    @property
    def has_unconfirmed(self) -> bool:
        """Whether an identity may have to wait until it is confirmed."""
        return self.min_cluster_size > 1 or self.min_life > 1

    def changed(self) -> dict[str, Any]:
        """Return the fields that are not at their default."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if not _is_default(name, value)}

    def refuse(self, where: str, names: Sequence[str], hint: str = "") -> None:
        """Refuse, by name, fields that `where` cannot serve."""
        for name in names:
            value = getattr(self, name)
            if not _is_default(name, value):
                raise InputError(name, f"is not available in {where}", got=value, hint=hint)

    def to_json(self) -> dict[str, Any]:
        """Return every field that is not at its default, as JSON values."""
        if isinstance(self.random_state, np.random.RandomState):
            raise InputError("random_state", "must be an integer to be stored, got a RandomState")
        if not isinstance(self.method, str):
            rule = "must be a clusterer of scikit-learn with plain values to be stored"
            raise InputError("method", rule, got=self.method)
        plain = self.changed()
        if isinstance(self.penalties, Penalties):
            plain["penalties"] = self.penalties.to_json()
        if isinstance(self.space, Space):
            plain["space"] = self.space.to_json()
        if self.moving is not None:
            plain["moving"] = list(self.moving)
        return plain

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Recipe":
        """Read what `to_json` gave; a field that there is not is refused by name."""
        plain = dict(value)
        if isinstance(plain.get("penalties"), Mapping):
            plain["penalties"] = Penalties.from_json(plain["penalties"])
        if isinstance(plain.get("space"), Mapping):
            plain["space"] = space_from_json(plain["space"])
        return recipe_of(**plain)


_PAIRS = ("max_gap", "reach", "revival_penalty", "drift")
FIELDS = {one.name: one for one in fields(Recipe)}


def _is_default(name: str, value: Any) -> bool:
    default = FIELDS[name].default
    assert default is not MISSING, "every field has a default"
    return value is default or (type(value) is not np.ndarray and value == default)


def described(cls: type[Face]) -> type[Face]:
    """Write the fields that a class has as parameters into its docstring."""
    if cls.__doc__ is not None:  # as it is under python -OO
        own = [one for name, one in FIELDS.items() if name in signature(cls).parameters]
        lines = [line for one in own for line in _documented(one)]
        cls.__doc__ = cls.__doc__.replace("{recipe}", "\n    ".join(lines), 1)
    return cls


def _documented(one: Any) -> list[str]:
    choices, default = one.metadata["choices"], one.default
    kind = "{" + ", ".join(f'"{c}"' for c in choices) + "}" if choices else _type_name(one.type)
    tail = "optional" if default is None else f"default={default!r}".replace("'", '"')
    words = wrap(one.metadata["help"], 92, initial_indent="    ", subsequent_indent="    ")
    return [f"{one.name} : {kind}, {tail}", *words]


def _type_name(kind: Any) -> str:
    text = kind.__name__ if isinstance(kind, type) else str(kind)
    return re.sub(r"\b[a-z_.]+\.(?=[A-Z])", "", text).removesuffix(" | None")


def recipe_of(recipe: Recipe | None = None, **values: Any) -> Recipe:
    """Return the recipe, or make one from its fields by name: a face takes either, never both."""
    unknown = [name for name in values if name not in FIELDS]
    if unknown:
        known = ", ".join(FIELDS)
        raise TypeError(f"there is no parameter {unknown[0]!r}; those of a recipe are {known}.")
    if recipe is None:
        return Recipe(**values)
    if values:
        raise TypeError(f"give either a recipe or {', '.join(values)}, and not both.")
    if not isinstance(recipe, Recipe):
        raise TypeError(f"recipe must be a Recipe, got {type(recipe).__name__}.")
    return recipe
