"""Single numbers on the pages on the paper, from the committed results.

A fact is asked for by a name and arguments, as in ``gain, real, week, scaled, 2, tuned,
dp_means``. Arguments of flights are data, span, feature, hours, origin, method and choice; those
at the end may be left out, and ``*`` stands for any.
"""

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.pages.results import number
from paper.aircraft.config import FEATURES, HANDICAP, HONEST, ORIGINS
from paper.aircraft.table import compare, full_name
from paper.pages import size_facts, synthetic_facts
from paper.pages.study_tables import results_of_json, robustness_means, searches
from paper.pages.tables import AIRCRAFT, read_rows, table_1
from paper.results_file import RESULTS, read_results
from paper.synthetic.claims import with_error

_COLUMNS = ("span", "feature", "hours", "origin", "method", "choice")


def lost(method: str, parameter: str, factor: str) -> str:
    """Most points of tracking accuracy lost where a parameter is wrong by up to a factor."""
    rows = robustness_means()
    rows = rows[(rows["method"] == method) & (rows["parameter"].isin(_named(parameter, rows)))]
    right = rows[rows["factor"] == 1].set_index(["noise", "parameter"])["accuracy"]
    wrong = rows[rows["factor"].between(1 / float(factor), float(factor))]
    wrong = wrong.set_index(["noise", "parameter"])["accuracy"]
    return f"{100 * (right.loc[wrong.index] - wrong).max():.0f}"


def robustness_streams() -> str:
    """Return how many streams robustness was measured on."""
    found = robustness_means()["n_streams"]
    return _range(str(found.min()), str(found.max()))


def lost_by_search(search: str, parameter: str, factor: str) -> str:
    """Most points that a search loses where a parameter is wrong by exactly this factor."""
    rows = searches().query("origin == 'found' and n_clusters == 5 and search == @search")
    right = rows[rows["parameter"] == "none"].groupby("noise")["accuracy_frozen"].mean()
    wrong = rows[(rows["parameter"] == parameter) & (rows["factor"] == float(factor))]
    found = 100 * (right - wrong.groupby("noise")["accuracy_frozen"].mean())
    return f"{found.max():.0f}"


def search_streams() -> str:
    """Return how many streams the searches were run on."""
    return str(searches()["trial"].nunique())


def deeper(
    noise: str, origin: str, clusters: str, score: str = "frozen", search: str = "deep"
) -> str:
    """Points that a search gains over Algorithm 2, with the standard error of pairs."""
    rows = searches().query("noise == @noise and origin == @origin and parameter == 'none'")
    rows = rows[rows["n_clusters"] == int(clusters)].set_index("trial")
    column = f"accuracy_{score.replace(' ', '_')}"
    found = {name: group[column] for name, group in rows.groupby("search")}
    gains = 100 * (found[search] - found["paper"])
    return f"{gains.mean():+.1f} ± {gains.sem():.1f}"


def _named(parameter: str, rows: pd.DataFrame) -> list[str]:
    return list(rows["parameter"].unique()) if parameter == "*" else [parameter]


def accuracy(data: str, *arguments: str) -> str:
    """Return accuracy and standard error of one row of Table 1."""
    row = _rows(table_1(data), arguments).squeeze()
    return with_error(row["accuracy"], row["accuracy_error"])


def accuracies(data: str, *arguments: str) -> str:
    """Return the lowest and the highest accuracy of some rows of Table 1."""
    found = 100 * _rows(table_1(data), arguments)["accuracy"]
    return _range(f"{found.min():.0f}", f"{found.max():.0f}")


def gain(data: str, *arguments: str) -> str:
    """Points by which Dynamic Means is ahead of one row of Table 1, with the error over trials.

    The second error is over flights: the deviation of the difference in the same draws of them.
    """
    row = _rows(compare(table_1(data)), arguments).squeeze()
    other = _rows(table_1(data), arguments if row["method"] == "gibbs" else _at_once(arguments))
    ours = _rows(table_1(data), (*arguments[:4], "dynamic_means"))
    differences = np.subtract(ours["drawn"].item(), other["drawn"].item())
    flights = 100 * float(np.std(differences, ddof=1))
    return f"{100 * row['gain']:+.1f} ± {100 * row['error']:.1f} ± {flights:.1f}"


