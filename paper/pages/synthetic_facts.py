"""Numbers of the synthetic experiment told in sentences, from the committed results.

Arguments are noise, origin of the parameters, method, clusters, choice of the sample and score;
those at the end may be left out.
"""

import pandas as pd

from dynmeans.datasets.moving_gaussians import NOISES
from paper.pages.tables import config_of, settings, speed_tables, synthetic
from paper.synthetic.claims import with_error
from paper.synthetic.summary import (
    Averages,
    by_clusters,
    by_effort,
    trials_of,
)
from paper.synthetic.tasks import EFFORTS, HONEST, SEARCH


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


def sweeps_slower(effort: str, origin: str) -> str:
    """Return how many times the time of Dynamic Means so many sweeps of 5 clusters take."""
    found = []
    for noise in NOISES:
        clusters = config_of(noise).search_clusters
        gibbs = _timed(noise, origin, "gibbs", int(effort), clusters)
        ours = _timed(noise, origin, "dynamic_means", EFFORTS["dynamic_means"], clusters)
        found.append(gibbs / ours)
    return f"{min(found):.0f} to {max(found):.0f}"


def step_time(clusters: str) -> str:
    """Return milliseconds of a step of Dynamic Means at the paper's parameters."""
    times = [
        _timed(noise, "paper", "dynamic_means", EFFORTS["dynamic_means"], int(clusters))
        for noise in NOISES
    ]
    return f"{1e3 * sum(times) / len(times) / config_of(NOISES[0]).n_steps:.2g}"


def searched() -> str:
    """Return how many trials the search for Dynamic Means made, both noises together."""
    frames = [synthetic(noise).frame for noise in NOISES]
    n = sum(len(f[(f["part"] == SEARCH) & (f["method"] == "dynamic_means")]) for f in frames)
    return f"{n:,}"


FACTS = {
    function.__name__: function
    for function in (tracked, worked, ahead, leads, slower, sweeps_slower, step_time, searched)
}


def _trials(noise: str, origin: str, method: str, choice: str) -> pd.DataFrame:
    return trials_of(synthetic(noise).frame, method, settings(noise, origin)[method], choice)


def _timed(noise: str, origin: str, method: str, effort: int, clusters: int) -> float:
    trials = _trials(noise, origin, method, HONEST)
    rows = trials[(trials["n_clusters"] == clusters) & (trials["effort"] == effort)]
    return float(rows["cpu_s"].mean())


def _column(score: str) -> str:
    return f"accuracy_{score.replace(' ', '_')}"


def _at(found: Averages, x: str) -> str:
    i = list(found.x).index(float(x))
    return with_error(found.mean[i], found.error[i])
