"""What the rows of the synthetic experiment come to: means, and who is faster at what accuracy."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dynmeans.records.arrays import FloatArray
from paper.synthetic.authors_means import (
    AUTHORS_MEANS,
    SCORES,
    standard_errors,
    standard_errors_off,
)
from paper.synthetic.config import (
    PAPER_PENALTIES,
    SAMPLERS,
    Setting,
    SyntheticConfig,
)
from paper.synthetic.search import best_settings
from paper.synthetic.tasks import (
    COMPARISON,
    EFFORTS,
    FOUND,
    HANDICAP,
    HONEST,
    SEARCH,
    Settings,
    paper_settings,
)

TIMES_FASTER = 100.0  # what the paper's figures suggest, and we ask of ours
_EQUAL = 2.0  # standard errors of the difference within which two accuracies are equal


@dataclass(frozen=True, slots=True, eq=False)
class Averages:
    """Mean and standard deviation over streams, one entry for each x."""

    x: FloatArray
    mean: FloatArray
    deviation: FloatArray
    n: FloatArray

    @property
    def error(self) -> FloatArray:
        """Standard error of the mean; NaN of one stream."""
        none = np.full(self.n.shape, np.nan)
        errors = np.divide(self.deviation, np.sqrt(self.n), out=none, where=self.n > 1)
        return np.asarray(errors, dtype=np.float64)


def settings_of(config: SyntheticConfig, frame: pd.DataFrame, origin: str) -> dict[str, Setting]:
    """Return the setting of every method: the paper's, or the one found by the search."""
    return best_settings(config, frame) if origin == FOUND else paper_settings(origin)


def search_means(frame: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return the mean score of Dynamic Means at every setting of the grid."""
    rows = frame[(frame["part"] == SEARCH) & (frame["method"] == "dynamic_means")]
    means = rows.groupby(list(PAPER_PENALTIES), sort=False)[score].mean()
    return means.rename("score").reset_index()


def trials_of(
    frame: pd.DataFrame, method: str, setting: Setting, choice: str = HONEST
) -> pd.DataFrame:
    """Return the rows of the comparison of one method at one setting, at any effort."""
    is_wanted = (
        (frame["part"] == COMPARISON)
        & (frame["method"] == method)
        & (frame["choice"] == choice)
        & (frame["revival"].isna() | (frame["revival"] == "paper"))
    )
    for name, value in setting.items():
        is_wanted &= frame[name] == value
    return frame[is_wanted]


def by_clusters(trials: pd.DataFrame, method: str, value: str) -> Averages:
    """Average a column at the usual effort over the streams of each number of clusters."""
    return _averages(trials[trials["effort"] == EFFORTS[method]], "n_clusters", value)


def by_effort(trials: pd.DataFrame, n_clusters: int, n_trials: int, value: str) -> Averages:
    """Average a column over the first streams of one number of clusters, for each effort."""
    rows = trials[(trials["n_clusters"] == n_clusters) & (trials["trial"] < n_trials)]
    return _averages(rows, "effort", value)


def _averages(rows: pd.DataFrame, x: str, value: str) -> Averages:
    groups = rows.dropna(subset=[value]).groupby(x)[value].agg(["mean", "std", "count"])
    return Averages(
        groups.index.to_numpy(dtype=np.float64),
        groups["mean"].to_numpy(),
        groups["std"].fillna(0.0).to_numpy(),
        groups["count"].to_numpy(),
    )


def speed_table(frame: pd.DataFrame, settings: Settings, score: str) -> pd.DataFrame:
    """Compare Dynamic Means with every sampler on the streams that both clustered.

    Returns
    -------
    pandas.DataFrame
        One row for each sampler, choice and number of clusters: `times_faster`, `gain` (accuracy
        of Dynamic Means less that of the sampler), `error` of the gain, `n` streams, `n_timed` of
        them with times, and whether the claim holds: 100 times faster and the gain not below 0 by
        two errors.
    """
    ours = _at_usual_effort(frame, "dynamic_means", settings["dynamic_means"], HONEST)
    ours = ours.add_suffix("_ours")
    rows = []
    for method in (name for name in SAMPLERS if name in settings):
        for choice in (HONEST, HANDICAP):
            theirs = _at_usual_effort(frame, method, settings[method], choice)
            both = theirs.join(ours, how="inner")
            for n_clusters, pairs in both.groupby(level="n_clusters"):
                gains = pairs[f"{score}_ours"] - pairs[score]
                timed = pairs[pairs["cpu_s"].notna()]
                rows.append(
                    {
                        "method": method,
                        "choice": choice,
                        "n_clusters": n_clusters,
                        "times_faster": timed["cpu_s"].sum() / timed["cpu_s_ours"].sum()
                        if len(timed)
                        else np.nan,
                        "gain": gains.mean(),
                        "error": gains.std() / np.sqrt(len(gains)) if len(gains) > 1 else np.nan,
                        "n": len(gains),
                        "n_timed": len(timed),
                    }
                )
    columns = ("method", "choice", "n_clusters", "times_faster", "gain", "error", "n", "n_timed")
    table = pd.DataFrame(rows, columns=columns)
    is_equal = table["gain"] >= -_EQUAL * table["error"].fillna(0.0)
    table["is_as_accurate"] = is_equal
    table["holds"] = is_equal & (table["times_faster"] >= TIMES_FASTER)
    return table


def _at_usual_effort(
    frame: pd.DataFrame, method: str, setting: Setting, choice: str
) -> pd.DataFrame:
    rows = trials_of(frame, method, setting, choice)
    rows = rows[rows["effort"] == EFFORTS[method]]
    return rows.set_index(["n_clusters", "trial"])[["cpu_s", *SCORES]]


def authors_table(frame: pd.DataFrame, noise: str) -> pd.DataFrame:
    """Compare with the authors' program: accuracies in %, and standard errors between them.

    Theirs takes the exact revival cost, and so do the rows used here.
    """
    exact = frame[(frame["part"] == COMPARISON) & (frame["revival"] == "exact")]
    tables = []
    for n_clusters, trials in exact.groupby("n_clusters"):
        authors = AUTHORS_MEANS.get((noise, int(n_clusters)))
        if authors is None or len(trials) < 2:
            continue
        ours = 100 * trials[list(SCORES)].to_numpy()
        own_errors, authors_errors = standard_errors(ours)
        columns = {
            "score": SCORES,
            "ours": ours.mean(axis=0),
            "ours_error": own_errors,
            "authors": authors,
            "authors_error": authors_errors,
            "errors_off": standard_errors_off(ours, authors),
        }
        tables.append(pd.DataFrame({"n_clusters": int(n_clusters), **columns}))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def describe_setting(setting: Mapping[str, float]) -> str:
    """Return the values, in the paper's order."""
    return ", ".join(f"{value:g}" for value in setting.values())
