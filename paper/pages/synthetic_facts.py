"""Single numbers of the synthetic experiment, from the committed results.

Arguments are noise, origin of the parameters, method, clusters, choice of the sample and score;
those at the end may be left out.
"""

import pandas as pd

from dynmeans.datasets.moving_gaussians import NOISES
from paper.pages.tables import config_of, settings, speed_tables, synthetic, times
from paper.studies.times import FEW
from paper.synthetic.claims import with_error
from paper.synthetic.summary import (
    Averages,
    by_clusters,
    by_effort,
    trials_of,
)
from paper.synthetic.tasks import HANDICAP, HONEST, PAPER


def tracked(
    noise: str, origin: str, method: str, clusters: str, choice: str = HONEST, score: str = "frozen"
) -> str:
    """Return an accuracy at the usual effort, with its standard error."""
    return _at(
        by_clusters(_trials(noise, origin, method, choice), method, _column(score)), clusters
    )


def worked(
    noise: str, origin: str, method: str, effort: str, choice: str = HONEST, score: str = "frozen"
) -> str:
    """Return an accuracy with 5 clusters by sweeps or restarts, with its standard error."""
    config = config_of(noise)
    trials = _trials(noise, origin, method, choice)
    found = by_effort(trials, config.search_clusters, config.tradeoff_trials, _column(score))
    return _at(found, effort)


def ahead(noise: str, origin: str, method: str, clusters: str, choice: str = HONEST) -> str:
    """Points by which Dynamic Means is ahead on the same streams, with the standard error."""
    rows = speed_tables()
    rows = rows[(rows["noise"] == noise) & (rows["origin"] == origin) & (rows["method"] == method)]
    rows = rows[(rows["choice"] == choice) & (rows["n_clusters"] == int(clusters))]
    return f"{100 * rows['gain'].item():+.1f} ± {100 * rows['error'].item():.1f}"


def leads(noise: str, origin: str, method: str, choice: str = HONEST) -> str:
    """Return the least and the most of these points over all numbers of clusters."""
    rows = speed_tables()
    rows = rows[(rows["noise"] == noise) & (rows["origin"] == origin) & (rows["method"] == method)]
    found = 100 * rows.loc[rows["choice"] == choice, "gain"]
    return f"{found.min():+.1f} to {found.max():+.1f}"


def slower(method: str, origin: str) -> str:
    """Return how many times the time of Dynamic Means an honest sampler takes, least to most."""
    rows = speed_tables().query("method == @method and origin == @origin and choice == @HONEST")
    found = rows["times_faster"].dropna()
    return f"{found.min():.0f} to {found.max():.0f}"


def sweeps_slower(origin: str) -> str:
    """Return how many times the time of Dynamic Means 50 sweeps take, all numbers of clusters."""
    rows = times().query("origin == @origin")
    sums = rows.groupby(["noise", "n_clusters"])[[FEW, "dynamic_means"]].sum()
    found = sums[FEW] / sums["dynamic_means"]
    return f"{found.min():.0f} to {found.max():.0f}"


def step_time(clusters: str) -> str:
    """Return milliseconds of a step of Dynamic Means at the paper's parameters."""
    rows = times()
    rows = rows[(rows["origin"] == PAPER) & (rows["n_clusters"] == int(clusters))]
    return f"{1e3 * rows['dynamic_means'].mean() / config_of(NOISES[0]).n_steps:.2g}"


def behind(method: str, origin: str) -> str:
    """Return in how many cells Dynamic Means is behind a sampler with the handicap."""
    gains = _gains(method, origin)
    return f"{(gains < 0).sum()} of {len(gains)}"


def behind_by(method: str, origin: str) -> str:
    """Return by how many points it is behind there, least to most."""
    found = -_gains(method, origin)
    found = found[found > 0]
    low, high = f"{found.min():.1f}", f"{found.max():.1f}"
    return low if low == high else f"{low} to {high}"


def _gains(method: str, origin: str) -> pd.Series:
    return 100 * _with_handicap(method, origin)["gain"]


def _with_handicap(method: str, origin: str) -> pd.DataFrame:
    rows = speed_tables()
    is_method = (rows["method"] == method) & (rows["origin"] == origin)
    return rows[is_method & (rows["choice"] == HANDICAP)]


FACTS = {
    function.__name__: function
    for function in (
        *(tracked, worked, ahead, leads, slower, sweeps_slower, step_time),
        *(behind, behind_by),
    )
}


def _trials(noise: str, origin: str, method: str, choice: str) -> pd.DataFrame:
    return trials_of(synthetic(noise).frame, method, settings(noise, origin)[method], choice)


def _column(score: str) -> str:
    return f"accuracy_{score.replace(' ', '_')}"


def _at(found: Averages, x: str) -> str:
    i = list(found.x).index(float(x))
    return with_error(found.mean[i], found.error[i])
