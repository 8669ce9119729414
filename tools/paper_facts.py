"""Numbers told in the sentences of the pages on the paper, from the committed results."""

from collections.abc import Callable

import pandas as pd
from paper_tables import AIRCRAFT, RESULTS, results_of_json

from dynmeans.experiments.aircraft.config import PLAIN, RECIPE, SUGGESTED, WEEK
from dynmeans.experiments.aircraft.table import compare, table_frame
from dynmeans.experiments.results_file import read_results


def most_lost(method: str, *parameters: str, factor: float = 4.0) -> str:
    """Most points of tracking accuracy lost where one parameter is wrong by up to a factor."""
    rows = pd.DataFrame(results_of_json("robustness")["rows"])
    rows = rows[(rows["method"] == method) & rows["parameter"].isin(parameters)]
    right = rows[rows["factor"] == 1].set_index(["noise", "parameter"])["accuracy_global"]
    wrong = rows[rows["factor"].between(1 / factor, factor)]
    wrong = wrong.set_index(["noise", "parameter"])["accuracy_global"]
    return f"{100 * (right.loc[wrong.index] - wrong).max():.0f}"


def aircraft_table(data: str) -> pd.DataFrame:
    """Return means and errors of one results file of the aircraft experiment."""
    return table_frame(read_results(RESULTS / f"{AIRCRAFT[data]}.parquet", "aircraft").frame)


def _rows(table: pd.DataFrame, where: dict[str, object]) -> pd.DataFrame:
    for name, value in where.items():
        table = table[table[name].isin(value if isinstance(value, tuple) else (value,))]
    return table


def accuracies(data: str, *, joined: str = " and ", **where: object) -> str:
    """Accuracies of Dynamic Means in the rows that are asked for, in %."""
    table = aircraft_table(data)
    table = table[table["method"] == "dynamic_means"]
    table = _rows(table, where)
    values = 100 * table["accuracy"]
    if joined == " to ":
        values = pd.Series([values.min(), values.max()])
    return joined.join(f"{value:.0f}" for value in values)


def beside(data: str, column: str, **where: object) -> str:
    """Least and most of a column of the comparison with Dynamic Means."""
    found = _rows(compare(aircraft_table(data)), where)
    digits = 1 if column == "gain" or found[column].max() < 10 else 0
    scale = -100 if column == "gain" else 1
    low, high = sorted((scale * found[column].min(), scale * found[column].max()))
    sign = "+" if column == "gain" else ""
    return f"{low:{sign}.{digits}f} to {high:{sign}.{digits}f}"


_UNTUNED = {"feature": PLAIN, "hours": 0.5, "span": WEEK, "origin": (RECIPE, SUGGESTED)}
_MIXTURE = ("concentration", "survival", "motion_variance")
_BOTH = "new_penalty and revival_penalty"
FACTS: dict[str, Callable[[], str]] = {
    "robust, variational": lambda: most_lost("variational", *_MIXTURE),
    "robust, particle": lambda: most_lost("particle", *_MIXTURE),
    "robust, tau": lambda: most_lost("dynamic_means", "drift"),
    "robust, lambda": lambda: most_lost("dynamic_means", "new_penalty"),
    "robust, Q": lambda: most_lost("dynamic_means", "revival_penalty"),
    "robust, both": lambda: most_lost("dynamic_means", _BOTH),
    "robust, both by 2": lambda: most_lost("dynamic_means", _BOTH, factor=2.0),
    "own GP, shared": lambda: accuracies("real", **_UNTUNED),
    "own GP": lambda: accuracies("real, own GP", **_UNTUNED),
}