def _at_once(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments of the row of DP-Means, which has all flights in one batch."""
    return (*arguments[:2], "0", *arguments[3:])


def remembered(memory: str, feature: str, span: str, hours: str) -> str:
    """Return accuracy at the suggestion, its memory left open or stated."""
    rows = _suggestions(memory, feature)
    found = rows.loc[(rows["span"] == span) & (rows["hours"] == float(hours)), "accuracy"]
    return with_error(found.mean(), found.sem())


def suggested(memory: str, feature: str, column: str) -> str:
    """Return what the suggestion chose: new_penalty, days or reach_of_a_day."""
    return f"{_suggestions(memory, feature)[column].iloc[0]:.4g}"


def _suggestions(memory: str, feature: str) -> pd.DataFrame:
    rows = read_rows("suggested_memory").frame
    return rows[(rows["memory"] == memory) & (rows["feature"] == feature)]


def table_1_missing(data: str) -> str:
    """Return a sentence on the rows of Table 1 that have no trial yet."""
    table = table_1(data)
    spans, hours = table["span"].unique(), sorted(set(table["hours"]) - {0.0})
    kinds = [(0.0, "dp_means", HONEST), *((h, "dynamic_means", HONEST) for h in hours)]
    kinds += [(h, "gibbs", choice) for h in hours for choice in (HONEST, HANDICAP)]
    wanted = [
        (span, feature, h, origin, method, choice)
        for span, feature, origin in product(spans, FEATURES, ORIGINS)
        for h, method, choice in kinds
    ]
    there = set(table[list(_COLUMNS)].itertuples(index=False, name=None))
    missing = [row for row in wanted if row not in there]
    if not missing:
        return f"All {len(wanted)} rows are there."
    places = Counter((full_name(row[4], row[5]), row[0], row[1], row[2]) for row in missing)
    named = [
        f"{who}, {span}, {feature}, {h:g} h ({n})" for (who, span, feature, h), n in places.items()
    ]
    return f"Missing are {len(missing)} of {len(wanted)} rows: {'; '.join(named)}."


def measured(file: str, place: str, form: str, factor: str = "1") -> str:
    """Return one number of a committed JSON file, in a format, times a factor."""
    return number(results_of_json(file), place, form, factor)


def windows_apart(data: str) -> str:
    """Return by how many points Dynamic Means differs most between half-hours and two hours."""
    rows = _rows(table_1(data), ("*", "*", "*", "*", "dynamic_means"))
    found = rows.pivot_table("accuracy", ["span", "feature", "origin"], "hours").dropna()
    return f"{100 * (found[0.5] - found[2.0]).abs().max():.1f}"


def gains(data: str, *arguments: str) -> str:
    """Return the least and the most of these points over some rows."""
    found = 100 * _rows(compare(table_1(data)), arguments)["gain"]
    return _range(f"{found.min():+.1f}", f"{found.max():+.1f}")


def times(data: str, *arguments: str) -> str:
    """Return how many times the time of Dynamic Means some rows take, least to most."""
    found = _rows(compare(table_1(data)), arguments)["times_faster"]
    digits = 0 if found.min() >= 10 else 1
    return _range(f"{found.min():.{digits}f}", f"{found.max():.{digits}f}")


def helped(data: str, *arguments: str) -> str:
    """Return by how many points the handicap changes the accuracy of Gibbs sampling."""
    rows = _rows(table_1(data), (*arguments, *"****")[:4])
    of_choice = rows[rows["method"] == "gibbs"].set_index(list(_COLUMNS[:4]))
    by = of_choice.groupby("choice")["accuracy"]
    found = 100 * (by.get_group(HANDICAP) - by.get_group(HONEST))
    return _range(f"{found.min():+.1f}", f"{found.max():+.1f}")


def trials(data: str, *arguments: str) -> str:
    """Return how many trials some rows have, least to most."""
    found = _rows(table_1(data), arguments)["n_trials"]
    return _range(str(found.min()), str(found.max()))


def flights(data: str, *arguments: str) -> str:
    """Return how many flights were clustered."""
    found = _rows(table_1(data), arguments)["n_flights"]
    return _range(f"{found.min():,}", f"{found.max():,}")


def scored(data: str, *arguments: str) -> str:
    """Return how many labels were scored."""
    found = _rows(table_1(data), arguments)["n_scored"]
    return _range(f"{found.min():,}", f"{found.max():,}")


def own_variance() -> str:
    """Return how many times as large the plain feature's variance is with GPs of their own."""
    place = ("week", "plain", "0.5", "recipe", "dynamic_means")
    own, shared = (
        _rows(read_results(RESULTS / f"{AIRCRAFT[data]}.parquet", "aircraft").frame, place)
        for data in ("own GP", "real")
    )
    # The recipe's lambda is a share of the variance.
    return f"{own['new_penalty'].iloc[0] / shared['new_penalty'].iloc[0]:.0f}"


FACTS = {
    **synthetic_facts.FACTS,
    **size_facts.FACTS,
    **{
        function.__name__: function
        for function in (
            *(lost, robustness_streams, lost_by_search, search_streams, deeper),
            *(accuracy, accuracies, gain, gains, times, helped, trials, flights, scored),
            *(windows_apart, own_variance, table_1_missing),
            *(remembered, suggested, measured),
        )
    },
}


def _rows(table: pd.DataFrame, arguments: tuple[str, ...]) -> pd.DataFrame:
    for column, value in zip(_COLUMNS, arguments, strict=False):
        if value != "*":
            kept = float(value) if column == "hours" else value
            table = table[table[column] == kept]
    assert len(table), f"no rows of {arguments}"
    return table


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
