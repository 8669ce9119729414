"""Tables of the page on the paper, from the committed results: one function a table."""

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pandas as pd

from dynmeans.datasets.moving_gaussians import NOISES
from paper.aircraft.config import PLAIN, SCALED, WEEK, WHOLE
from paper.aircraft.table import full_name as name_of_method
from paper.aircraft.table import shown, table_frame, table_markdown
from paper.results_file import RESULTS, SESSION, Results, read_results
from paper.status import percent, shares
from paper.studies.first_trials import ROW
from paper.studies.times import FEW, FEW_SWEEPS
from paper.synthetic.claims import NAMES, ORIGINS, full_name, with_error
from paper.synthetic.config import SAMPLERS, Setting, SyntheticConfig
from paper.synthetic.search import edges
from paper.synthetic.summary import (
    authors_table,
    by_clusters,
    describe_setting,
    settings_of,
    speed_table,
    trials_of,
)
from paper.synthetic.tasks import DEVIATION, EFFORTS, FOUND, HANDICAP, HONEST

_SHOWN = ("frozen", "global", "per_step")
_WORTH = ("accuracy_per_step", "accuracy_global")

AIRCRAFT = {
    "real": "aircraft-real",
    "own GP": "aircraft-real-own-gp",
    "simulated": "aircraft-simulated",
}


@cache
def synthetic(noise: str) -> Results:
    """Return the committed results of one noise."""
    return read_results(RESULTS / f"synthetic-{noise}-full.parquet", "synthetic")


def config_of(noise: str) -> SyntheticConfig:
    """Return what those results are of."""
    return SyntheticConfig.from_dict(synthetic(noise).configuration)


@cache
def settings(noise: str, origin: str) -> dict[str, Setting]:
    """Return the setting of every method: the paper's, or the one found."""
    return settings_of(config_of(noise), synthetic(noise).frame, origin)


def accuracy_by_clusters() -> str:
    """Figure 1d: tracking accuracy against the number of clusters, for every origin."""
    parts = []
    for noise in NOISES:
        head = ["parameters", "method", *(f"K = {k}" for k in config_of(noise).n_clusters)]
        rows = [
            [name, *cells]
            for origin, name in ORIGINS.items()
            for cells in _accuracy_rows(noise, origin)
        ]
        parts.append(f"**{noise.capitalize()} noise**\n\n" + markdown(head, rows))
    return "\n\n".join(parts)


def _accuracy_rows(noise: str, origin: str) -> Iterator[list[str]]:
    config = config_of(noise)
    for method, setting in settings(noise, origin).items():
        for choice in (HONEST, HANDICAP):
            trials = trials_of(synthetic(noise).frame, method, setting, choice)
            found = by_clusters(trials, method, config.score)
            if not len(found.x):
                continue
            cells = {
                int(k): f"{with_error(mean, error)} ({n})"
                for k, mean, error, n in zip(found.x, found.mean, found.error, found.n, strict=True)
            }
            yield [full_name(method, choice), *(cells.get(k, "") for k in config.n_clusters)]


@cache
def read_rows(name: str) -> Results:
    """Return the committed rows of a study."""
    return read_results(RESULTS / f"{name}.parquet", name)


def times() -> pd.DataFrame:
    """Return the times of all methods, taken in turns in one process."""
    return read_rows("times").frame


@cache
def speed_tables() -> pd.DataFrame:
    """Return how Dynamic Means compares with each sampler, for both noises and every origin.

    Times are of the streams that all methods clustered in turns, accuracies of all streams.
    """
    tables = []
    for noise in NOISES:
        frame, score = synthetic(noise).frame, config_of(noise).score
        for origin in ORIGINS:
            table = speed_table(frame, settings(noise, origin), score)
            tables.append(table.assign(noise=noise, origin=origin))
    table = pd.concat(tables, ignore_index=True)
    return table.drop(columns=["times_faster", "n_timed"]).merge(_ratios(), how="left")


