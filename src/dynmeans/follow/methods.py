"""Methods: what finds the clusters of one batch, by name, with parameters that are plain values."""

import ast
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import IntArray

OURS, DETECTIONS = "dynmeans", "detections"
NOISE = -1
_PLAIN = bool | int | float | str | None
_NUMBERS = ("n_clusters", "n_components")  # of clusters, which a batch may not have rows for
_DENSE = ("min_samples", "min_cluster_size")  # fewer rows than this are noise
# The smallest cluster of plain "hdbscan", over the root of a batch's rows: scikit-learn's 5 cuts
# what is wide to pieces.
_SMALLEST, _OVER_ROOT = 5, 0.6


def checked_method(name: str, value: Any) -> Any:
    """Return a method as text where it can be told as such, else the clusterer itself.

    >>> checked_method("method", "HDBSCAN(min_samples=3, min_cluster_size=9)")
    'hdbscan(min_cluster_size=9, min_samples=3)'
    """
    if isinstance(value, str):
        word = value.strip().lower()
        return word if word in (OURS, DETECTIONS) else _written(*_read(name, value))
    if isinstance(value, type) or not all(
        hasattr(value, one) for one in ("fit_predict", "get_params", "set_params")
    ):
        raise TypeError(
            f"{name} must be the name of a clusterer or a clusterer of scikit-learn's kind, with "
            f"fit_predict and get_params, got {value!r}."
        )
    return _told(value)


def method_text(method: Any) -> str:
    """Return what a memory keeps of a method: enough to say which it was."""
    return method if isinstance(method, str) else f"a clusterer {type(method).__name__}"


def clusters_of(method: Any, batch: Batch, entropy: int) -> IntArray:
    """Return the cluster of each row of a batch by itself, -1 for noise; rows weigh 0 or more."""
    is_used, found = batch.masses > 0, np.full(batch.n_points, NOISE)
    if is_used.any():
        used = batch.taken(is_used)
        found[is_used] = _labels(method, used.points.astype(np.float64), used.weights, entropy)
    return np.where(found < 0, NOISE, found)


def _labels(method: Any, points: Any, weights: Any, entropy: int) -> Any:
    n_points = len(points)
    if method == DETECTIONS:
        return np.arange(n_points)
    clusterer = _made(method)
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
        raise InputError("method", f"{shown!r} takes no weights of rows") from error


def _is_count(value: Any, above: int = 0) -> bool:
    return isinstance(value, int | np.integer) and int(value) > above


def _made(method: Any) -> Any:
    if not isinstance(method, str):
        return import_module("sklearn.base").clone(method)
    name, parameters = _read("method", method)
    return _known()[name](**parameters)


@cache
def _known() -> dict[str, Any]:
    """Clusterers of scikit-learn that may stand in a file, by their names in small letters."""
    modules = [import_module(f"sklearn.{name}") for name in ("cluster", "mixture")]
    found = [getattr(module, name) for module in modules for name in module.__all__]
    return {one.__name__.lower(): one for one in found if callable(getattr(one, "fit_predict", 0))}


def _read(name: str, text: str) -> tuple[str, dict[str, Any]]:
    """Return the clusterer that a text names, and its parameters; nothing of it is executed."""
    rule = (
        f"must be {OURS!r}, {DETECTIONS!r}, or a clusterer of scikit-learn with plain values, such "
        "as 'hdbscan' or 'dbscan(eps=0.3)'"
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
    if word not in _known() or not all(isinstance(value, _PLAIN) for value in given.values()):
        raise InputError(name, rule, got=text, hint=f"Known are {', '.join(_known())}.")
    if given:
        known = _known()[word]().get_params(deep=False)
        unknown = [one for one in given if one not in known]
        if unknown:
            rule = f"has no parameter {unknown[0]!r}: {word} has {', '.join(known)}"
            raise InputError(name, rule, got=text)
    return word, given


def _told(clusterer: Any) -> Any:
    """Return a clusterer of scikit-learn with plain parameters as text, any other as it is."""
    word = type(clusterer).__name__.lower()
    if type(clusterer) is not _known().get(word):
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
    return _written(word, given) if is_plain else clusterer


def _written(word: str, given: dict[str, Any]) -> str:
    listed = ", ".join(f"{one}={value!r}" for one, value in sorted(given.items()))
    return f"{word}({listed})" if listed else word
