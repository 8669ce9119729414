"""Tables of the studies beside the two experiments, from the committed results."""

import json
from typing import Any

import pandas as pd

from dynmeans.datasets.moving_gaussians import NOISES
from paper.pages.tables import markdown, read_rows, settings, synthetic
from paper.results_file import RESULTS
from paper.studies import handicap_search as handicap_study
from paper.synthetic.claims import NAMES, ORIGINS, with_error
from paper.synthetic.config import PAPER_MIXTURE
from paper.synthetic.summary import describe_setting, trials_of
from paper.synthetic.tasks import COMPARISON, EFFORTS, FOUND, PAPER

_SEARCHES = {"paper": "Algorithm 2", "split": "then splits", "deep": "deeper"}

SYMBOLS = {
    "new_penalty": "lambda",
    "max_gap": "T_Q",
    "reach": "k_tau",
    "concentration": "alpha",
    "survival": "q",
    "motion_variance": "xi",
}


def robustness_means() -> pd.DataFrame:
    """Return tracking accuracy by noise, method, parameter and factor, over the same streams."""
    rows = read_rows("robustness").frame
    kinds = rows.groupby(["noise", "trial"]).size()
    is_whole = kinds[kinds == kinds.max()].index  # streams that all kinds have been run on
    rows = rows.set_index(["noise", "trial"]).loc[is_whole].reset_index()
    found = rows.groupby(["noise", "method", "parameter", "factor"], sort=False)
    means = found["accuracy_frozen"].agg(accuracy="mean", error="sem", n_streams="size")
    return means.reset_index()


def robustness() -> str:
    """Tracking accuracy where one parameter is wrong by a factor."""
    rows = robustness_means()
    factors = sorted(rows["factor"].unique())
    lines = []
    for key, group in rows.groupby(["noise", "method", "parameter"], sort=False):
        noise, method, parameter = map(str, key)
        found = group.set_index("factor")
        cells = [with_error(found.loc[f, "accuracy"], found.loc[f, "error"]) for f in factors]
        lines.append([noise, NAMES[method], SYMBOLS[parameter], *cells])
    head = ["noise", "method", "parameter", *(f"x {f:g}" for f in factors)]
    return markdown(head, lines)


_GIVEN = {"told": "given", "not told": "not given"}  # by the words of the results file


def evolutionary() -> str:
    """Evolutionary clustering compared with Dynamic Means."""
    lines = []
    for row in results_of_json("evolutionary")["rows"]:
        cells = [
            with_error(row[score], row[f"{score}_error"])
            for score in ("accuracy_frozen", "accuracy_global", "accuracy_per_step")
        ]
        lines.append(
            [row["noise"], row["method"], _GIVEN[row["n_clusters"]], *cells, str(row["n_streams"])]
        )
    return markdown(["noise", "method", "K", "frozen", "global", "per step", "streams"], lines)


def limit_means() -> pd.DataFrame:
    """Return the share of points labeled alike by sigma, the largest first."""
    found = read_rows("low_variance_limit").frame.groupby("noise_variance")["agreement"]
    return found.agg(agreement="mean", error="sem").sort_index(ascending=False).reset_index()


def low_variance_limit() -> str:
    """Agreement of Gibbs sampling and Dynamic Means against sigma."""
    rows = limit_means()
    cells = [with_error(row.agreement, row.error) for row in rows.itertuples()]
    head = ["sigma", *(f"{sigma:g}" for sigma in rows["noise_variance"])]
    return markdown(head, [["labeled alike", *cells]])


def vanishing() -> str:
    """Tracking accuracy by T_Q, where clusters always show and where they vanish and return."""
    rows = read_rows("vanishing").frame
    gaps = sorted(rows["max_gap"].unique())
    lines = []
    for (noise, vanish), group in rows.groupby(["noise", "vanish"]):
        found = group.groupby("max_gap")["accuracy_frozen"].agg(["mean", "sem"])
        cells = [with_error(*found.loc[gap]) for gap in gaps]
        lines.append([str(noise), f"{100 * vanish:.0f} %", *cells])
    return markdown(["noise", "absent", *(f"T_Q = {gap:g}" for gap in gaps)], lines)


def searches() -> pd.DataFrame:
    """Return the rows of all searches, on the streams that all kinds have been run on."""
    rows = read_rows("searches").frame
    counts = rows.groupby("trial").size()
    return rows[rows["trial"].isin(counts[counts == counts.max()].index)]


def by_search() -> str:
    """Algorithm 2 beside the searches that go on, with every number of clusters."""
    rows = searches().query("parameter == 'none'")
    clusters = sorted(rows["n_clusters"].unique())
    lines = []
    for (noise, origin, search), group in rows.groupby(["noise", "origin", "search"]):
        found = group.groupby("n_clusters")["accuracy_frozen"].agg(["mean", "sem"])
        cells = [with_error(*found.loc[k]) for k in clusters]
        name = "the paper's parameters" if origin == PAPER else ORIGINS[str(origin)]
        lines.append([str(noise), name, _SEARCHES[str(search)], *cells])
    return markdown(["noise", "parameters", "search", *(f"K = {k}" for k in clusters)], lines)


