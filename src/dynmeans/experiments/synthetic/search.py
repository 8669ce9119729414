"""The search for the best setting of every method, by successive halving.

All settings are tried on a few streams; the best share of them on more, with more sweeps where
the method has sweeps; and so on, rung by rung (Jamieson and Talwalkar, 2016). A setting that is
out of the race is not tried again. Dynamic Means takes no part in it: the paper's figures show
all of its settings, on all streams.
"""

import math
from collections.abc import Iterator

import pandas as pd

from dynmeans.experiments.synthetic.config import METHODS, SAMPLERS, Setting, SyntheticConfig
from dynmeans.experiments.synthetic.tasks import (
    SEARCH,
    grid,
    paper_settings,
    search_effort,
    streams_of_rung,
)


def settings_of_rung(
    config: SyntheticConfig, frame: pd.DataFrame, rung: int
) -> dict[str, list[Setting]]:
    """Return the settings that each sampler is to try in this rung; none before the last is done.

    Parameters
    ----------
    config : SyntheticConfig
        The grids and the rungs.
    frame : pandas.DataFrame
        All results so far.
    rung : int
        Counted from 0.
    """
    settings = {method: grid(config, method) for method in SAMPLERS}
    for before in range(rung):
        settings = {
            method: ranked[: n_settings(config, method, before + 1)]
            for method, tried in settings.items()
            if (ranked := _ranked(config, frame, method, before, tried)) is not None
        }
    return settings


def n_settings(config: SyntheticConfig, method: str, rung: int) -> int:
    """Return how many settings of a method are tried in this rung."""
    n_all = len(grid(config, method))
    if method == "dynamic_means":
        return n_all
    return max(1, math.ceil(config.search_kept[rung] * n_all))


def best_settings(config: SyntheticConfig, frame: pd.DataFrame) -> dict[str, Setting]:
    """Return the best setting of each method in the last rung that is done, if any is."""
    best = {}
    last = len(config.search_streams) - 1
    everything = _ranked(config, frame, "dynamic_means", last, grid(config, "dynamic_means"))
    if everything is not None:
        best["dynamic_means"] = everything[0]
    for rung in range(last + 1):
        for method, tried in settings_of_rung(config, frame, rung).items():
            ranked = _ranked(config, frame, method, rung, tried)
            if ranked is not None:
                best[method] = ranked[0]
    return {method: best[method] for method in METHODS if method in best}


def edges(config: SyntheticConfig, best: dict[str, Setting]) -> Iterator[tuple[str, str]]:
    """Name the methods and parameters whose best value is the lowest or highest of its grid."""
    for method, setting in best.items():
        settings = grid(config, method)
        for name, value in setting.items():
            tried = {s[name] for s in settings}
            if len(tried) > 1 and value in (min(tried), max(tried)):
                yield method, name


def _ranked(
    config: SyntheticConfig, frame: pd.DataFrame, method: str, rung: int, tried: list[Setting]
) -> list[Setting] | None:
    """Order the settings by their mean score on the streams of the rung; None if one is missing."""
    names, n_streams = list(paper_settings()[method]), streams_of_rung(config, method, rung)
    rows = frame[
        (frame["part"] == SEARCH)
        & (frame["method"] == method)
        & (frame["effort"] == search_effort(config, method, rung))
        & (frame["trial"] < n_streams)
    ]
    scores = rows.groupby(names)[config.score].agg(["mean", "count"])
    places = pd.MultiIndex.from_tuples([tuple(s[name] for name in names) for s in tried])
    found = scores.reindex(places)
    if (found["count"] != n_streams).any():
        return None
    order = found["mean"].to_numpy().argsort(kind="stable")[::-1]
    return [tried[i] for i in order]
