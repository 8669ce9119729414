"""ModelConfig: all that decides what is found in a stream, each field once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from inspect import signature
from textwrap import wrap
from typing import Any, TypeVar

import numpy as np

from dynmeans.follow.clusterers import DYNMEANS, check_method, method_text
from dynmeans.follow.partial_penalties import NAMED, PartialPenalties, fold_penalties
from dynmeans.inputs.fields import choice, option
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_count, check_number, check_range
from dynmeans.inputs.old_names import suggest_name
from dynmeans.records.orders import MAX_ORDERS, SEARCHES
from dynmeans.records.penalties import AUTO, Penalties
from dynmeans.spaces.named import find_space, space_from_json
from dynmeans.spaces.space import Space

_MAX_SEED = 2**32 - 1

Interface = TypeVar("Interface")


def _count_or_none(name: str, value: Any) -> int | None:
    return None if value is None else check_count(name, value)


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
    low, high = check_range(name, value)
    return (low, high) if isinstance(value, tuple | list) else low


def _yes_or_no(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def _space(name: str, value: Any) -> Any:
    find_space(value)
    return value


def check_seed(name: str, value: Any) -> Any:
    """Return a seed as scikit-learn takes it, or refuse it by name."""
    if value is None or isinstance(value, np.random.RandomState):
        return value
    rule = "must be None, an integer from 0 to 2**32 - 1 or a RandomState"
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise TypeError(f"{name} {rule}, got {value!r}.")
    if not 0 <= value <= _MAX_SEED:
        raise InputError(name, rule, got=value)
    return int(value)


@dataclass(frozen=True, slots=True, init=False)
class ModelConfig:
    """What is done with every batch of a stream; the same in every interface of this package.

    How it is run (backend, threads) is no part of it: that never changes a result. Each field has
    its rule, its type and a sentence of help in its `metadata`, from which the options of the
    command and the documentation are made.

    Parameters
    ----------
    penalties : Penalties, float or "auto"
        All penalties as one value, lambda alone, or "auto".
    **parameters
        Every other parameter of `DynamicMeans` but how it is run: the fields of a model
        configuration, and those of its penalties (`new_penalty`, `max_gap`, `motion` and so on).

    See Also
    --------
    DynamicMeans : Takes the same parameters.
    RunConfig : A model configuration, with the source of a run.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    >>> model_config = ModelConfig(new_penalty=4.0, max_gap=5)
    >>> model_config.penalties.max_gap, model_config.space, model_config.non_default_fields()
    (5.0, 'raw', {'new_penalty': 4.0, 'max_gap': 5.0})
    >>> ModelConfig.from_json(model_config.to_json()) == model_config
    True
    """

    penalties: PartialPenalties = option(
        AUTO,
        "All penalties as one `Penalties` object (for example from `suggest_penalties`), a "
        'number (`new_penalty` only), or "auto": choose them from the first batches that have '
        "points.",
        None,
    )
    n_clusters: float | tuple[float, float] | None = option(
        None,
        "Approximate number of clusters per batch, or a range such as (4, 8). `new_penalty` is "
        "chosen to give about this number; with `families`, `new_penalty` is chosen freely and "
        "clusters are merged into about this number of families, as `dynmeans.cluster` does with "
        "its subclusters. The result may differ. A larger number gives smaller clusters.",
        str,
        command_help="Approximate number of clusters per window, or a range such as 4-8. Close "
        "subclusters are merged until about this number remains; the result may differ. "
        "A larger number gives smaller clusters.",
        check=_number_or_range,
    )
    space: str | Space = option(
        "raw",
        "Mapping from rows to the points whose distances are used, fitted on the first "
        'batches: "raw" (no change); "standard" (mean 0, standard deviation 1); "robust" '
        '(median 0, interquartile range 1); "auto" (standard if one feature varies more than '
        'ten times as much as another); "geo" (latitude and longitude, in km); "cyclic:24" '
        '(features with a period); "cosine" (by angle, on leading axes with "cosine:30"); '
        '"landmarks" (kernel); or groups of features, "0.1*geo(lat,lon) + cyclic:24(hour)".',
        str,
        command_help='Mapping from rows to points: raw, standard, robust, auto, geo, "cyclic:24", '
        '"cosine:30", landmarks, or groups of features, "0.1*geo(lat,lon) + cyclic:24(hour)". '
        "Learned from the first windows.",
        check=_space,
    )
    method: Any = option(
        DYNMEANS,
        'Clusterer of each batch: "dynmeans"; a scikit-learn clusterer, as an object or by '
        'name, such as "dbscan(eps=0.3)" or "hdbscan" (min_cluster_size: 0.6 times the square '
        "root of the number of rows, if not given), whose clusters are matched one-to-one to the "
        'remembered clusters and whose noise is labeled -1; or "detections", if every row is '
        "one object.",
        str,
        command_help='Clusterer of each window: "dynmeans"; a scikit-learn clusterer by name, such '
        'as "hdbscan" or "dbscan(eps=0.3)", matched one-to-one to the remembered '
        'clusters; or "detections", if every row is one object.',
        check=check_method,
    )
    n_init: int = option(
        3,
        "Number of visiting orders tried on every batch, at most 10,000; the result of lowest "
        "cost is kept. A larger value gives a lower cost and takes proportionally longer.",
        int,
        check=lambda name, value: check_count(name, value, at_most=MAX_ORDERS),
    )
    search: str = option(
        "split",
        'Search for the lowest cost: Algorithm 2 of the paper ("paper"); then splits of '
        'clusters that clearly contain two groups ("split"); or also merges, splits and '
        'rematches of whole clusters ("deep"). A deeper search is slower and depends less on '
        "`new_penalty` and `n_init`.",
        str,
        check=choice(*SEARCHES),
        choices=SEARCHES,
    )
    random_state: Any = option(
        None,
        "Seed of the visiting orders. An integer makes results repeatable; None draws a new seed.",
        int,
        command_help="Seed of the visiting orders.",
        check=check_seed,
    )
    families: bool = option(
        False,
        "If True, collect the statistics of families (clusters of any shape). Adds time and "
        "RAM for every pair of nearby clusters.",
        bool,
        command_help="Collect the statistics of families (clusters of any shape). Adds time and "
        "RAM for every pair of nearby clusters.",
        check=_yes_or_no,
    )
    min_cluster_size: float = option(
        1,
        "Minimum number of points, over all batches, for a cluster to be confirmed. A larger "
        "value marks more small clusters as -1 among the confirmed labels.",
        float,
        check=lambda name, value: check_number(name, value, at_least=0),
    )
    min_batches: int = option(
        1,
        "Minimum number of batches with points for a cluster to be confirmed. A larger value "
        "marks more short-lived clusters as -1, and confirms new ones later.",
        int,
        check=check_count,
    )
    max_clusters: int | None = option(
        None,
        "Maximum number of remembered clusters. A batch that would exceed it is refused and "
        "changes nothing. A smaller value limits time and RAM.",
        int,
        check=_count_or_none,
    )

    def __init__(self, penalties: Any = AUTO, **parameters: Any) -> None:
        """Check every field by its rule, and those that exclude each other."""
        unknown = [name for name in parameters if name not in PARAMETERS]
        if unknown:
            way_out = suggest_name(unknown[0], list(PARAMETERS))
            raise TypeError(f"there is no parameter {unknown[0]!r}. {way_out}")
        named = {name: parameters[name] for name in parameters if name in NAMED}
        given = fold_penalties(penalties, **named)
        for name, one in FIELDS.items():
            value = parameters.get(name, one.default)
            object.__setattr__(self, name, one.metadata["check"](name, value))
        is_alone = named.get("new_penalty") is None and not isinstance(penalties, PartialPenalties)
        if is_alone and self.n_clusters is not None and not self.families:
            given = replace(given, new_penalty=None)  # chosen in its place
        object.__setattr__(self, "penalties", given)
        self._check_together()

    def _check_together(self) -> None:
        lambda_ = self.penalties.new_penalty
        if lambda_ is not None and self.n_clusters is not None and not self.families:
            raise InputError(
                "n_clusters",
                "cannot be combined with {new_penalty} unless {families=True}",
                got=self.n_clusters,
            )
        if self.method != DYNMEANS:
            where = f"{{method={method_text(self.method)!r}}}"
            unused = ("n_clusters", "revival", "n_init", "search", "families")
            self.reject_fields(where, unused, "It is for the clusters of {method='dynmeans'}.")

    @property
    def is_auto(self) -> bool:
        """Whether penalties will be chosen on the first batches."""
        space = find_space(self.space)
        return self.is_open and (space.usual_penalty is None or space.adapts_penalty)

    @property
    def is_open(self) -> bool:
        """Whether lambda is not given."""
        return self.penalties.is_open or (self.n_clusters is not None and not self.families)

    @property
    def has_unconfirmed(self) -> bool:
        """Whether an identity may have to wait until it is confirmed."""
        return self.min_cluster_size > 1 or self.min_batches > 1

    def arguments(self) -> dict[str, Any]:
        """Return every parameter as an interface takes it, by name."""
        penalties = {name: getattr(self.penalties, name) for name in NAMED}
        own = {name: getattr(self, name) for name in FIELDS}
        return {"penalties": self.penalties.base or AUTO, **penalties, **own}

    def non_default_fields(self) -> dict[str, Any]:
        """Return the parameters that are not at their default."""
        given = self.arguments().items()
        return {name: value for name, value in given if not _is_default(name, value)}

    def reject_fields(self, where: str, names: Sequence[str], hint: str = "") -> None:
        """Refuse, by name, parameters that `where` cannot serve."""
        changed = self.non_default_fields()
        for name in names:
            if (value := changed.get(name)) is not None:
                raise InputError(name, f"is not available in {where}", got=value, hint=hint)

    def to_json(self) -> dict[str, Any]:
        """Return every parameter that is not at its default, as JSON values."""
        if isinstance(self.random_state, np.random.RandomState):
            raise InputError("random_state", "must be an integer to be stored, got a RandomState")
        if not isinstance(self.method, str):
            rule = "must be a clusterer of scikit-learn with plain values to be stored"
            raise InputError("method", rule, got=self.method)
        plain = self.non_default_fields()
        if self.penalties.base is not None:
            plain["penalties"] = self.penalties.base.to_json()
        if isinstance(self.space, Space):
            plain["space"] = self.space.to_json()
        if "moving_features" in plain:
            plain["moving_features"] = list(plain["moving_features"])
        return plain

    @classmethod
    def options(cls) -> list[Any]:
        """Return the fields of which a command makes its options."""
        return list(PARAMETERS.values())

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ModelConfig":
        """Read what `to_json` gave; an unknown parameter is refused by name."""
        plain = dict(value)
        if isinstance(plain.get("penalties"), Mapping):
            plain["penalties"] = Penalties.from_json(plain["penalties"])
        if isinstance(plain.get("space"), Mapping):
            plain["space"] = space_from_json(plain["space"])
        return cls(**plain)


FIELDS = {one.name: one for one in fields(ModelConfig) if one.name != "penalties"}
# The arguments of every interface: penalties and their fields by name, then the rest.
PARAMETERS = {"penalties": fields(ModelConfig)[0], **NAMED, **FIELDS}


def _is_default(name: str, value: Any) -> bool:
    default = PARAMETERS[name].default
    assert default is not MISSING, "every parameter has a default"
    return value is default or (type(value) is not np.ndarray and value == default)


# How it is run is no part of a model configuration; it never changes a result.
_EXECUTION = """\
backend : {"native", "reference", "gpu", "auto"}, default="native"
    Compiled code, the NumPy reference, an NVIDIA GPU, or a GPU for large batches only. The result
    is the same. Arrays on a GPU are always processed there.
