"""The search for the best setting of every method: successive halving and racing.

All settings are tried on a few streams; the best share of them on more, with more sweeps where
the method has sweeps; and so on, rung by rung (Jamieson and Talwalkar, 2016). Where there are
streams enough to know the error of a mean, a setting that is behind the best by more than two
standard errors of their difference is out as well (racing; Maron and Moore, 1997). Dynamic Means
does not race: all of its settings are tried on all streams, as the paper's figures show them.
"""

import math
from collections.abc import Iterator

import pandas as pd

from paper.synthetic.config import METHODS, Setting, SyntheticConfig
from paper.synthetic.tasks import (
    SEARCH,
    grid,
    paper_settings,
    search_effort,
)

_MIN_FOR_RACE = 8  # streams
_BEHIND = 2.0  # standard errors of the difference


def settings_of_rung(
    config: SyntheticConfig, frame: pd.DataFrame, rung: int
) -> dict[str, list[Setting]]:
    """Return the settings that each method is to try in this rung; none before the last is done.

    Parameters
    ----------
    config : SyntheticConfig
        The grids and the rungs.
    frame : pandas.DataFrame
        All results so far.
    rung : int
        Counted from 0.
    """
    settings = {method: grid(config, method) for method in METHODS}
    for before in range(rung):
        scored = {
            method: scores
            for method, tried in settings.items()
            if (scores := _scores(config, frame, method, before, tried)) is not None
        }
        settings = {
            method: grid(config, method)
            if method == "dynamic_means"
            else _passed(scores, n_settings(config, method, before + 1))
            for method, scores in scored.items()
        }
    return settings


def n_settings(config: SyntheticConfig, method: str, rung: int) -> int:
    """Return how many settings of a method are tried in this rung at most."""
    n_all = len(grid(config, method))
    if method == "dynamic_means":
        return n_all
    return max(1, math.ceil(config.search_kept[rung] * n_all))


def best_settings(config: SyntheticConfig, frame: pd.DataFrame) -> dict[str, Setting]:
    """Return the best setting of each method in the last rung that is done, if any is."""
    best = {}
    for rung in range(len(config.search_streams)):
        for method, tried in settings_of_rung(config, frame, rung).items():
            scores = _scores(config, frame, method, rung, tried)
            if scores is not None:
                best[method] = _passed(scores, 1)[0]
    return {method: best[method] for method in METHODS if method in best}


def edges(config: SyntheticConfig, best: dict[str, Setting]) -> Iterator[tuple[str, str]]:
    """Name the methods and parameters whose best value is the lowest or highest of its grid.

    A value beyond which the parameter itself does not go, a reach of 1, is no edge.
    """
    for method, setting in best.items():
        settings = grid(config, method)
        for name, value in setting.items():
            tried = {s[name] for s in settings}
            is_last = value in (min(tried), max(tried)) and (name, value) != ("reach", 1.0)
            if len(tried) > 1 and is_last:
                yield method, name


def _scores(
    config: SyntheticConfig, frame: pd.DataFrame, method: str, rung: int, tried: list[Setting]
) -> pd.DataFrame | None:
    """Return the score of every setting on every stream of the rung; None if one is missing."""
    names, n_streams = list(paper_settings()[method]), config.search_streams[rung]
    rows = frame[
        (frame["part"] == SEARCH)
        & (frame["method"] == method)
        & (frame["effort"] == search_effort(config, method, rung))
        & (frame["trial"] < n_streams)
    ]
    if rows.empty:
        return None
    places = pd.MultiIndex.from_tuples(
        [tuple(s[name] for name in names) for s in tried], names=names
    )
    found = rows.pivot_table(config.score, names, "trial").reindex(places)
    is_complete = found.shape[1] == n_streams and not found.isna().any(axis=None)
    return found if is_complete else None


def _passed(scores: pd.DataFrame, at_most: int) -> list[Setting]:
    """Return the settings that are still in the race, the best first."""
    ranked = scores.iloc[scores.mean(axis=1).to_numpy().argsort(kind="stable")[::-1]]
    n_streams = ranked.shape[1]
    if n_streams >= _MIN_FOR_RACE:
        behind = ranked.iloc[0] - ranked
        errors = behind.std(axis=1) / math.sqrt(n_streams)
        ranked = ranked[(behind.mean(axis=1) <= _BEHIND * errors).to_numpy()]
    names = list(scores.index.names)
    return [dict(zip(names, place, strict=True)) for place in ranked.index[:at_most]]
