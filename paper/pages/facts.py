"""Numbers told in the sentences of the pages on the paper, from the committed results.

A fact is asked for by a name and arguments, as in ``gain, real, week, scaled, 2, tuned,
dp_means``. Arguments of flights are data, span, feature, hours, origin, method and choice; those
at the end may be left out, and ``*`` stands for any.
"""

from functools import cache

import pandas as pd

from paper.aircraft.config import HANDICAP, HONEST
from paper.aircraft.table import compare, table_frame
from paper.pages import size_facts, synthetic_facts
from paper.pages.study_tables import robustness_means, searches
from paper.pages.tables import AIRCRAFT, read_rows
from paper.results_file import RESULTS, read_results
from paper.synthetic.claims import with_error

_COLUMNS = ("span", "feature", "hours", "origin", "method", "choice")


def fact(text: str) -> str:
    """Return the fact of this name and these arguments."""
    name, *arguments = text.split(", ")
    return FACTS[name](*arguments)


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
    """Return how many streams both searches were run on."""
    return str(searches()["trial"].nunique())


def deeper(noise: str, origin: str, clusters: str, score: str = "frozen") -> str:
    """Points that the deeper search gains over Algorithm 2, with the standard error of pairs."""
    rows = searches().query("noise == @noise and origin == @origin and parameter == 'none'")
    rows = rows[rows["n_clusters"] == int(clusters)].set_index("trial")
    column = f"accuracy_{score.replace(' ', '_')}"
    found = {name: group[column] for name, group in rows.groupby("search")}
    gains = 100 * (found["deep"] - found["paper"])
    return f"{gains.mean():+.1f} ± {gains.sem():.1f}"


def vanished(noise: str, vanish: str, max_gap: str) -> str:
    """Return tracking accuracy where clusters are absent in a share of the steps, at one T_Q."""
    rows = read_rows("vanishing").frame
    rows = rows[(rows["noise"] == noise) & (rows["vanish"] == float(vanish))]
    found = rows.loc[rows["max_gap"] == float(max_gap), "accuracy_frozen"]
    return with_error(found.mean(), found.sem())


def _named(parameter: str, rows: pd.DataFrame) -> list[str]:
    return list(rows["parameter"].unique()) if parameter == "*" else [parameter]


def accuracy(data: str, *arguments: str) -> str:
    """Return accuracy and standard error of one row of Table 1."""
    row = _rows(_table(data), arguments).squeeze()
    return with_error(row["accuracy"], row["accuracy_error"])


def accuracies(data: str, *arguments: str) -> str:
    """Return the lowest and the highest accuracy of some rows of Table 1."""
    found = 100 * _rows(_table(data), arguments)["accuracy"]
    return _range(f"{found.min():.0f}", f"{found.max():.0f}")


def gain(data: str, *arguments: str) -> str:
    """Points by which Dynamic Means is ahead of one row of Table 1, with the standard error."""
    row = _rows(compare(_table(data)), arguments).squeeze()
    return f"{100 * row['gain']:+.1f} ± {100 * row['error']:.1f}"


def gains(data: str, *arguments: str) -> str:
    """Return the least and the most of these points over some rows."""
    found = 100 * _rows(compare(_table(data)), arguments)["gain"]
    return _range(f"{found.min():+.1f}", f"{found.max():+.1f}")


def times(data: str, *arguments: str) -> str:
    """Return how many times the time of Dynamic Means some rows take, least to most."""
    found = _rows(compare(_table(data)), arguments)["times_faster"]
    digits = 0 if found.min() >= 10 else 1
    return _range(f"{found.min():.{digits}f}", f"{found.max():.{digits}f}")


def helped(data: str, *arguments: str) -> str:
    """Return by how many points the handicap changes the accuracy of Gibbs sampling."""
    rows = _rows(_table(data), (*arguments, *"****")[:4])
    of_choice = rows[rows["method"] == "gibbs"].set_index(list(_COLUMNS[:4]))
    by = of_choice.groupby("choice")["accuracy"]
    found = 100 * (by.get_group(HANDICAP) - by.get_group(HONEST))
    return _range(f"{found.min():+.1f}", f"{found.max():+.1f}")


def trials(data: str, *arguments: str) -> str:
    """Return how many trials some rows have, least to most."""
    found = _rows(_table(data), arguments)["n_trials"]
    return _range(str(found.min()), str(found.max()))


def flights(data: str, *arguments: str) -> str:
    """Return how many flights were clustered."""
    found = _rows(_table(data), arguments)["n_flights"]
    return _range(f"{found.min():,}", f"{found.max():,}")


FACTS = {
    **synthetic_facts.FACTS,
    **size_facts.FACTS,
    **{
        function.__name__: function
        for function in (
            *(lost, robustness_streams, lost_by_search, search_streams, deeper, vanished),
            *(accuracy, accuracies, gain, gains, times, helped, trials, flights),
        )
    },
}


@cache
def _table(data: str) -> pd.DataFrame:
    return table_frame(read_results(RESULTS / f"{AIRCRAFT[data]}.parquet", "aircraft").frame)


def _rows(table: pd.DataFrame, arguments: tuple[str, ...]) -> pd.DataFrame:
    for column, value in zip(_COLUMNS, arguments, strict=False):
        if value != "*":
            kept = float(value) if column == "hours" else value
            table = table[table[column] == kept]
    assert len(table), f"no rows of {arguments}"
    return table


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