def _ratios() -> pd.DataFrame:
    """Return how many times the time of Dynamic Means an honest sampler takes, in all its turns."""
    place = ["noise", "origin", "n_clusters"]
    sums = times().groupby(place)[["dynamic_means", *SAMPLERS]].sum()
    counts = times().groupby(place).size()
    parts = [
        pd.DataFrame({"times_faster": sums[method] / sums["dynamic_means"], "n_timed": counts})
        .reset_index()
        .assign(method=method, choice=HONEST)
        for method in SAMPLERS
    ]
    return pd.concat(parts, ignore_index=True)


def times_faster() -> str:
    """Figure 1e: how many times faster Dynamic Means is, and what it gains or loses."""
    rows = []
    for row in speed_tables().itertuples():
        gain = f"{100 * row.gain:+.1f}"
        gain += "" if pd.isna(row.error) else f" ± {100 * row.error:.1f}"
        ratio = "" if pd.isna(row.times_faster) else f"{row.times_faster:.0f}"
        place = [row.noise, ORIGINS[row.origin], full_name(row.method, row.choice)]
        timed = "" if pd.isna(row.n_timed) else f"{row.n_timed:.0f}"
        rows.append([*place, str(row.n_clusters), ratio, timed, gain, str(row.n)])
    head = ["noise", "parameters", "method", "K", "times faster", "streams timed"]
    return markdown([*head, "points gained", "streams"], rows)


def range_of_times() -> str:
    """How many times faster Dynamic Means is, least to most of all numbers of clusters."""
    honest = speed_tables().query("choice == @HONEST")
    is_found = honest["origin"] == FOUND
    rows = []
    for method, group in honest.groupby("method", sort=False):
        spans = [_span(group[is_found[group.index] == found]) for found in (False, True)]
        rows.append([NAMES[str(method)], *spans])
    return markdown(["method", "at the paper's parameters", "at the parameters found"], rows)


def five_clusters() -> str:
    """All accuracies with the clusters of the search, for every origin and both noises."""
    rows = []
    for origin, name in ORIGINS.items():
        cells: dict[str, list[str]] = {}
        for noise in NOISES:
            n_clusters = config_of(noise).search_clusters
            for method, setting in settings(noise, origin).items():
                for choice in (HONEST, HANDICAP):
                    trials = trials_of(synthetic(noise).frame, method, setting, choice)
                    trials = trials[trials["n_clusters"] == n_clusters]
                    found = [by_clusters(trials, method, f"accuracy_{s}") for s in _SHOWN]
                    if len(found[0].x):
                        shown = [with_error(f.mean[0], f.error[0]) for f in found]
                        cells.setdefault(full_name(method, choice), []).extend(shown)
        rows += [[name, method, *shown] for method, shown in cells.items()]
    scores = [f"{noise}, {s.replace('_', ' ')}" for noise in NOISES for s in _SHOWN]
    return markdown(["parameters", "method", *scores], rows)


def worth_its_cost() -> str:
    """Accuracy and time of each method where the samplers know noise and motion."""
    noise, ks = NOISES[0], (5, 20)
    taken = times().query("noise == @noise and origin == @DEVIATION")
    taken = taken.groupby("n_clusters").mean(numeric_only=True)
    names = {method: (NAMES[method], EFFORTS[method], method) for method in EFFORTS}
    names["gibbs"] = (f"Gibbs, {EFFORTS['gibbs']:,} sweeps", EFFORTS["gibbs"], "gibbs")
    names[FEW] = (f"Gibbs, {FEW_SWEEPS} sweeps", FEW_SWEEPS, "gibbs")
    rows = []
    for column, (name, effort, method) in names.items():
        found = trials_of(synthetic(noise).frame, method, settings(noise, DEVIATION)[method])
        means = found[found["effort"] == effort].groupby("n_clusters")[list(_WORTH)].mean()
        rows.append([name])
        for k in ks:
            ms = 1e3 * taken.loc[k, column] / config_of(noise).n_steps
            shares = [f"{100 * means.loc[k, s]:.0f}" if k in means.index else "" for s in _WORTH]
            rows[-1] += [*shares, f"{ms:.2g}"]
    shown = ("per step, %", "with IDs, %", "ms")
    return markdown(["", *(f"K = {k}, {name}" for k in ks for name in shown)], rows)


def _span(table: pd.DataFrame) -> str:
    ratios = table["times_faster"]
    return f"{ratios.min():.0f} to {ratios.max():.0f}"