def robust_searches() -> str:
    """All searches where one parameter is wrong by a factor, five clusters."""
    rows = searches()
    rows = rows[(rows["origin"] == FOUND) & (rows["n_clusters"] == 5)]
    lines = []
    factors = sorted(rows["factor"].unique())
    for parameter in [name for name in SYMBOLS if name in set(rows["parameter"])]:
        chosen = rows[rows["parameter"].isin([parameter, "none"])]
        for (noise, search), group in chosen.groupby(["noise", "search"]):
            found = group.groupby("factor")["accuracy_frozen"].agg(["mean", "sem"])
            cells = [with_error(*found.loc[f]) for f in factors]
            lines.append([str(noise), SYMBOLS[parameter], _SEARCHES[str(search)], *cells])
    return markdown(["noise", "parameter", "search", *(f"x {f:g}" for f in factors)], lines)


def searched_with_handicap() -> pd.DataFrame:
    """Return the samplers at the settings found with the handicap, with it, beside Dynamic Means.

    `gain` is tracking accuracy of Dynamic Means, at the parameters found, less that of the sampler
    on the same streams.
    """
    frame = read_rows("handicap_search").frame
    tables = []
    for noise in NOISES:
        ours = trials_of(
            synthetic(noise).frame, "dynamic_means", settings(noise, FOUND)["dynamic_means"]
        )
        ours = ours[ours["effort"] == EFFORTS["dynamic_means"]]
        theirs = frame[(frame["noise"] == noise) & (frame["part"] == COMPARISON)]
        place = ["n_clusters", "trial"]
        both = theirs.merge(ours[[*place, "accuracy_frozen"]], on=place, suffixes=("", "_ours"))
        tables.append(both.assign(gain=both["accuracy_frozen_ours"] - both["accuracy_frozen"]))
    return pd.concat(tables, ignore_index=True)


def handicap_search() -> str:
    """Settings found with the handicap, how they track, and how far Dynamic Means is ahead."""
    rows, lines = searched_with_handicap(), []
    for (noise, method), group in rows.groupby(["noise", "method"], sort=False):
        found = group.groupby("n_clusters")[["accuracy_frozen", "gain"]].agg(["mean", "sem"])
        cells = [
            f"{with_error(*found.loc[k, 'accuracy_frozen'])}; "
            f"{100 * found.loc[k, 'gain']['mean']:+.1f} ± {100 * found.loc[k, 'gain']['sem']:.1f}"
            if k in found.index
            else ""
            for k in handicap_study.N_CLUSTERS
        ]
        setting = describe_setting(group.iloc[0][list(PAPER_MIXTURE)].to_dict())
        lines.append([str(noise), NAMES[str(method)], setting, *cells])
    head = ["noise", "method", "alpha, q, xi"]
    return markdown([*head, *(f"K = {k}" for k in handicap_study.N_CLUSTERS)], lines)


def mixing() -> str:
    """Effective samples and agreement of four chains, medians over batches and streams."""
    rows = read_rows("mixing").frame
    lines = []
    for (noise, origin), group in rows.groupby(["noise", "origin"]):
        means = group[["r_hat", "r_hat_high", "effective", "best_apart"]].mean()
        lines.append(
            [
                *(str(noise), ORIGINS[str(origin)], f"{means['effective']:.0f}"),
                *(f"{means['r_hat']:.3f}", f"{100 * means['r_hat_high']:.0f} %"),
                *(f"{100 * means['best_apart']:.0f} %", str(len(group))),
            ]
        )
    head = ["noise", "parameters", "effective of 2,000", "R-hat", "batches above 1.1"]
    return markdown([*head, "best samples differ", "streams"], lines)


def carried_cloud() -> str:
    """The cloud that is carried through time beside one particle carried from batch to batch."""
    rows = read_rows("carried_cloud").frame
    lines = []
    for noise, group in rows.groupby("noise"):
        scores = [f"accuracy_{name}" for name in ("frozen", "global", "per_step")]
        cells = [with_error(group[score].mean(), group[score].sem()) for score in scores]
        lines.append([str(noise), *cells, str(len(group))])
    return markdown(["noise", "frozen", "global", "per step", "streams"], lines)


def results_of_json(name: str) -> dict[str, Any]:
    """Return a committed file of results."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return found


_MAKERS = {
    "searches": by_search,
    "searches, robustness": robust_searches,
    "robustness": robustness,
    "handicap search": handicap_search,
    "evolutionary": evolutionary,
    "low-variance limit": low_variance_limit,
    "vanishing": vanishing,
    "mixing": mixing,
    "carried cloud": carried_cloud,
}


def tables() -> dict[str, str]:
    """Return every table by its name."""
    return {name: make() for name, make in _MAKERS.items()}
