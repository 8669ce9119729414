"""Clusterers of scikit-learn, by name with parameters that are plain values, or as objects."""

import ast
from functools import cache
from typing import Any

import numpy as np
from sklearn import cluster, mixture
from sklearn.base import clone

from dynmeans.follow.clusterers import DETECTIONS, DYNMEANS, NOISE, method_text
from dynmeans.inputs.input_error import InputError

_PLAIN = bool | int | float | str | None
_NUMBERS = ("n_clusters", "n_components")  # of clusters, which a batch may not have rows for
_DENSE = ("min_samples", "min_cluster_size")  # fewer rows than this are noise
# The smallest cluster of plain "hdbscan", over the root of a batch's rows: scikit-learn's 5 cuts
# what is wide to pieces.
_SMALLEST, _OVER_ROOT = 5, 0.6


def check_clusterer(name: str, value: Any) -> Any:
    """Return a clusterer as text if its parameters are plain values, else the clusterer itself."""
    if isinstance(value, str):
        return _format_params(*_read(name, value))
    if isinstance(value, type) or not all(
        hasattr(value, one) for one in ("fit_predict", "get_params", "set_params")
    ):
        raise TypeError(
            f"{name} must be the name of a clusterer or a clusterer of scikit-learn's kind, with "
            f"fit_predict and get_params, got {value!r}."
        )
    return _to_text(value)


def labels_of(method: Any, points: Any, weights: Any, entropy: int) -> Any:
    """Return the cluster of each row, below 0 for noise."""
    n_points, clusterer = len(points), _make_clusterer(method)
    if method == "hdbscan":
        clusterer.min_cluster_size = max(_SMALLEST, round(_OVER_ROOT * n_points**0.5))
    known = clusterer.get_params(deep=False)
    if n_points < max([known[name] or 0 for name in _DENSE if _is_count(known.get(name))] or [0]):
        return NOISE
    if n_points == 1 and not set(_DENSE) & set(known):
        return 0
    changed = {name: n_points for name in _NUMBERS if _is_count(known.get(name), above=n_points)}
    if "random_state" in known and known["random_state"] is None:
        changed["random_state"] = entropy % 2**32
    if "copy" in known:
        changed["copy"] = True  # the rows are not the clusterer's to write over
    clusterer.set_params(**changed)
    if weights is None or np.all(weights == 1.0):
        return np.asarray(clusterer.fit_predict(points))
    try:
        return np.asarray(clusterer.fit_predict(points, sample_weight=weights))
    except TypeError as error:
        shown = method_text(method)
        hint = "Omit {weight}, or use {method='dynmeans'}."
        raise InputError("method", f"{shown!r} does not support row weights", hint=hint) from error


def _is_count(value: Any, above: int = 0) -> bool:
    return isinstance(value, int | np.integer) and int(value) > above


def _make_clusterer(method: Any) -> Any:
    if not isinstance(method, str):
        return clone(method)
    name, parameters = _read("method", method)
    return _known_clusterers()[name](**parameters)


@cache
def _known_clusterers() -> dict[str, Any]:
    """Clusterers of scikit-learn that may stand in a file, by their names in small letters."""
    found = [getattr(module, name) for module in (cluster, mixture) for name in module.__all__]
    return {one.__name__.lower(): one for one in found if callable(getattr(one, "fit_predict", 0))}


def _read(name: str, text: str) -> tuple[str, dict[str, Any]]:
    """Return the clusterer that a text names, and its parameters; nothing of it is executed."""
    rule = (
        f"must be {DYNMEANS!r}, {DETECTIONS!r}, or a clusterer of scikit-learn with plain values, "
        "such as 'hdbscan' or 'dbscan(eps=0.3)'"
    )
    try:
        node = ast.parse(text.strip(), mode="eval").body
        call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
        if not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        word = call.func.id.lower()
        given = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise InputError(name, rule, got=text) from None
    if word not in _known_clusterers() or not all(
        isinstance(value, _PLAIN) for value in given.values()
    ):
        raise InputError(name, rule, got=text, hint=f"Known are {', '.join(_known_clusterers())}.")
    if given:
        known = _known_clusterers()[word]().get_params(deep=False)
        unknown = [one for one in given if one not in known]
        if unknown:
            rule = f"has no parameter {unknown[0]!r}: {word} has {', '.join(known)}"
            raise InputError(name, rule, got=text)
    return word, given


def _to_text(clusterer: Any) -> Any:
    """Return a clusterer of scikit-learn with plain parameters as text, any other unchanged."""
    word = type(clusterer).__name__.lower()
    if type(clusterer) is not _known_clusterers().get(word):
        return clusterer
    usual = type(clusterer)().get_params(deep=False)
    given = {
        one: value.item() if isinstance(value, np.generic) else value
        for one, value in clusterer.get_params(deep=False).items()
        if not (isinstance(value, _PLAIN) and value == usual[one])
    }
    if word == "hdbscan":  # the plain word has another
        given["min_cluster_size"] = clusterer.min_cluster_size
    is_plain = all(isinstance(value, _PLAIN) for value in given.values())
    return _format_params(word, given) if is_plain else clusterer


def _format_params(word: str, given: dict[str, Any]) -> str:
    listed = ", ".join(f"{one}={value!r}" for one, value in sorted(given.items()))
    return f"{word}({listed})" if listed else word