acceleration : {"auto", "none"}, default="auto"
    "none" compares every point with every cluster, which is slower. Only for tests; the result is
    the same.
n_threads : int, optional
    Number of threads. Default: all cores for large batches, one for small ones. The result does not
    depend on it.""".splitlines()


_KINDS = {
    "penalties": 'Penalties, float or "auto"',
    "n_clusters": "float or (float, float)",
    "moving_features": "sequence of str, int or bool",
    "space": "str or Space",
    "method": "str or scikit-learn clusterer",
    "random_state": "int, RandomState or None",
}


def add_parameter_docs(cls: type[Interface]) -> type[Interface]:
    """Replace ``{model_config}`` in the docstring of a class by its parameters."""
    if cls.__doc__ is not None:  # as it is under python -OO
        own = [one for name, one in PARAMETERS.items() if name in signature(cls).parameters]
        lines = [*(line for one in own for line in _format_parameter(one)), *_EXECUTION]
        cls.__doc__ = cls.__doc__.replace("{model_config}", "\n    ".join(lines), 1)
    return cls


def _format_parameter(one: Any) -> list[str]:
    choices, default = one.metadata.get("choices"), one.default
    kind = "{" + ", ".join(f'"{c}"' for c in choices) + "}" if choices else _type_name(one)
    tail = (
        "optional"
        if default is None and "None" not in kind
        else f"default={default!r}".replace("'", '"')
    )
    words = wrap(one.metadata["help"], 92, initial_indent="    ", subsequent_indent="    ")
    return [f"{one.name} : {kind}, {tail}", *words]


def _type_name(one: Any) -> str:
    if one.name in _KINDS:
        return _KINDS[one.name]
    kind = one.type
    text = kind.__name__ if isinstance(kind, type) else str(kind)
    return re.sub(r"\b[a-z_.]+\.(?=[A-Z])", "", text).removesuffix(" | None")