def settings_found() -> str:
    """The settings that the search found, and which of them lie at the edge of their grid."""
    rows = []
    for noise in NOISES:
        best = settings(noise, FOUND)
        at_edge = set(edges(config_of(noise), best))
        for method, setting in best.items():
            named = ", ".join(name for name in setting if (method, name) in at_edge) or "none"
            values = f"{', '.join(setting)} = {describe_setting(setting)}"
            rows.append([noise, NAMES[method], values, named])
    return markdown(["noise", "method", "found", "at the edge of the grid"], rows)


def beside_authors() -> str:
    """Our means beside those of the authors' program, in standard errors."""
    rows = []
    for noise in NOISES:
        for row in authors_table(synthetic(noise).frame, noise).itertuples():
            score = row.score.removeprefix("accuracy_").replace("_", " ")
            ours = f"{row.ours:.1f} ± {row.ours_error:.1f}"
            authors = f"{row.authors:.1f} ± {row.authors_error:.1f}"
            numbers = [ours, authors, f"{row.errors_off:+.1f}"]
            rows.append([noise, str(row.n_clusters), score, *numbers])
    return markdown(["noise", "K", "accuracy", "ours, %", "authors, %", "errors off"], rows)


def how_far() -> str:
    """How much of the work of every results file is done."""
    rows = [[f"`{name}`", f"{n_rows:,}", percent(share)] for name, n_rows, share in shares()]
    return markdown(["file", "rows", "of its work"], rows)


@cache
def table_1(data: str) -> pd.DataFrame:
    """Return Table 1 of some flights, with errors over flights and times in turns where there are.

    `drawn` has the accuracies of the bootstrap, in the same draws for all rows of a span.
    """
    table = table_frame(read_results(RESULTS / f"{AIRCRAFT[data]}.parquet", "aircraft").frame)
    again = read_rows("first_trials").frame
    again = again[again["data"] == data]
    if again.empty:
        return table
    again = again.drop(columns=["data", "accuracy", SESSION])
    again["flight_error"] = [float(np.std(drawn, ddof=1)) for drawn in again["drawn"]]
    return table.drop(columns=["cpu_s"]).merge(again, how="left", on=list(ROW))


def flights(data: str, span: str, feature: str) -> Callable[[], str]:
    """Return what makes the table of one span and feature, with all its windows."""

    def make() -> str:
        table = table_1(data)
        return table_markdown(table[(table["span"] == span) & (table["feature"] == feature)])

    return make


def aircraft() -> str:
    """Table 1 in the paper's form: plain feature, half-hour windows; the scaled one beside it."""
    lines = []
    for name in AIRCRAFT:
        table = table_1(name)
        for row in table[table["hours"].isin([0.0, 0.5])].itertuples():
            method = name_of_method(row.method, row.choice)
            accuracy = with_error(row.accuracy, row.accuracy_error)
            error = shown(100 * row.flight_error, ".1f") if "flight_error" in table else ""
            place = [name, row.span, row.feature, row.origin]
            numbers = [accuracy, error, shown(row.cpu_s, ".3g"), str(row.n_trials)]
            lines.append([*place, method, *numbers])
    head = ["data", "span", "feature", "parameters", "method", "accuracy, %", "± flights"]
    return markdown([*head, "time, s", "trials"], lines)


_MAKERS: dict[str, Callable[[], str]] = {
    "accuracy by clusters": accuracy_by_clusters,
    "five clusters": five_clusters,
    "times faster": times_faster,
    "range of times": range_of_times,
    "worth its cost": worth_its_cost,
    "settings found": settings_found,
    "beside the authors": beside_authors,
    "how far": how_far,
    "aircraft": aircraft,
    "real week, scaled": flights("real", WEEK, SCALED),
    "real week, plain": flights("real", WEEK, PLAIN),
    "real month, scaled": flights("real", WHOLE, SCALED),
    "real month, plain": flights("real", WHOLE, PLAIN),
    "simulated week, scaled": flights("simulated", WHOLE, SCALED),
    "simulated week, plain": flights("simulated", WHOLE, PLAIN),
}


def tables() -> dict[str, str]:
    """Return every table by its name."""
    return {name: make() for name, make in _MAKERS.items()}


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
